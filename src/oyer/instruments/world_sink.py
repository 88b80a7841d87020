"""A sink of kind `world`: declared paths, looked at around every call, so that an effect lies inside one call.

Owns the writer `sink:<name>` of such a sink. It looks when a call is about to be forwarded and again before its answer
is, and is proven to see by a probe at a declared path, before the first turn and after everything is down.
Must never leave a probe behind, follow a link, or say which of several calls in flight made a change: it lists them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from oyer.errors import OyerError
from oyer.host import (
    Snapshot,
    SnapshotCache,
    create_beneath,
    make_parents_beneath,
    new_token,
    read_beneath,
    remove_beneath,
    remove_directory_beneath,
    rename_beneath,
    take_snapshot,
)
from oyer.instruments.ports import Recorder
from oyer.instruments.spoiling import blame_subject
from oyer.instruments.world_watch import content_of, entries_payload
from oyer.observe import is_named
from oyer.records import Entry

__all__ = ["WorldSink"]


class WorldSink:
    """Watches declared paths of one world. A `CallWatcher` for the taps of the attempt."""

    def __init__(self, name: str, root: Path, paths: Sequence[str], recorder: Recorder) -> None:
        self._name = name
        self._root = root
        self._paths = tuple(paths)
        self._recorder = recorder
        self._cache = SnapshotCache()
        self._last: Snapshot | None = None
        self._effects = 0
        self._turn = asyncio.Lock()
        self._unheard: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Look at what is there, then prove that a change would be seen."""
        self._last = await self._look()
        body = {"sink": self._name, "kind": "world", "watch": list(self._paths)}
        self._recorder.record("sink.opened", body, payloads={"state": entries_payload(self._last)}, sync=True)
        await self._probe("opening")

    async def before_forward(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        """Look before a call goes to its server: what changed until now is not its doing."""
        await self._compare(in_flight)

    async def before_answer(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        """Look before the answer goes to the subject: what changed since lies inside the calls under way."""
        await self._compare(in_flight)

    async def close(self) -> None:
        """Look a last time, prove that it still sees, and say how much was seen.

        Raises: what a look failed with that nobody waited for any more.
        """
        for look in self._unheard:
            await look
        self._cache = SnapshotCache()  # the look that decides reads everything anew
        await self._compare(())
        await self._probe("closing")
        self._recorder.record("sink.closed", {"sink": self._name, "effects": self._effects, "rejected": 0})

    async def _look(self) -> Snapshot:
        with contextlib.nullcontext() if self._last is None else blame_subject():
            return await asyncio.to_thread(
                take_snapshot, self._root, wanted=lambda path: is_named(self._paths, path), cache=self._cache
            )

    async def _compare(self, calls: tuple[str, ...]) -> None:
        """Look to the end, also when whoever asked is gone: what was seen to change must not be told to nobody."""
        look = asyncio.create_task(self._compare_in_turn(calls))
        try:
            await asyncio.shield(look)
        except asyncio.CancelledError:
            self._unheard.append(look)
            raise

    async def _compare_in_turn(self, calls: tuple[str, ...]) -> None:
        async with self._turn:
            if self._last is None:
                return
            now = await self._look()
            before, after = self._last.by_path(), now.by_path()
            self._last = now
            for path in sorted(set(before) | set(after)):
                if before.get(path) != after.get(path):
                    await self._effect(before.get(path), after.get(path), calls, shared=path in now.shared)

    async def _effect(self, old: Entry | None, new: Entry | None, calls: tuple[str, ...], *, shared: bool) -> None:
        path = new.path if new is not None else old.path if old is not None else ""
        change = "created" if old is None else "deleted" if new is None else "modified"
        content: dict[str, object] = {"path": path, "change": change}
        raw = b""
        if new is not None:
            content |= {"sha256": f"sha256:{new.sha256}", "size": new.size_bytes}
            kept = await asyncio.to_thread(content_of, self._root, new, shared)
            raw = kept or b""
            text = _text(kept)
            if text is not None:
                content["text"] = text
        self._effects += 1
        self._recorder.record(
            "sink.effect",
            {"sink": self._name, "calls": list(calls)},
            payloads={"payload": raw, "content": json.dumps(content).encode()},
            because=calls,
        )

    async def _probe(self, phase: Literal["opening", "closing"]) -> None:
        """Write a token where an effect would be, see it through the same look, put everything back, see that too."""
        nonce = str(new_token())
        detail = ""
        async with self._turn:
            try:
                ok = await asyncio.to_thread(self._round_trip, nonce)
            except (OSError, OyerError) as error:
                ok, detail = False, f"{type(error).__name__}: {error}"
            self._last = await self._look()
        body: dict[str, object] = {"sink": self._name, "phase": phase, "ok": ok, "nonce": nonce}
        if detail:
            body["detail"] = detail
        self._recorder.record("sink.probed", body, sync=True)

    def _round_trip(self, nonce: str) -> bool:
        path = self._probe_path(nonce)
        before = self._snapshot()
        name = path.rpartition("/")[2]
        aside = f"{name}.{nonce}" if path in before.by_path() else None
        with contextlib.ExitStack() as undo:
            for directory in make_parents_beneath(self._root, path):
                undo.callback(remove_directory_beneath, self._root, directory)
            if aside is not None:
                rename_beneath(self._root, path, aside)
                undo.callback(rename_beneath, self._root, path[: -len(name)] + aside, name)
            create_beneath(self._root, path, nonce.encode())
            undo.callback(remove_beneath, self._root, path)
            seen = self._snapshot().by_path().get(path)
            shown = seen is not None and read_beneath(self._root, path, max_bytes=len(nonce)) == nonce.encode()
        return shown and self._snapshot().digest == before.digest

    def _snapshot(self) -> Snapshot:
        return take_snapshot(self._root, wanted=lambda path: is_named(self._paths, path))

    def _probe_path(self, nonce: str) -> str:
        """A declared path itself where it is literal; else a name that the first glob covers."""
        first = next((p for p in self._paths if not any(mark in p for mark in "*?[")), None)
        if first is not None:
            return first
        parts = [part for part in self._paths[0].split("/") if part != "**"]
        return "/".join(part.replace("*", nonce).replace("?", "x") for part in parts) or nonce


def _text(raw: bytes | None) -> str | None:
    if raw is None:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
