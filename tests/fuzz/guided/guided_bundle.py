"""A small good bundle, its archive changed as the input says, verified to an end without touching a disk.

An input is a list of changes, each ``[mode, high, place (2 bytes), taken, count, bytes...]``: `taken` bytes make way for
`count` given ones. The two low bits of a mode say where: 0 at a place of the whole archive (`high` its high byte), 1 in the
content of member `high`, 2 in that content with the manifest written anew, 3 the member goes and the given bytes are put
under its name in the archive as they are, header and all.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bundle_kit import Members, archive_of, members_of, mended, verify_file, with_piece
from golden_build import build_series
from guided import total

from oyer.evidence import MANIFEST_NAME
from oyer.store import write_bundle
from oyer.verify import Verification

MOST_CHANGES = 6


class Change(NamedTuple):
    """One replacement, and where."""

    where: int
    high: int
    place: int
    taken: int
    given: bytes


@functools.cache
def good_bundle() -> bytes:
    """The smallest bundle that reaches a scored trial."""
    with tempfile.TemporaryDirectory() as place:
        build_series(Path(place) / "series", ("wary",), ("manipulated",))
        return write_bundle(Path(place) / "series", Path(place) / "x.oyer").path.read_bytes()


def changes(data: bytes) -> Iterator[Change]:
    """Read the changes of an input; a cut one is no change."""
    for _ in range(MOST_CHANGES):
        if len(data) < 6:
            return
        mode, high, upper, lower, taken, count = data[:6]
        yield Change(mode & 3, high, upper << 8 | lower, taken, data[6 : 6 + count])
        data = data[6 + count :]


def bundle(data: bytes) -> None:
    """Change the bundle and verify it: an answer of all checks, and a changed bundle is never valid."""
    whole = _changed(list(changes(data)))
    found = total(lambda: _verified(whole))
    assert len(found.checks) == 11
    json.dumps(found.to_json())
    assert (found.exit_code == 0) == (whole == good_bundle())


def _changed(asked: list[Change]) -> bytes:
    members, mends = members_of(good_bundle()), False
    odd: tuple[str, bytes] | None = None
    for change in asked:
        path = sorted(members)[change.high % len(members)]
        if change.where in (1, 2):
            members[path] = _put(members[path], change.place, change)
            mends |= change.where == 2 and path != MANIFEST_NAME
        elif change.where == 3 and odd is None and len(members) > 1:
            odd = path, change.given
            del members[path]
    whole = _archive(mended(members) if mends else members, odd)
    for change in asked:
        if change.where == 0:
            whole = _put(whole, change.high << 16 | change.place, change)
    return whole


def _archive(members: Members, odd: tuple[str, bytes] | None) -> bytes:
    return archive_of(members) if odd is None else with_piece(members, *odd)


def _put(data: bytes, place: int, change: Change) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + change.given + data[at + change.taken :]


def _verified(whole: bytes) -> Verification:
    fd = os.memfd_create("bundle")
    try:
        left = memoryview(whole)
        while left:
            left = left[os.write(fd, left) :]
        return verify_file(Path(f"/proc/self/fd/{fd}"))
    finally:
        os.close(fd)
