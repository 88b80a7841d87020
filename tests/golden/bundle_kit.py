"""Taking bundles apart and putting them together again, as somebody without scruples would.

`Archive` holds members as raw pieces, so that any header can stand before any bytes; `mended` writes the manifest
anew, and `signed_by` signs it, so that only the one check that looks at the thing itself can notice.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oyer.evidence import (
    ARCHIVE_END,
    MANIFEST_NAME,
    SERIES_PREFIX,
    SIGNATURE_NAME,
    ArchiveCheck,
    Signed,
    StoredFile,
    check_archive,
    digest_of,
    encode_canonical,
    encode_manifest,
    encode_signed,
    make_bundle_statement,
    make_manifest,
    member_header,
    member_padding,
    parse_seal,
    parse_signed,
    seal_path,
)
from oyer.store import BundleReader, PublicKey
from oyer.verify import Keys, Verification, verify_bundle

Members = dict[str, bytes]


class MemoryBytes:
    """The bytes of an archive that is in memory. Satisfies `evidence.StoredBytes`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read_at(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def check_bytes(data: bytes) -> ArchiveCheck:
    """Look at the form of an archive in memory."""
    return check_archive(MemoryBytes(data))


def verify_file(path: Path, key: PublicKey | None = None, plan_key: PublicKey | None = None) -> Verification:
    """Verify a bundle on disk."""
    with BundleReader(path) as reader:
        return verify_bundle(reader, Keys(key, plan_key))


def verify_bytes(data: bytes, place: Path, key: PublicKey | None = None) -> Verification:
    """Verify a bundle that is in memory."""
    target = place / "tried.oyer"
    target.write_bytes(data)
    return verify_file(target, key)


def members_of(data: bytes) -> Members:
    """Return every member by its path, read by somebody else's code."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        found: Members = {}
        for member in archive.getmembers():
            file = archive.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
        return found


def piece(path: str, data: bytes, header: bytes | None = None) -> bytes:
    """Return one member as it stands in an archive."""
    return (member_header(path, len(data)) if header is None else header) + data + member_padding(len(data))


def odd_header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    """Return a well-formed ustar header that no bundle may have."""
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.type, member.linkname = size, 0o600, kind, link
    return member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")


def archive_of(members: Mapping[str, bytes]) -> bytes:
    """Write an archive in its one form."""
    return b"".join(piece(path, members[path]) for path in sorted(members)) + ARCHIVE_END


def with_piece(members: Mapping[str, bytes], path: str, raw: bytes) -> bytes:
    """Write an archive with one more raw member, where its name belongs."""
    pieces = {name: piece(name, data) for name, data in members.items()}
    ordered = sorted([*pieces.items(), (path, raw)], key=lambda item: item[0])
    return b"".join(data for _, data in ordered) + ARCHIVE_END


def mended(members: Mapping[str, bytes], withheld: Mapping[str, bytes] | None = None) -> Members:
    """Write the manifest anew over what is there now, and drop a signature that is over another one."""
    files = {path: data for path, data in members.items() if path.startswith(SERIES_PREFIX)}
    manifest = make_manifest(map(_stored, files.items()), map(_stored, (withheld or {}).items()))
    return {**files, MANIFEST_NAME: encode_manifest(manifest)}


def signed_by(sign: Callable[[bytes], Signed], members: Mapping[str, bytes], series: str = "golden-series") -> Members:
    """Sign what is there now."""
    files = {path: data for path, data in members.items() if path.startswith(SERIES_PREFIX)}
    manifest = make_manifest(map(_stored, files.items()))
    last = max(path for path in files if path.startswith(SERIES_PREFIX + "seals/"))
    statement = make_bundle_statement(manifest, series, parse_seal(files[last]).digest)
    return {**files, MANIFEST_NAME: encode_manifest(manifest), SIGNATURE_NAME: encode_signed(sign(statement))}


def resigned(envelope: bytes, **more: Any) -> bytes:
    """Change parts of an envelope and keep the rest."""
    return encode_signed(parse_signed(envelope)._replace(**more))


def statement(**more: Any) -> Callable[[bytes], bytes]:
    """Change fields of a statement."""
    return lambda payload: encode_canonical({**json.loads(payload), **more})


def restated(data: bytes, **more: Any) -> bytes:
    """Change the payload of an envelope and keep its signature."""
    return resigned(data, payload=statement(**more)(parse_signed(data).payload))


def flipped(signature: bytes) -> bytes:
    """Change one bit of a signature."""
    return bytes([signature[0] ^ 1]) + signature[1:]


def last_seal_path() -> str:
    """Return where the last seal of a golden series stands in its bundle."""
    return SERIES_PREFIX + seal_path(2)


def _stored(item: tuple[str, bytes]) -> StoredFile:
    path, data = item
    return StoredFile(path=path, sha256=digest_of(data), size=len(data))
