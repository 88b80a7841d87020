"""Archives that are not safe to read: each of these breaks the one form that a bundle has, and check 1 says so."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable

from bundle_kit import Members, archive_of, mended, odd_header, piece, with_piece

from oyer.evidence import ARCHIVE_END, MANIFEST_NAME

__all__ = ["FORMS"]

HIDDEN = "series/outcomes/a.json"


def _plain(name: str, data: bytes = b"evil") -> Callable[[Members], bytes]:
    return lambda members: with_piece(members, name, piece(name, data, odd_header(name, len(data))))


def _odd(kind: bytes, link: str = "") -> Callable[[Members], bytes]:
    return lambda members: with_piece(members, HIDDEN, odd_header(HIDDEN, 0, kind, link))


def _twice(members: Members) -> bytes:
    paths = sorted([*members, "series/plan.json"])
    return b"".join(piece(path, members[path]) for path in paths) + ARCHIVE_END


def _reordered(members: Members) -> bytes:
    return b"".join(piece(path, members[path]) for path in sorted(members, reverse=True)) + ARCHIVE_END


def _by_another_tool(members: Members) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in sorted(members.items()):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _zipped(members: Members) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in members.items():
            archive.writestr(path, data)
        link = zipfile.ZipInfo("evil")
        link.create_system, link.external_attr = 3, 2716663808
        archive.writestr(link, "/etc/hosts")
    return out.getvalue()


def _hidden_in_padding(members: Members) -> bytes:
    data = bytearray(archive_of(members))
    data[512 + len(members[MANIFEST_NAME])] = 1
    return bytes(data)


def _bomb(members: Members) -> bytes:
    frame = b"\x28\xb5\x2f\xfd\xe4" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    return archive_of(mended({**members, "series/blobs/ab/ab" + "0" * 62 + ".zst": frame}))


FORMS: dict[str, Callable[[Members], bytes]] = {
    "absolute path": _plain("/etc/cron.d/evil"),
    "path that leads out": _plain("../../evil"),
    "path that leads out from inside": _plain("series/../../evil"),
    "path with a drive": _plain("C:\\evil"),
    "path with backslashes": _plain("series\\..\\evil"),
    "path in no alphabet of ours": _plain("series/\u00e9vil"),
    "symbolic link": _odd(tarfile.SYMTYPE, "/etc/hosts"),
    "symbolic link inside": _odd(tarfile.SYMTYPE, "plan.json"),
    "hard link": _odd(tarfile.LNKTYPE, "/etc/hosts"),
    "device": _odd(tarfile.CHRTYPE),
    "block device": _odd(tarfile.BLKTYPE),
    "pipe": _odd(tarfile.FIFOTYPE),
    "directory": _odd(tarfile.DIRTYPE),
    "the same name twice": _twice,
    "two names that differ in case": _plain("series/PLAN.json"),
    "file and directory of one name": _plain("series/seals"),
    "names in another order": _reordered,
    "cut at the end": lambda members: archive_of(members)[:-1024],
    "cut in a member": lambda members: archive_of(members)[:-2000],
    "cut in a header": lambda members: archive_of(members)[:300],
    "cut to nothing": lambda _: b"",
    "zeros at the end, as tar pads": lambda members: archive_of(members) + bytes(8192),
    "a second archive at the end": lambda members: archive_of(members) * 2,
    "a zip at the end": lambda members: archive_of(members) + _zipped({"more": b"x"}),
    "bytes between members": _hidden_in_padding,
    "written by another tool": _by_another_tool,
    "a zip with a link": _zipped,
    "a bomb": _bomb,
    "a file outside the series": _plain("evil.sh"),
    "a derived index": lambda members: archive_of(mended({**members, "series/index.sqlite": b"x"})),
    "a hidden file": _plain("series/.tmp/x"),
    "a file of no known part": lambda members: archive_of(mended({**members, "series/evil.sh": b"x"})),
    "no manifest": lambda members: archive_of({p: d for p, d in members.items() if p != MANIFEST_NAME}),
}
