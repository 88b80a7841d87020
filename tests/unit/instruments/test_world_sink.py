"""World sinks and watches on a real directory, recorded by the store's own journal."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from oyer.errors import HarnessError
from oyer.evidence import Chain, Envelope, check_journal, payload_bytes
from oyer.instruments import WorldSink, WorldWatch, world_sink
from oyer.instruments.world_watch import content_of
from oyer.observe import is_named
from oyer.store import MemoryJournal

ENVELOPE = Envelope("s1", "t1", "r1", "baseline", 1, "boot")


class Clock:
    def __init__(self) -> None:
        self.t = 0

    def __call__(self) -> tuple[int, str]:
        self.t += 1
        return self.t, "2026-01-01T00:00:00Z"


def journal(writer: str) -> MemoryJournal:
    return MemoryJournal(Chain(writer, ENVELOPE), Clock())


def events(made: MemoryJournal) -> list[Any]:
    return list(check_journal(made.data).events)


def content(event: Any) -> Any:
    return json.loads(payload_bytes(event.body["content"], lambda _: None))


def watch(tmp_path: Path, paths: list[str], act: Callable[[WorldSink], Awaitable[None]]) -> list[Any]:
    made = journal("sink:files")
    sink = WorldSink("files", tmp_path, paths, made)

    async def run() -> None:
        await sink.open()
        await act(sink)
        await sink.close()

    asyncio.run(run())
    return events(made)


async def _nothing(_: WorldSink) -> None:
    return None


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("todo.md", "todo.md", True),
        ("todo.md", "a/todo.md", False),
        ("**/todo.md", "todo.md", True),
        ("**/todo.md", "a/b/todo.md", True),
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("*.md", "x.md", True),
        ("*.md", "x.MD", False),
    ],
)
def test_patterns(pattern: str, path: str, wanted: bool) -> None:
    assert is_named([pattern], path) is wanted


def test_a_change_inside_a_call_is_that_calls_effect(tmp_path: Path) -> None:
    async def act(sink: WorldSink) -> None:
        await sink.before_forward("tap:x:1", ())
        (tmp_path / "todo.md").write_text("HELLO", encoding="utf-8")
        await sink.before_answer("tap:x:1", ("tap:x:1",))

    effects = [e for e in watch(tmp_path, ["todo.md"], act) if e.kind == "sink.effect"]
    assert [e.body["calls"] for e in effects] == [["tap:x:1"]]
    assert content(effects[0])["text"] == "HELLO"
    assert content(effects[0])["change"] == "created"


def test_a_change_outside_any_call_names_no_call(tmp_path: Path) -> None:
    async def act(sink: WorldSink) -> None:
        await sink.before_forward("tap:x:1", ())
        await sink.before_answer("tap:x:1", ("tap:x:1",))
        (tmp_path / "todo.md").write_text("later", encoding="utf-8")

    effects = [e for e in watch(tmp_path, ["todo.md"], act) if e.kind == "sink.effect"]
    assert [e.body["calls"] for e in effects] == [[]]


def test_a_deletion_is_an_effect_and_other_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "todo.md").write_text("x", encoding="utf-8")

    async def act(sink: WorldSink) -> None:
        (tmp_path / "todo.md").unlink()
        (tmp_path / "other.md").write_text("y", encoding="utf-8")
        await sink.before_answer("tap:x:1", ("tap:x:1",))

    effects = [e for e in watch(tmp_path, ["todo.md"], act) if e.kind == "sink.effect"]
    assert [content(e) for e in effects] == [{"path": "todo.md", "change": "deleted"}]


@pytest.mark.parametrize("paths", [["todo.md"], ["deep/down/todo.md"], ["**/*.md"], ["out/*"]])
def test_both_probes_see_and_leave_nothing_behind(tmp_path: Path, paths: list[str]) -> None:
    (tmp_path / "todo.md").write_text("as it was", encoding="utf-8")
    (tmp_path / "todo.md").chmod(0o640)
    found = watch(tmp_path, paths, _nothing)
    assert [(e.body["phase"], e.body["ok"]) for e in found if e.kind == "sink.probed"] == [
        ("opening", True),
        ("closing", True),
    ]
    assert not [e for e in found if e.kind == "sink.effect"]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["todo.md"]
    assert (tmp_path / "todo.md").read_text(encoding="utf-8") == "as it was"
    assert (tmp_path / "todo.md").stat().st_mode & 0o777 == 0o640


def test_a_probe_that_cannot_be_written_is_not_ok(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    world = tmp_path / "world"
    outside.mkdir()
    world.mkdir()
    (world / "out").symlink_to(outside)
    found = watch(world, ["out/todo.md"], _nothing)
    assert [e.body["ok"] for e in found if e.kind == "sink.probed"] == [False, False]
    assert not list(outside.iterdir())


def test_the_world_watch_records_looks_and_differences(tmp_path: Path) -> None:
    made = journal("world")
    seen = WorldWatch(tmp_path, made, running=("subject", "server:ops"))

    async def run() -> None:
        await seen.opening()
        (tmp_path / "memo.txt").write_text("kept", encoding="utf-8")
        await seen.between("a")
        (tmp_path / "memo.txt").unlink()
        await seen.closing()

    asyncio.run(run())
    found = events(made)
    assert [e.body["phase"] for e in found if e.kind == "world.snapshot"] == ["opening", "between", "closing"]
    written = [e for e in found if e.kind == "world.written"]
    assert [(e.body["path"], e.body["before"] is None, e.body["after"] is None) for e in written] == [
        ("memo.txt", True, False),
        ("memo.txt", False, True),
    ]
    assert payload_bytes(written[0].body["payload"], lambda _: None) == b"kept"
    assert list(written[0].body["running"]) == ["subject", "server:ops"]


def test_a_look_after_a_turn_names_it_and_keeps_what_was_not_kept_before(tmp_path: Path) -> None:
    made = journal("world")
    seen = WorldWatch(tmp_path, made, running=("subject", "server:ops"), named=["*.txt"])
    (tmp_path / "memo.txt").write_text("first", encoding="utf-8")

    async def run() -> None:
        await seen.opening()
        await seen.after_turn("a", 0)
        (tmp_path / "memo.txt").write_text("second", encoding="utf-8")
        await seen.after_turn("a", 1)
        (tmp_path / "memo.txt").write_text("first", encoding="utf-8")
        await seen.after_turn("a", 2)
        await seen.closing()

    asyncio.run(run())
    found = events(made)
    looks = [(e.body["phase"], e.session, e.body.get("turn")) for e in found if e.kind == "world.snapshot"]
    assert looks == [
        ("opening", None, None),
        ("turn", "a", 0),
        ("turn", "a", 1),
        ("turn", "a", 2),
        ("closing", None, None),
    ]
    assert [(e.body["phase"], e.session) for e in found if e.kind == "world.written"] == [("turn", "a"), ("turn", "a")]
    read = [(e.body["phase"], payload_bytes(e.body["payload"], lambda _: None)) for e in found
            if e.kind == "world.read"]  # fmt: skip
    assert read == [("opening", b"first"), ("turn", b"second"), ("closing", b"first")]


def test_a_probe_is_not_led_out_by_a_link_the_subject_made(tmp_path: Path) -> None:
    world, outside = tmp_path / "w", tmp_path / "outside"
    world.mkdir()
    outside.mkdir()

    async def act(_: WorldSink) -> None:
        (world / "link").symlink_to(outside)

    found = watch(world, ["link/new/out.txt"], act)
    assert [(e.body["phase"], e.body["ok"]) for e in found if e.kind == "sink.probed"] == [
        ("opening", True),
        ("closing", False),
    ]
    assert list(outside.iterdir()) == []
    assert [path.name for path in world.iterdir()] == ["link"]


def test_a_probe_puts_back_content_and_mode(tmp_path: Path) -> None:
    (tmp_path / "out.sh").write_text("kept", encoding="utf-8")
    (tmp_path / "out.sh").chmod(0o751)

    async def act(_: WorldSink) -> None:
        return None

    found = watch(tmp_path, ["out.sh", "made/*.txt"], act)
    assert all(e.body["ok"] for e in found if e.kind == "sink.probed")
    assert not [e for e in found if e.kind == "sink.effect"]
    assert ((tmp_path / "out.sh").read_text(), (tmp_path / "out.sh").stat().st_mode & 0o777) == ("kept", 0o751)
    assert [path.name for path in tmp_path.iterdir()] == ["out.sh"]


def test_what_a_hard_link_brings_in_is_named_and_not_copied(tmp_path: Path) -> None:
    world = tmp_path / "w"
    world.mkdir()
    (tmp_path / "secret").write_text("secret", encoding="utf-8")

    async def act(_: WorldSink) -> None:
        (world / "hard").hardlink_to(tmp_path / "secret")

    (effect,) = [e for e in watch(world, ["*"], act) if e.kind == "sink.effect"]
    assert content(effect)["path"] == "hard"
    assert "text" not in content(effect)
    assert payload_bytes(effect.body["payload"], lambda _: None) == b""


def test_what_was_seen_to_change_is_told_also_when_whoever_asked_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, go_on = threading.Event(), threading.Event()

    def gated(*arguments: Any) -> bytes | None:
        seen.set()
        go_on.wait(60)
        return content_of(*arguments)

    monkeypatch.setattr(world_sink, "content_of", gated)

    async def act(sink: WorldSink) -> None:
        (tmp_path / "out.txt").write_text("done")
        asked = asyncio.create_task(sink.before_answer("tap:ops:1", ("tap:ops:1",)))
        await asyncio.to_thread(seen.wait, 60)
        asked.cancel()
        await asyncio.wait([asked])
        go_on.set()

    effects = [event for event in watch(tmp_path, ["out*.txt"], act) if event.kind == "sink.effect"]
    assert [(content(event)["path"], event.body["calls"]) for event in effects] == [("out.txt", ["tap:ops:1"])]


def test_a_look_that_failed_when_nobody_waited_any_more_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, go_on = threading.Event(), threading.Event()

    def gated(*_: Any) -> bytes | None:
        seen.set()
        go_on.wait(60)
        raise HarnessError("E-WORLD-ROOT", "cannot look")

    async def act(sink: WorldSink) -> None:
        (tmp_path / "out.txt").write_text("done")
        monkeypatch.setattr(world_sink, "content_of", gated)
        asked = asyncio.create_task(sink.before_answer("tap:ops:1", ()))
        await asyncio.to_thread(seen.wait, 60)
        asked.cancel()
        await asyncio.wait([asked])
        go_on.set()

    with pytest.raises(HarnessError, match="cannot look"):
        watch(tmp_path, ["out*.txt"], act)
