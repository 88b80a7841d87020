"""What stood in the world, when: snapshots and writes, re-read from the world's own journal."""

from __future__ import annotations

from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.observe.trial import TrialEvidence
from oyer.protocol import loads

__all__ = ["Look", "WorldView", "Written", "read_world"]


class Look(NamedTuple):
    """One snapshot of the whole world: when, and the sha256 of every file by path. `files` is None if unreadable."""

    ref: str
    t_ns: int
    phase: str
    after_session: str | None
    digest: str
    files: dict[str, str] | None


class Written(NamedTuple):
    """One file that differed between two looks, with its content after where it was kept."""

    ref: str
    t_ns: int
    path: str
    before: str | None
    after: str | None
    content: bytes | None
    running: tuple[str, ...]


class WorldView(NamedTuple):
    """Every look and every write, in order."""

    looks: tuple[Look, ...]
    writes: tuple[Written, ...]

    @property
    def opening(self) -> Look | None:
        """The look before anything ran."""
        return next((look for look in self.looks if look.phase == "opening"), None)

    def first_look_after(self, t_ns: int) -> Look | None:
        """The first snapshot at or after a moment, None where there is none."""
        return next((look for look in self.looks if look.t_ns >= t_ns), None)

    def content(self, path: str, digest: str) -> bytes | None:
        """The retained content of a path with this digest, None where it was not kept."""
        for write in self.writes:
            if write.path == path and write.after == digest and write.content is not None:
                return write.content
        return None


def read_world(evidence: TrialEvidence) -> WorldView:
    """Read the world's journal of a trial."""
    looks = [
        Look(
            e.ref,
            e.t_mono_ns,
            e.body["phase"],
            e.body.get("after_session"),
            e.body["digest"],
            _files(evidence.payload(e, "entries")),
        )
        for e in evidence.events("world", "world.snapshot")
    ]
    writes = [
        Written(
            e.ref,
            e.t_mono_ns,
            e.body["path"],
            e.body["before"],
            e.body["after"],
            evidence.payload(e),
            tuple(e.body["running"]),
        )
        for e in evidence.events("world", "world.written")
    ]
    return WorldView(tuple(looks), tuple(writes))


def _files(raw: bytes | None) -> dict[str, str] | None:
    if raw is None:
        return None
    try:
        entries = loads(raw)
    except ProtocolError:
        return None
    found: dict[str, str] = {}
    if not isinstance(entries, list):
        return None
    for entry in entries:
        if not (
            isinstance(entry, list) and len(entry) >= 4 and isinstance(entry[0], str) and isinstance(entry[3], str)
        ):
            return None
        found[entry[0]] = entry[3]
    return found
