"""Public keys: reading one from its file, and asking whether it made a signature.

Owns the file form (SubjectPublicKeyInfo in PEM, as `openssl pkey -pubout` writes it) and the one call into the signing
library. Must never hold a private key; without the library it says so, and never that a signature holds.

Source: RFC 8410 section 4 for the form of an ed25519 key.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path

from oyer.errors import Blocked, UsageError
from oyer.evidence import KEY_BYTES, Signed, keyid_of, signed_bytes

__all__ = ["PublicKey", "encode_public_key", "read_public_key"]

_PEM = re.compile(rb"\A\s*-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)\s+-----END PUBLIC KEY-----\s*\Z", re.ASCII)
_SPKI = bytes.fromhex("302a300506032b6570032100")
_MAX_BYTES = 16 * 1024


class PublicKey:
    """One ed25519 public key. `name` is where it came from, `keyid` the sha256 of its 32 bytes."""

    __slots__ = ("_raw", "keyid", "name")

    def __init__(self, raw: bytes, name: str) -> None:
        if len(raw) != KEY_BYTES:
            raise ValueError(f"an ed25519 public key has {KEY_BYTES} bytes")
        self._raw = raw
        self.keyid = keyid_of(raw)
        self.name = name

    def verifies(self, signed: Signed) -> bool:
        """Whether this key made the signature. Raises: Blocked `E-SIGN-LIBRARY` where that cannot be computed."""
        try:
            from securesystemslib.exceptions import UnverifiedSignatureError  # noqa: PLC0415 - once, where it is needed
            from securesystemslib.signer import Signature, SSlibKey  # noqa: PLC0415
        except ImportError as error:
            raise Blocked(
                "E-SIGN-LIBRARY",
                "signatures cannot be checked here: securesystemslib is not installed",
                hint="pip install securesystemslib",
            ) from error
        key = SSlibKey(self.keyid, "ed25519", "ed25519", {"public": self._raw.hex()})
        try:
            # The id is ours to compare: the library is asked only for the mathematics.
            key.verify_signature(Signature(self.keyid, signed.signature.hex()), signed_bytes(signed.payload))
        except UnverifiedSignatureError:  # also of what it cannot compute: that is no signature either
            return False
        return True


def encode_public_key(raw: bytes) -> bytes:
    """Return the PEM file of a public key."""
    text = base64.b64encode(_SPKI + raw)
    return b"-----BEGIN PUBLIC KEY-----\n" + text + b"\n-----END PUBLIC KEY-----\n"


def read_public_key(path: Path) -> PublicKey:
    """Read a public key from its PEM file. Raises: UsageError `E-KEY-FILE`, `E-KEY-PRIVATE`."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError("E-KEY-FILE", f"cannot read the key: {error.strerror or error}", where=str(path)) from error
    if b"PRIVATE KEY" in data:
        raise UsageError(
            "E-KEY-PRIVATE", "a private key; to verify takes the public one", where=str(path), hint="name the .pub file"
        )
    found = _PEM.match(data)
    try:
        der = base64.b64decode(b"".join(found[1].split()), validate=True) if found else b""
    except binascii.Error:
        der = b""
    if len(der) != len(_SPKI) + KEY_BYTES or not der.startswith(_SPKI):
        raise UsageError(
            "E-KEY-FILE", "not an ed25519 public key in PEM", where=str(path), hint="make one: oyer keygen"
        )
    return PublicKey(der[len(_SPKI) :], str(path))
