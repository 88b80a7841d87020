"""A tap and a world sink together: an effect lies inside the call that made it, whatever runs beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from instrument_kit import KitJournal, Rig, request
from oyer.errors import HarnessError
from oyer.instruments import WorldSink

RigMaker = Callable[[str], Rig]


class FailingWatcher:
    """A watcher that cannot look."""

    async def before_forward(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        raise HarnessError("E-WORLD-ROOT", "cannot look")

    async def before_answer(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        raise HarnessError("E-WORLD-ROOT", "cannot look")


class SlowWatcher:
    """A watcher that takes its time and writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, tuple[str, ...]]] = []

    async def before_forward(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        await asyncio.sleep(0.02)
        self.told.append(("forward", call_ref, in_flight))

    async def before_answer(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        await asyncio.sleep(0.02)
        self.told.append(("answer", call_ref, in_flight))


async def test_an_effect_is_dated_to_its_call_and_one_between_calls_to_none(rig: RigMaker) -> None:
    bench = rig("writes")
    seen = KitJournal("sink:files")
    world = bench.run_dir.world
    sink = WorldSink("files", world, ["out*.txt"], seen)
    await sink.open()
    await bench.open(watchers=[sink])
    client = await bench.client()
    await client.ask(0, "initialize")
    await client.call(1, {"path": str(world / "out1.txt"), "text": "one"}, tool="save")
    (world / "out2.txt").write_text("by nobody's call")
    await client.call(2, {"path": str(world / "out3.txt"), "text": "three"}, tool="save")
    await client.leave()
    await bench.close()
    await sink.close()
    calls = [event.ref for event in bench.journal.of("mcp.sent") if event.body["method"] == "tools/call"]
    effects = {json.loads(seen.raw(event, "content"))["path"]: event for event in seen.of("sink.effect")}
    assert {path: list(event.body["calls"]) for path, event in effects.items()} == {
        "out1.txt": [calls[0]],
        "out2.txt": [],
        "out3.txt": [calls[1]],
    }
    sent, received = bench.journal.of("mcp.sent")[1], bench.journal.of("mcp.received")[1]
    delivered = next(event for event in bench.journal.of("mcp.delivered") if event.body["of"] == received.ref)
    assert sent.t_mono_ns <= effects["out1.txt"].t_mono_ns <= delivered.t_mono_ns


async def test_frames_keep_their_order_while_a_watcher_looks(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/bin/cat",)
    watcher = SlowWatcher()
    await bench.open(watchers=[watcher])
    client = await bench.client()
    frames = [request(number, "tools/call" if number % 2 else "ping", {"name": "echo"}) for number in range(6)]
    await client.send(b"".join(frames))
    assert [await client.line() for _ in frames] == frames
    await client.leave()
    await bench.close()
    sent = [event.ref for event in bench.journal.of("mcp.sent") if event.body["method"] == "tools/call"]
    assert watcher.told == [
        ("forward", sent[0], ()),
        ("forward", sent[1], (sent[0],)),
        ("forward", sent[2], (sent[0], sent[1])),
    ]


async def test_a_watcher_that_cannot_look_stops_the_call(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(watchers=[FailingWatcher()])
    client = await bench.client()
    await client.send(request(1, "tools/call", {"name": "echo"}))
    assert await client.rest() == b""
    await bench.close()
    assert [fault[:2] for fault in bench.faults] == [("tap:ops", "harness")]
    assert bench.journal.of("mcp.delivered") == []
