"""The world as a witness: looked at before, between sessions, after declared turns and after, differences on record.

Owns the writer `world`. Each look is a fresh walk (no cache: these are the looks that decide), and each difference
names who was running between the two looks. A look after a turn is taken while servers are up: it says what it saw, and
what a server writes after its answer is seen by the next look. Must never follow a link out of the world, and never
guess who wrote.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

from oyer.host import Snapshot, read_beneath, take_snapshot
from oyer.instruments.ports import Recorder
from oyer.instruments.spoiling import blame_subject
from oyer.observe import is_named
from oyer.records import Entry

__all__ = ["KEPT_BYTES", "WorldWatch", "content_of", "entries_payload"]

KEPT_BYTES = 1024 * 1024
"""A changed file up to this size is kept with its content; a larger one by digest only."""

READ_BYTES = 16 * 1024 * 1024
"""A file that is named by a matcher is kept with its content up to this size."""
READ_FILES = 1000
READ_TOTAL_BYTES = 128 * 1024 * 1024
"""How many named files are kept at one look, and how much of them; what is beyond is named, without its content."""

Phase = Literal["opening", "between", "turn", "closing"]


def entries_payload(snapshot: Snapshot) -> bytes:
    """Return the entries of a look as JSON: `[path, executable, size, "sha256:...", kind]`, sorted by path."""
    rows = [[e.path, e.executable, e.size_bytes, f"sha256:{e.sha256}", e.kind] for e in snapshot.entries]
    rows += [[path, False, 0, f"sha256:{'0' * 64}", "special"] for path in snapshot.special]
    return json.dumps(rows, separators=(",", ":")).encode()


def content_of(root: Path, entry: Entry, shared: bool, limit: int = KEPT_BYTES) -> bytes | None:
    """Return what a file held when it was looked at; None for what is not kept or has changed again since.

    A `shared` file has another name outside the world: it is not the world's alone, and what it holds may be anybody's.
    """
    if entry.kind != "file" or entry.size_bytes > limit or shared:
        return None
    raw = read_beneath(root, entry.path, max_bytes=limit)
    return raw if raw is not None and hashlib.sha256(raw).hexdigest() == entry.sha256 else None


class WorldWatch:
    """Looks at one world directory. `running` names who runs while sessions run: the subject and its servers.

    `named` are the paths (or globs) of files that are kept with their content, before and after.
    """

    def __init__(self, root: Path, recorder: Recorder, *, running: tuple[str, ...], named: Sequence[str] = ()) -> None:
        self._root = root
        self._recorder = recorder
        self._running = running
        self._named = tuple(named)
        self._first: Snapshot | None = None
        self._last: Snapshot | None = None
        self._kept: set[str] = set()

    @property
    def changed(self) -> bool:
        """Whether the last look saw another world than the first."""
        return self._first is not None and self._last is not None and self._first.digest != self._last.digest

    async def opening(self) -> Snapshot:
        """Take the look before anything runs; it is synced, so that what follows can be told from what was there."""
        return await self._look("opening", None)

    async def between(self, session: str) -> Snapshot:
        """Take the look after a session, with its servers down."""
        return await self._look("between", session)

    async def after_turn(self, session: str, turn: int) -> Snapshot:
        """Take the look at the end of a turn, with its servers up and the subject silent; turns count from 0."""
        return await self._look("turn", None, session, turn)

    async def closing(self) -> Snapshot:
        """Take the look after everything is down."""
        return await self._look("closing", None)

    async def _look(
        self, phase: Phase, after_session: str | None, session: str | None = None, turn: int | None = None
    ) -> Snapshot:
        # The first look is at what the harness made; whatever later ones cannot see, somebody did to the world.
        with nullcontext() if phase == "opening" else blame_subject():
            snapshot = await asyncio.to_thread(take_snapshot, self._root)
        before = self._last.by_path() if self._last is not None else None
        if before is not None:
            await self._differences(before, snapshot, phase, session)
        body: dict[str, Any] = {"phase": phase, "after_session": after_session, "digest": snapshot.digest}
        if turn is not None:
            body["turn"] = turn
        self._recorder.record(
            "world.snapshot",
            body,
            payloads={"entries": entries_payload(snapshot)},
            session=session,
            sync=phase == "opening",
        )
        self._first = self._first or snapshot
        self._last = snapshot
        if phase != "between":
            await self._read(snapshot, phase, session)
        return snapshot

    async def _read(self, snapshot: Snapshot, phase: Phase, session: str | None) -> None:
        """Keep the content of every file that is named, as it was when it was looked at.

        At the end of a turn, what was kept before by its digest is not kept once more.
        """
        named = [entry for entry in snapshot.entries if is_named(self._named, entry.path)]
        if phase == "turn":
            named = [entry for entry in named if entry.sha256 not in self._kept]
        left = READ_TOTAL_BYTES
        for number, entry in enumerate(named):
            content = None
            if number < READ_FILES and entry.size_bytes <= left:
                shared = entry.path in snapshot.shared
                content = await asyncio.to_thread(content_of, self._root, entry, shared, READ_BYTES)
                left -= 0 if content is None else len(content)
            body = {"path": entry.path, "phase": phase, "sha256": f"sha256:{entry.sha256}", "size": entry.size_bytes}
            if content is None:
                body["why"] = "too large, too many, no file of its own, or changed again since it was looked at"
            else:
                self._kept.add(entry.sha256)
            payloads = {} if content is None else {"payload": content}
            self._recorder.record("world.read", body, payloads=payloads, session=session)

    async def _differences(
        self, before: dict[str, Entry], snapshot: Snapshot, phase: Phase, session: str | None
    ) -> None:
        after = snapshot.by_path()
        for path in sorted(set(before) | set(after)):
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            content = None
            if new is not None:
                content = await asyncio.to_thread(content_of, self._root, new, path in snapshot.shared)
            body = {
                "path": path,
                "before": f"sha256:{old.sha256}" if old else None,
                "after": f"sha256:{new.sha256}" if new else None,
                "size": new.size_bytes if new else None,
                "phase": phase,
                "running": list(self._running),
            }
            payloads = {} if content is None else {"payload": content}
            self._recorder.record("world.written", body, payloads=payloads, session=session)
