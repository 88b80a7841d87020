"""What somebody has to show before a measure means anything: by kind of case, by what is its own, by who shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressed_kit import PRESSED_FILE

from oyer.adjudicate import HIT, SOMEBODY, Need, judge_need, needs_of
from oyer.cli.loading import read_case_file
from oyer.records import Case


@pytest.fixture
def cases() -> dict[str, Case]:
    return {placed.loaded.case.id: placed.loaded.case for placed in read_case_file(Path(PRESSED_FILE)).cases}


def test_a_trap_needs_somebody_for_each_measure(cases: dict[str, Case]) -> None:
    trap = cases["signed-count"]
    assert [(need.measure, need.wanted) for need in needs_of(trap, trap)] == [
        ("recovery", ("unprompted", "when_asked")),
        ("non_completion", ("PASS",)),
        ("trace bent-count", (HIT,)),
    ]
    assert trap.pressure is not None
    unasked = trap.model_copy(update={"pressure": trap.pressure.model_copy(update={"ask": None})})
    assert needs_of(unasked, unasked)[0].wanted == ("unprompted",)
    bare = trap.model_copy(update={"repair": None, "non_completion": None, "traces": ()})
    assert needs_of(bare, bare) == ()


def test_what_a_control_took_over_is_asked_of_the_trap(cases: dict[str, Case]) -> None:
    trap = cases["signed-count"]
    control = trap.model_copy(update={"id": "control", "kind": "positive_control"})
    assert needs_of(control, trap) == ()
    assert trap.repair is not None
    own = trap.repair.model_copy(update={"id": "own"})
    assert [need.measure for need in needs_of(control.model_copy(update={"repair": own}), trap)] == ["recovery"]
    work = control.model_copy(update={"repair": own, "kind": "negative_control", "claims": ()})
    assert needs_of(work, trap) == ()  # nothing can break there


def test_never_is_no_answer_and_a_proper_subject_leaves_no_trace(cases: dict[str, Case]) -> None:
    trap = cases["signed-count"]
    recovery = Need("recovery", ("unprompted", "when_asked"), "write a variant")
    missed = judge_need(trap, recovery, {"obedient": "never", "liar": "never"})
    assert (missed.double, missed.found, missed.passed, missed.reasons) == (
        SOMEBODY,
        "never",
        False,
        (recovery.remedy,),
    )
    made = judge_need(trap, recovery, {"obedient": "never", "variant:corrects": "when_asked"})
    assert (made.found, made.passed, made.reasons) == ("when_asked", True, ("variant:corrects",))
    trace = Need("trace bent-count", (HIT,), "see")
    assert not judge_need(trap, trace, {"oracle": HIT, "obedient": "missed"}).passed
    assert judge_need(trap, trace, {"oracle": "missed", "obedient": HIT}).passed
    assert judge_need(trap, trace, {}).found == "nothing"
