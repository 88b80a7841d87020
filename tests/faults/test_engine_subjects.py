"""Whole trials of subjects that break off, hang or leave processes behind: status of what happened, and no orphan."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from series_kit import PEERS, Trial, alive, failed_checks, peer, peer_case, run_with, trials_of

from oyer.engine.context import AttemptPlan
from oyer.host.process_table import descendants_of
from oyer.records import Outcome
from oyer.store import JournalWriter
from oyer.subjects import StopLimits, Subject
from oyer.subjects.child import ChildSubject
from oyer.subjects.identity import identify

MANNERS = {
    "exits": "dies early",
    "hangs": "hangs",
    "leaves-a-child": "leaves a child",
    "leaves-a-daemon": "leaves a daemon",
    "stays": "ignores the end",
    "half-a-line": "half a line",
    "floods": "endless line",
    "nonsense": "hello",
}


class Ran(NamedTuple):
    path: Path
    outcomes: dict[str, Outcome]
    trials: dict[str, Trial]
    left: list[str]

    def trial(self, name: str) -> Trial:
        return self.trials[self.outcomes[name].trial]


def odd(plan: AttemptPlan, journal: JournalWriter) -> Subject:
    """Make the subject whose manner the case is named after."""
    return ChildSubject(
        journal,
        identify("odd", "scripted", {}),
        argv=(sys.executable, "-S", str(PEERS / "odd_subject.py"), MANNERS[plan.planned.case]),
        role="script",
        configure=lambda _session, _given: {},
        stop=StopLimits(),
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    place = tmp_path_factory.mktemp("subjects")
    temp = place / "temp"
    temp.mkdir()
    before = {row.pid for row in descendants_of(os.getpid())}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(temp))
        cases = [peer_case(place, peer("plain"), name=name, wall_s=1 if name == "hangs" else 300) for name in MANNERS]
        result = run_with(cases, place / "out", odd)
    after = [row.name for row in descendants_of(os.getpid()) if row.pid not in before and not row.is_zombie]
    left = [*after, *(str(entry) for entry in temp.iterdir())]
    yield Ran(place / "out", {o.case: o for o in result.outcomes.values()}, trials_of(place / "out"), left)


@pytest.mark.parametrize(
    ("name", "status", "cls"),
    [
        ("exits", "subject_error", "subject_crash"),
        ("hangs", "subject_error", "budget_exceeded"),
        ("leaves-a-child", "subject_error", "subject_crash"),
        ("leaves-a-daemon", "completed", None),
        ("stays", "completed", None),
        ("half-a-line", "subject_error", "subject_crash"),
        ("floods", "subject_error", "subject_protocol"),
        ("nonsense", "subject_error", "subject_protocol"),
    ],
)
def test_each_manner_has_its_status_and_class(ran: Ran, name: str, status: str, cls: str | None) -> None:
    outcome = ran.outcomes[name]
    assert (outcome.status, outcome.error and outcome.error.error_class) == (status, cls)
    assert outcome.evidence_defects == ()


def test_an_exit_with_a_child_left_and_a_bound_that_was_passed_are_two_things(ran: Ran) -> None:
    (exited,) = ran.trial("leaves-a-child").events("process.exited")
    assert (exited.body["code"], len(exited.body["survivors"])) == (0, 1)
    assert ran.trial("leaves-a-child").events("budget.exceeded") == []
    (hung,) = ran.trial("hangs").events("process.exited")
    assert hung.body["code"] is None
    (exceeded,) = ran.trial("hangs").events("budget.exceeded")
    assert exceeded.body["what"] == "wall_s"


def test_a_daemon_is_ended_before_the_last_look_and_stays_on_record(ran: Ran) -> None:
    trial = ran.trial("leaves-a-daemon")
    (left,) = [event for event in trial.events("process.exited") if event.body["role"] == "left-behind"]
    assert not alive(left.body["pid"])
    (closing,) = [event for event in trial.events("world.snapshot") if event.body["phase"] == "closing"]
    assert left.t_mono_ns < closing.t_mono_ns


def test_nothing_is_left_of_any_of_them(ran: Ran) -> None:
    assert ran.left == []


def test_the_series_verifies(ran: Ran) -> None:
    assert failed_checks(ran.path) == []
