"""Servers that break, hang or flood: recorded, bounded, blamed on the server, and gone afterwards."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import until

from instrument_kit import PEERS, QUICK, Rig, replay_chain, request
from oyer.errors import HarnessError
from oyer.host.process_table import descendants_of, process_info
from oyer.instruments import TapLimits

RigMaker = Callable[[str], Rig]
CALL = request(1, "tools/call", {"name": "echo", "arguments": {"size": 3_000_000}})


def processes() -> list[int]:
    return [row.pid for row in descendants_of(os.getpid()) if not row.is_zombie]


def alive(pid: int) -> bool:
    row = process_info(pid)
    return row is not None and not row.is_zombie


async def until_fault(bench: Rig) -> tuple[str, str, str]:
    await until(lambda: bench.faults)
    return bench.faults[0]


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("exits", ["exit code 1", "before it answered anything", "API_KEY is required"]),
        ("dies", ["exit code 3", "tools/call (id 1) unanswered", "out of memory"]),
        ("closes_stdout", ["closed its streams", "tools/call (id 1) unanswered"]),
        ("answers_and_ends", ["exit code 0", "before the subject was done with it"]),
        ("hangs", ["did not answer tools/call (id 1) within 0.2 s"]),
        ("endless_line", ["beyond the bound"]),
        ("huge", ["beyond the bound"]),
        ("deaf", ["before it answered anything"]),
    ],
)
async def test_a_broken_server_is_blamed_with_its_words(rig: RigMaker, manner: str, said: list[str]) -> None:
    before = processes()
    bench = rig(manner)
    # Only what never comes may be waited for shortly: how a server ends must have come first, on the slowest machine.
    patience_s = 0.2 if manner in ("hangs", "deaf") else 60
    await bench.open(limits=TapLimits(max_frame_bytes=1_000_000, answer_timeout_s=patience_s, patience=QUICK))
    client = await bench.client()
    if manner != "exits":
        await client.send(CALL)
    where, cls, message = await until_fault(bench)
    if manner == "deaf":
        # It never reads: what it is blamed for depends on which end is seen first.
        said = ["server ops"]
    assert (where, cls) == ("server:ops", "dependency_unavailable")
    assert all(words in message for words in said), message
    await bench.close()
    assert bench.journal.kinds()[-1] == "connection.closed"
    assert [event.body["message"] for event in bench.journal.of("fault")] == [fault[2] for fault in bench.faults]
    assert len(bench.faults) == 1
    assert replay_chain(bench.journal) == []
    assert processes() == before


async def test_the_end_of_stream_is_passed_on_and_nothing_is_answered_for_the_server(rig: RigMaker) -> None:
    bench = rig("exits")
    await bench.open()
    client = await bench.client()
    assert await client.rest() == b""
    assert await client.leave() == 1
    await bench.close()


async def test_a_frame_beyond_the_bound_is_kept_in_part_and_marked(rig: RigMaker) -> None:
    bench = rig("huge")
    await bench.open(limits=TapLimits(max_frame_bytes=1_000_000, patience=QUICK))
    client = await bench.client()
    await client.send(CALL)
    assert await client.rest() == b""
    await bench.close()
    (noise,) = bench.journal.of("mcp.noise")
    assert (noise.body["truncated"], noise.body["side"], len(bench.journal.raw(noise))) == (True, "server", 1_000_000)


async def test_noise_without_end_is_ended_at_a_bound(rig: RigMaker) -> None:
    bench = rig("endless_noise")
    await bench.open(limits=TapLimits(max_frames=500, patience=QUICK))
    client = await bench.client()
    await client.send(CALL)
    assert (await client.rest()).count(b"\n") <= 500
    await bench.close()
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable")
    assert "more than 500 frames" in message
    assert len(bench.journal.of("mcp.noise")) == 500


async def test_what_a_server_said_before_it_ended_crosses_to_the_last_frame(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = (sys.executable, "-I", "-S", "-c", "import os; os.write(1, b'{}\\n' * 3000)")
    await bench.open()
    client = await bench.client()
    assert await client.rest() == b"{}\n" * 3000
    await bench.close()


async def test_a_subject_that_floods_is_the_subjects_fault(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(limits=TapLimits(max_frame_bytes=100_000, patience=QUICK))
    client = await bench.client()
    with pytest.raises(BrokenPipeError):
        while True:
            await client.send(b"x" * 65536)
    await bench.close()
    assert [(fault[0], fault[1]) for fault in bench.faults] == [("tap:ops", "subject")]
    assert bench.journal.of("mcp.noise")[0].body["side"] == "subject"


async def test_an_unterminated_rest_of_the_server_is_forwarded_as_noise(rig: RigMaker) -> None:
    bench = rig("unterminated")
    await bench.open()
    client = await bench.client()
    await client.send(CALL)
    assert await client.rest() == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    await bench.close()
    (noise,) = bench.journal.of("mcp.noise")
    assert bench.journal.raw(noise) == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert [fault[1] for fault in bench.faults] == ["dependency_unavailable"]


async def test_a_server_that_cannot_be_started_is_a_fault_and_the_relay_ends(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/nonexistent/server",)
    await bench.open()
    client = await bench.client()
    assert await client.rest() == b""
    assert await client.leave() == 127
    await bench.close()
    assert bench.faults[0][:2] == ("server:ops", "dependency_unavailable")
    assert "could not be started" in bench.faults[0][2]
    assert bench.journal.kinds() == ["connection.opened", "fault", "connection.closed"]


async def test_a_machine_that_lacks_descriptors_is_not_the_servers_fault(
    rig: RigMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    bench = rig("plain")
    await bench.open()
    client = await bench.client()
    monkeypatch.setattr(os, "pipe", none_left)
    assert await client.rest() == b""
    monkeypatch.undo()
    await bench.close()
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("tap:ops", "harness") and "Too many open files" in message


async def test_a_real_server_below_a_shell_is_ended_and_named(rig: RigMaker) -> None:
    bench = rig("plain")
    stubborn = shlex.join([sys.executable, "-I", "-S", str(PEERS / "stubborn.py")])
    bench.command = ("/bin/sh", "-c", f"{stubborn}; true")
    await bench.open()
    client = await bench.client()
    pid = int(await client.line())
    assert alive(pid)
    await client.leave()
    await bench.close()
    assert not alive(pid)
    (ended,) = bench.journal.of("process.exited")
    assert pid in [survivor["pid"] for survivor in ended.body["survivors"]]


async def test_a_daemon_that_left_its_session_is_ended_and_named(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = (sys.executable, "-I", "-S", str(PEERS / "daemon.py"))
    await bench.open()
    client = await bench.client()
    pid = int(await client.line())
    await client.leave()
    await bench.close()
    assert not alive(pid)
    assert pid in [one["pid"] for one in bench.journal.of("process.exited")[0].body["survivors"]]


async def test_a_killed_relay_takes_its_server_with_it(rig: RigMaker) -> None:
    bench = rig("plain")
    tap = await bench.open()
    client = await bench.client()
    await client.call(1, {"text": "x"})
    client.relay.kill_group()
    await client.relay.wait()
    await tap.settle(60)
    assert tap.connections == 0
    assert bench.journal.of("connection.closed")[0].body["reason"] == "relay_gone"
    assert not alive(bench.journal.of("process.started")[0].body["pid"])
    assert bench.faults == []
    await bench.close()


async def test_closing_the_tap_in_the_middle_of_a_call_leaves_nothing(rig: RigMaker) -> None:
    before = processes()
    bench = rig("hangs")
    tap = await bench.open()
    client = await bench.client()
    await client.send(CALL)
    await until(lambda: bench.journal.of("mcp.delivered"))
    await tap.close()
    assert await client.rest() == b""
    assert bench.journal.of("connection.closed")[0].body["reason"] == "closing"
    await bench.close()
    assert processes() == before
    assert list(bench.run_dir.sockets.iterdir()) == []


async def test_much_standard_error_is_bounded_and_blocks_nobody(rig: RigMaker) -> None:
    bench = rig("chatty_stderr")
    await bench.open()
    client = await bench.client()
    assert (await client.call(1, {"text": "x"}))["result"]["content"][0]["text"] == "x"
    await client.leave()
    await bench.close()
    stderr = bench.journal.raw(bench.journal.of("process.exited")[0], "stderr")
    assert len(stderr) < 100_000
    assert b"bytes cut" in stderr


async def test_twenty_trials_leave_the_process_count_and_descriptors_unchanged(rig: RigMaker) -> None:
    async def trial() -> None:
        bench = rig("plain")
        await bench.open()
        client = await bench.client()
        await client.call(1, {"text": "x"})
        await client.leave()
        await bench.close()

    await trial()
    before = processes(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        await trial()
    assert (processes(), len(list(Path("/proc/self/fd").iterdir()))) == before


async def test_pages_without_end_pass_and_count(rig: RigMaker) -> None:
    bench = rig("endless_pages")
    await bench.open()
    client = await bench.client()
    for number in range(5):
        assert (await client.ask(number, "tools/list", {"cursor": "again"}))["result"]["nextCursor"] == "again"
    await client.leave()
    await bench.close()
    assert len(bench.journal.of("mcp.sent")) == 5


@pytest.mark.parametrize("kind", ["mcp.sent", "mcp.received", "mcp.delivered", "process.started", "connection.opened"])
async def test_a_journal_that_cannot_be_written_is_a_harness_fault_and_never_sealed(rig: RigMaker, kind: str) -> None:
    before = processes()
    bench = rig("plain")
    bench.journal.fails_on = kind
    await bench.open()
    client = await bench.client()
    try:
        await client.send(CALL)
        got = await client.rest()
    except BrokenPipeError:
        got = b""
    await bench.close()
    if not kind.startswith("mcp."):
        assert got == b""
    with pytest.raises(HarnessError, match="E-STORE-POISONED"):
        bench.journal.seal()
    assert [fault[1] for fault in bench.faults] == ["harness"]
    assert "No space left" in bench.faults[0][2]
    assert processes() == before


async def test_a_fault_that_cannot_be_recorded_is_still_told(rig: RigMaker) -> None:
    bench = rig("exits")
    bench.journal.fails_on = "fault"
    await bench.open()
    client = await bench.client()
    await client.rest()
    await bench.close()
    assert bench.faults[0][1] == "dependency_unavailable"
    assert "could not be recorded" in bench.faults[0][2]


async def test_odd_ids_and_names_never_break_the_journal(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/bin/cat",)
    await bench.open()
    client = await bench.client()
    odd = [
        b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"tools/call","params":{"name":"\\ud800"}}\n',
        b'{"jsonrpc":"2.0","id":1.5,"method":"\\ud800"}\n',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"' + b"m" * 5000 + b'"}\n',
        b'{"jsonrpc":"2.0","id":true,"method":"x","params":[[[]]]}\n',
        json.dumps({"jsonrpc": "2.0", "id": None, "method": "x"}).encode() + b"\n",
        b"[" * 100_000 + b"\n",
        b"\x00\n",
        b"NaN\n",
    ]
    await client.send(b"".join(odd))
    assert b"".join([await client.line() for _ in odd]) == b"".join(odd)
    await client.leave()
    await bench.close()
    assert [fault for fault in bench.faults if fault[1] == "harness"] == []
