"""What stood in the world, when: snapshots and writes, re-read from the world's own journal."""

from __future__ import annotations

from typing import Any, NamedTuple

from oyer.errors import RecordError
from oyer.evidence import MAX_SAFE_INT, TURN, digest_of
from oyer.observe.texts import json_or_none
from oyer.observe.trial import TrialEvidence
from oyer.records import Entry, directory_digest

__all__ = ["Look", "Read", "WorldView", "Written", "read_world"]


class Look(NamedTuple):
    """One snapshot of the whole world: when, and the sha256 of every file by path.

    `files` is None if its entries cannot be read, or are not those that its digest was made of. A look at the end of a
    turn names its session and turn, from 0; servers were up then.
    """

    ref: str
    t_ns: int
    phase: str
    after_session: str | None
    digest: str
    files: dict[str, str] | None
    session: str | None = None
    turn: int | None = None


class Written(NamedTuple):
    """One file that differed between two looks, with its content after where it was kept."""

    ref: str
    t_ns: int
    path: str
    before: str | None
    after: str | None
    content: bytes | None
    running: tuple[str, ...]


class Read(NamedTuple):
    """One file whose content was kept when the world was looked at, because the case or a rubric names it."""

    ref: str
    path: str
    phase: str
    sha256: str
    content: bytes | None


class WorldView(NamedTuple):
    """Every look, every write and every read, in order. `turn_looks` are apart: they saw a world with servers up.

    Of a stretch of a trial, `apart` are the writes outside it: what they keep is content all the same.
    """

    looks: tuple[Look, ...]
    writes: tuple[Written, ...]
    reads: tuple[Read, ...] = ()
    turn_looks: tuple[Look, ...] = ()
    apart: tuple[Written, ...] = ()

    @property
    def opening(self) -> Look | None:
        """The look before anything ran."""
        return next((look for look in self.looks if look.phase == "opening"), None)

    @property
    def closing(self) -> Look | None:
        """The look after everything was down."""
        return next((look for look in self.looks if look.phase == "closing"), None)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The looks whose entries cannot be read."""
        return tuple(look.ref for look in (*self.looks, *self.turn_looks) if look.files is None)

    def after_turn(self, session: str, turn: int) -> Look | None:
        """The look at the end of one turn; None where there is none, or more than one that could be it."""
        found = [look for look in self.turn_looks if (look.session, look.turn) == (session, turn)]
        return found[0] if len(found) == 1 else None

    def first_look_after(self, t_ns: int) -> Look | None:
        """The first snapshot at or after a moment, None where there is none."""
        return next((look for look in self.looks if look.t_ns >= t_ns), None)

    def content(self, path: str, digest: str) -> bytes | None:
        """The retained content of a path with this digest, None where it was not kept."""
        for write in self.writes:
            if write.path == path and write.after == digest and write.content is not None:
                return write.content
        return None

    def held(self, digest: str) -> tuple[str, bytes] | None:
        """The event that keeps this content, and the content, wherever it stood; None where nothing keeps it."""
        for read in self.reads:
            if read.sha256 == digest and read.content is not None:
                return read.ref, read.content
        for write in (*self.writes, *self.apart):
            if write.after == digest and write.content is not None:
                return write.ref, write.content
        return None


def read_world(evidence: TrialEvidence) -> WorldView:
    """Read the world's journal of a trial."""
    looks = [
        Look(
            ref=e.ref,
            t_ns=e.t_mono_ns,
            phase=e.body["phase"],
            after_session=e.body.get("after_session"),
            digest=e.body["digest"],
            files=_files(evidence.payload(e, "entries"), e.body["digest"]),
            session=e.session,
            turn=e.body.get("turn"),
        )
        for e in evidence.events("world", "world.snapshot")
    ]
    writes = [
        Written(
            ref=e.ref,
            t_ns=e.t_mono_ns,
            path=e.body["path"],
            before=e.body["before"],
            after=e.body["after"],
            content=_kept(evidence.payload(e), e.body["after"]),
            running=tuple(e.body["running"]),
        )
        for e in evidence.events("world", "world.written")
    ]
    reads = [
        Read(e.ref, e.body["path"], e.body["phase"], e.body["sha256"], _kept(evidence.payload(e), e.body["sha256"]))
        for e in evidence.events("world", "world.read")
    ]
    at_turns = tuple(look for look in looks if look.phase == TURN)
    return WorldView(tuple(look for look in looks if look.phase != TURN), tuple(writes), tuple(reads), at_turns)


def _kept(content: bytes | None, after: str | None) -> bytes | None:
    """What was kept counts only if it is what the look saw: the file may have moved on between the two."""
    return content if content is not None and digest_of(content) == after else None


def _files(raw: bytes | None, stated: str) -> dict[str, str] | None:
    rows = json_or_none(raw)
    if not isinstance(rows, list):
        return None
    entries: list[Entry] = []
    plain = True
    for row in rows:
        if not _is_row(row):
            return None
        path, executable, size, sha256, kind = row
        plain = plain and kind == "file"
        entries.append(Entry(path, executable, size, sha256.removeprefix("sha256:")))
    try:
        # A link's target is no part of its row, so only a world of plain files can be digested again.
        if plain and directory_digest(entries) != stated:
            return None
    except RecordError:
        return None
    return {entry.path: f"sha256:{entry.sha256}" for entry in entries}


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 5
        and all(isinstance(row[place], str) for place in (0, 3, 4))
        and isinstance(row[1], bool)
        and type(row[2]) is int
        and 0 <= row[2] <= MAX_SAFE_INT
    )
