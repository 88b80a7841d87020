"""Private keys: making a pair, reading one, signing with it.

Owns the private file (PKCS #8 in PEM, mode 0600, no passphrase) and the one call that signs. Must never write a key
that others can read, take one that others can read, or show any of it in an error.

Source: RFC 8410 section 7 for the form of an ed25519 key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from oyer.errors import UsageError
from oyer.evidence import Signed, keyid_of, signed_bytes
from oyer.host.secrets_file import read_private_bytes
from oyer.store import encode_public_key

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner

__all__ = ["KeyPair", "SigningKey", "make_key_pair", "read_signing_key"]

_INSTALL = "pip install 'securesystemslib[crypto]'"


class KeyPair(NamedTuple):
    """Where a new pair was written, and the id of its public half."""

    private: Path
    public: Path
    keyid: str


class SigningKey:
    """An ed25519 private key in memory."""

    __slots__ = ("_signer", "keyid")

    def __init__(self, signer: CryptoSigner) -> None:
        self._signer = signer
        self.keyid = keyid_of(_public_bytes(signer))

    def sign(self, payload: bytes) -> Signed:
        """Sign the payload of an envelope."""
        made = self._signer.sign(signed_bytes(payload))
        return Signed(payload, self.keyid, bytes.fromhex(made.signature))


def make_key_pair(place: Path) -> KeyPair:
    """Write a new pair: `place`.key, which only its owner can read, and `place`.pub beside it.

    Raises: UsageError `E-OUT-EXISTS`, `E-KEY-FILE`, `E-SIGN-LIBRARY`.
    """
    private, public = (place.with_name(f"{place.name}.{ending}") for ending in ("key", "pub"))
    for path in (private, public):
        if os.path.lexists(path):
            raise UsageError("E-OUT-EXISTS", "something is there already", where=str(path), hint="name another place")
    signer = _signer_type().generate_ed25519()
    raw = _public_bytes(signer)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _write_new(private, signer.private_bytes, 0o600)
        _write_new(public, encode_public_key(raw), 0o644)
    except OSError as error:
        raise UsageError("E-KEY-FILE", f"cannot write: {error.strerror or error}", where=str(place)) from error
    return KeyPair(private, public, keyid_of(raw))


def read_signing_key(path: Path) -> SigningKey:
    """Read a private key from a file that only its owner can read.

    Raises: UsageError `E-SECRET-*`, `E-KEY-FILE`, `E-SIGN-LIBRARY`.
    """
    pem = read_private_bytes(path)
    signer_type = _signer_type()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        private = load_pem_private_key(pem, password=None)
    except (TypeError, ValueError) as error:
        told = "not a private key in PEM without a passphrase"
        raise UsageError("E-KEY-FILE", told, where=str(path), hint="make one: oyer keygen") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise UsageError("E-KEY-FILE", "not an ed25519 key", where=str(path), hint="make one: oyer keygen")
    return SigningKey(signer_type(private))


def _signer_type() -> type[CryptoSigner]:
    """Load the signing library. Raises: UsageError."""
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401, PLC0415 - an extra
        from securesystemslib.signer import CryptoSigner  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("E-SIGN-LIBRARY", "nothing can be signed here: a library is missing", hint=_INSTALL) from error
    return CryptoSigner


def _public_bytes(signer: CryptoSigner) -> bytes:
    return bytes.fromhex(signer.public_key.keyval["public"])


def _write_new(path: Path, data: bytes, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
