"""Subject processes that break the rules: each way of it ends the turn, is on record, and leaves nothing behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oyer.host import Patience
from oyer.subjects import Given, StopLimits
from oyer.subjects.child import ChildSubject, program_environment
from oyer.subjects.identity import identify

ODD = Path(__file__).parents[2] / "peers" / "odd_subject.py"


class Bench:
    def __init__(self, journal: Any, place: Path) -> None:
        self.journal = journal
        self.place = place

    async def turn(self, manner: str, *, timeout_s: float = 10) -> Any:
        """Open a session of a subject with this manner, give it one turn, close it."""
        subject = ChildSubject(
            self.journal,
            identify("odd", "scripted", {}),
            argv=(sys.executable, "-S", str(ODD), manner),
            role="script",
            configure=lambda _session, _given: {},
            stop=StopLimits(),
        )
        given = Given(servers={}, cwd=str(self.place), env={"PATH": os.environ["PATH"]})
        await subject.open_session("a", given)
        try:
            return await subject.turn("Go.", timeout_s=timeout_s)
        finally:
            await subject.close_session()
            self.journal.require_whole()

    def exited(self) -> dict[str, Any]:
        (event,) = self.journal.of("process.exited")
        return dict(event.body)


@pytest.fixture
def bench(open_journal: Callable[[str], Any], tmp_path: Path) -> Bench:
    return Bench(open_journal("harness"), tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "[]",
        "{}",
        '{"said": {"text": "x"}, "note": {}}',
        '{"said": "x"}',
        '{"said": {"text": 1, "ended_by": "subject"}}',
        '{"said": {"text": "x", "ended_by": "budget"}}',
        '{"said": {"text": "x", "ended_by": "stop"}}',
        '{"said": {"text": "x", "ended_by": "subject", "stopped_by": "tool_calls"}}',
        '{"said": {"text": "x", "ended_by": "subject", "calls": -1}}',
        '{"said": {"text": "x", "ended_by": "subject", "calls": true}}',
        '{"said": {"text": "x", "ended_by": "subject", "more": 1}}',
        '{"note": "text"}',
        '{"note": {"fault": {"class": "harness", "message": "not me"}}}',
        '{"note": {"fault": "x"}}',
        "harness without a fault",
    ],
)
async def test_a_line_of_another_form_breaks_the_protocol(bench: Bench, line: str) -> None:
    end = await bench.turn(line)
    assert (end.ended_by, end.text) == ("protocol", "")
    ((where, class_, message),) = bench.journal.faults()
    assert (where, class_) == ("subject", "subject_protocol") and message.startswith(
        "subject broke the driver protocol: "
    )


async def test_what_broke_the_protocol_is_kept_as_it_came(bench: Bench) -> None:
    await bench.turn("<html>")
    (output,) = bench.journal.of("subject.output")
    assert bench.journal.raw(output) == b"<html>\n"


async def test_a_deadline_ends_the_subject_and_is_the_callers_to_record(bench: Bench) -> None:
    end = await bench.turn("hangs", timeout_s=0.1)
    assert (end.ended_by, end.detail, end.fault) == ("budget", "no answer within 0.1 s", None)
    assert not bench.journal.of("fault") and bench.exited()["signal"] is not None
    assert [event.body["ended_by"] for event in bench.journal.of("turn.received")] == ["budget"]


async def test_a_process_that_was_dead_before_the_turn(bench: Bench) -> None:
    end = await bench.turn("dies early")
    assert (end.ended_by, end.detail) == ("crash", "subject exited with code 7")


async def test_a_child_left_behind_holds_nobody_up(bench: Bench) -> None:
    # The pipe stays open for a minute; had anybody waited for its end, the deadline would have ended the turn.
    end = await bench.turn("leaves a child", timeout_s=30)
    assert (end.ended_by, end.detail) == ("crash", "subject exited with code 0")
    assert len(bench.exited()["survivors"]) == 1


async def test_an_answer_right_before_the_exit_counts(bench: Bench) -> None:
    end = await bench.turn("answers and goes")
    assert (end.text, end.ended_by) == ("last words", "subject")
    assert bench.exited()["code"] == 0


async def test_output_that_ends_without_an_exit_breaks_the_protocol(bench: Bench) -> None:
    end = await bench.turn("closes its output")
    assert end.ended_by == "protocol" and "did not exit" in end.detail


async def test_half_a_line_is_no_answer(bench: Bench) -> None:
    end = await bench.turn("half a line")
    assert end.ended_by == "crash"
    assert [bench.journal.raw(event) for event in bench.journal.of("subject.output")] == [b'{"said": {"te']


async def test_a_line_without_an_end_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oyer.subjects.inbox.MAX_LINE_BYTES", 300_000)
    end = await bench.turn("endless line")
    assert end.ended_by == "protocol" and "size limit" in end.detail
    (output,) = bench.journal.of("subject.output")
    kept = bench.journal.raw(output)
    assert kept.startswith(b"xxx") and b"bytes cut" in kept and len(kept) < 100_000


async def test_many_notes_are_all_kept(bench: Bench) -> None:
    end = await bench.turn("many notes")
    assert end.ended_by == "subject" and len(bench.journal.of("subject.output")) == 2000


async def test_standard_error_is_kept_within_bounds(bench: Bench) -> None:
    await bench.turn("complains")
    (event,) = bench.journal.of("process.exited")
    stderr = bench.journal.raw(event, "stderr")
    assert stderr.startswith(b"eee") and b"bytes cut" in stderr and len(stderr) < 100_000


async def test_one_that_ignores_the_end_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oyer.subjects.child.PATIENCE", Patience(settle_s=0.1, term_s=0.1))
    end = await bench.turn("ignores the end")
    assert end.ended_by == "subject" and bench.exited()["signal"] == 9


async def test_text_that_is_no_unicode_is_kept(bench: Bench) -> None:
    end = await bench.turn("surrogate")
    assert end.text == "\ud800"
    (received,) = bench.journal.of("turn.received")
    assert bench.journal.raw(received) == b"\xed\xa0\x80"


def test_the_environment_of_our_programs_is_their_own_code_only() -> None:
    assert set(program_environment()) == {"PYTHONPATH"}
