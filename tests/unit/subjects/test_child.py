"""Real subject processes with real servers, driven as the engine drives them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oyer
from oyer.errors import HarnessError
from oyer.subjects import Given, Scripts, ServerCommand, StopLimits, make_subject

SERVER = Path(__file__).parents[2] / "peers" / "notes_server.py"
SOURCES = str(Path(oyer.__file__).parent.parent)
READ = {"call": "ops.read", "arguments": {}}


def command() -> ServerCommand:
    return ServerCommand((sys.executable, "-S", str(SERVER)), {"PYTHONPATH": SOURCES, "MARK": "m"})


class Bench:
    """A subject, its journal and what it is given."""

    def __init__(self, journal: Any, place: Path) -> None:
        self.journal = journal
        self.place = place

    def given(self, **more: Any) -> Given:
        servers = {"ops": command(), "files": command()}
        return Given(**{"servers": servers, "cwd": str(self.place), "env": {"PATH": os.environ["PATH"]}, **more})

    async def play(self, double: str, *steps: Any, turns: int = 1, timeout_s: float = 10, **more: Any) -> list[Any]:
        """Play steps as one session of a double; return how each turn ended."""
        written = {"a": list(steps)}
        scripts = Scripts.parse({"proper": written, "tempted": written})
        subject = make_subject(f"scripted:{double}", self.journal, scripts=scripts, **more)
        await subject.open_session("a", self.given(turns=turns))
        try:
            return [await subject.turn(f"Turn {number}.", timeout_s=timeout_s) for number in range(turns)]
        finally:
            await subject.close_session()
            self.journal.require_whole()


@pytest.fixture
def bench(open_journal: Callable[[str], Any], tmp_path: Path) -> Bench:
    return Bench(open_journal("harness"), tmp_path)


async def test_a_script_is_played_over_a_real_server(bench: Bench) -> None:
    (end,) = await bench.play(
        "obedient",
        READ,
        {"call": "ops.write", "arguments": {"text": "memo: {last.text}"}},
        {"call": "ops.read"},
        {"say": "It says: {last.text}"},
    )
    assert (end.text, end.ended_by, end.calls, end.fault) == ("It says: memo: status: pending", "subject", 3, None)
    (received,) = bench.journal.of("turn.received")
    assert bench.journal.raw(received) == end.text.encode() and received.because == ("harness:2",)
    kinds = [event.kind for event in bench.journal.events]
    assert kinds == ["subject.given", "process.started", "turn.sent", "turn.received", "process.exited", "sealed"]
    (exited,) = bench.journal.of("process.exited")
    assert (exited.body["code"], exited.body["survivors"], bench.journal.raw(exited, "stderr")) == (0, [], b"")


async def test_what_was_given_is_recorded_exactly(bench: Bench) -> None:
    await bench.play("obedient", {"say": "Hello."})
    (given,) = bench.journal.of("subject.given")
    assert given.session == "a" and given.body["argv"][0] == sys.executable and given.body["cwd"] == str(bench.place)
    assert given.body["env"] == {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES}
    opened = json.loads(bench.journal.raw(given, "configuration"))["open"]
    assert set(opened["servers"]) == {"ops", "files"} and opened["script"]["steps"][0]["say"] == "Hello."
    assert "obedient" not in json.dumps(opened)
    (started,) = bench.journal.of("process.started")
    assert started.body["env_names"] == ["PATH", "PYTHONPATH"]


async def test_if_seen_looks_at_every_tool_answer_of_the_session(bench: Bench) -> None:
    (end,) = await bench.play(
        "obedient",
        {"say": "too early", "if_seen": "pending"},
        READ,
        {"call": "files.structured"},
        {"say": "pending seen", "if_seen": "status: pending"},
        {"say": "officer seen", "if_seen": "approved by the officer"},
        {"say": "never", "if_seen": "nobody wrote this"},
    )
    assert end.text == "pending seen\nofficer seen"


async def test_turns_of_one_session_share_script_and_servers(bench: Bench) -> None:
    steps = [{"call": "ops.write", "arguments": {"text": "kept"}}, {"say": "first"}, READ, {"say": "{last.text}"}]
    ends = await bench.play("obedient", *steps, {"say": "end"}, turns=2)
    assert [(end.text, end.calls) for end in ends] == [("first", 1), ("kept\nend", 1)]
    assert [event.body["number"] for event in bench.journal.of("turn.sent")] == [0, 1]


async def test_a_turn_without_steps_left_says_nothing(bench: Bench) -> None:
    ends = await bench.play("obedient", {"say": "all"}, turns=3)
    assert [end.text for end in ends] == ["all", "", ""]


async def test_idle_starts_nothing_and_says_nothing(bench: Bench) -> None:
    (end,) = await bench.play("idle", READ)
    assert (end.text, end.ended_by, end.calls) == ("", "subject", 0)


async def test_refuser_declines_every_turn(bench: Bench) -> None:
    ends = await bench.play("refuser", READ, turns=2)
    assert ends[0].text == ends[1].text != "" and not any(end.calls for end in ends)


async def test_echo_quotes_all_it_read(bench: Bench) -> None:
    (end,) = await bench.play("echo", READ, {"call": "files.read"}, {"call": "ops.write", "arguments": {"text": "x"}})
    assert end.text == "status: pending\n\nstatus: pending\n\nwritten"


async def test_crasher_ends_by_a_signal(bench: Bench) -> None:
    (end,) = await bench.play("crasher", READ, {"say": "never"})
    assert (end.ended_by, end.text) == ("crash", "")
    assert bench.journal.faults() == [("subject", "subject_crash", "subject exited by signal 9")]
    assert end.fault == bench.journal.of("fault")[0].ref
    (exited,) = bench.journal.of("process.exited")
    assert (exited.body["code"], exited.body["signal"]) == (None, 9)


async def test_garbler_breaks_the_protocol(bench: Bench) -> None:
    (end,) = await bench.play("garbler", READ, {"say": "never"})
    assert end.ended_by == "protocol"
    assert bench.journal.faults() == [
        ("subject", "subject_protocol", "subject broke the driver protocol: a line that is no JSON")
    ]
    (output,) = bench.journal.of("subject.output")
    assert (output.body["stream"], bench.journal.raw(output)) == ("stdout", b'{"said": {"text": \n')


async def test_a_server_that_dies_does_not_end_the_script_and_is_a_fault(bench: Bench) -> None:
    (end,) = await bench.play("obedient", {"call": "ops.vanish"}, READ, {"call": "files.read"}, {"say": "{last.text}"})
    assert (end.text, end.ended_by, end.calls) == ("status: pending", "harness", 1)
    ((where, cls, message),) = bench.journal.faults()
    assert (where, cls) == ("subject", "dependency_unavailable") and "gone" in message
    notes = [json.loads(bench.journal.raw(event))["note"] for event in bench.journal.of("subject.output")]
    assert [note["call"] for note in notes] == ["ops.vanish", "ops.read"] and "gone" in notes[0]["why"]


async def test_noise_and_questions_of_a_server_are_borne(bench: Bench) -> None:
    (end,) = await bench.play("obedient", {"call": "ops.chatter"}, {"call": "ops.read"}, {"say": "{last.text}"})
    assert end.text == "status: pending"


async def test_an_answer_beyond_the_bound_ends_the_server_and_not_the_subject(bench: Bench) -> None:
    (end,) = await bench.play("obedient", {"call": "ops.flood"}, {"say": "still here"})
    assert (end.text, end.calls) == ("still here", 0)


@pytest.mark.parametrize("call", ["nobody.read", "ops.unheard_of"])
async def test_a_call_that_cannot_be_made_is_noted(bench: Bench, call: str) -> None:
    (end,) = await bench.play("obedient", {"call": call}, {"say": "on"})
    assert (end.text, end.calls, end.ended_by) == ("on", 0, "subject") and len(bench.journal.of("subject.output")) == 1


async def test_a_server_sees_its_own_environment(bench: Bench) -> None:
    (end,) = await bench.play(
        "obedient", {"call": "ops.environment", "arguments": {"name": "MARK"}}, {"say": "{last.text}"}
    )
    assert end.text == "m"


async def test_declared_tool_calls_stop_a_script(bench: Bench) -> None:
    (end,) = await bench.play("obedient", READ, READ, READ, {"say": "never"}, stop=StopLimits(tool_calls=2))
    assert (end.ended_by, end.calls, end.detail) == ("stop", 2, "tool_calls")


async def test_a_stop_counts_over_all_sessions(bench: Bench) -> None:
    written = {"a": [READ, READ], "b": [READ, READ]}
    scripts = Scripts.parse({"proper": written, "tempted": written})
    subject = make_subject("scripted:obedient", bench.journal, scripts=scripts, stop=StopLimits(tool_calls=3))
    ends = []
    for session in "ab":
        await subject.open_session(session, bench.given())
        ends.append(await subject.turn("Go.", timeout_s=60))
        await subject.close_session()
    assert [(end.ended_by, end.calls) for end in ends] == [("subject", 2), ("stop", 1)]
    first, second = (bench.journal.raw(event, "configuration") for event in bench.journal.of("subject.given"))
    assert first == second  # what is left must not tell one arm from another


async def test_a_session_is_opened_once_and_asked_only_while_open(bench: Bench) -> None:
    subject = make_subject("scripted:idle", bench.journal)
    with pytest.raises(HarnessError, match="E-SUBJECT-CLOSED"):
        await subject.turn("Go.", timeout_s=1)
    await subject.open_session("a", bench.given())
    with pytest.raises(HarnessError, match="E-SUBJECT-OPEN"):
        await subject.open_session("b", bench.given())
    await subject.close_session()
    await subject.close_session()
    assert len(bench.journal.of("process.exited")) == 1


async def test_a_place_that_is_none_is_the_harness_fault(bench: Bench) -> None:
    subject = make_subject("scripted:idle", bench.journal)
    with pytest.raises(HarnessError, match="E-SUBJECT-START"):
        await subject.open_session("a", bench.given(cwd=str(bench.place / "missing")))
    await subject.close_session()
