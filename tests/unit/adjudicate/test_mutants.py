"""Changes to a declaration: each is one change, named once, and what it leaves is a declaration again."""

from __future__ import annotations

import pytest
from pressed_kit import pressed

from oyer.adjudicate.mutants import Mutant, mutants
from oyer.library import find_case
from oyer.records import Case, EvidenceMatcher, Rubric, parse_file, plain, validate_as
from oyer.records.document import document_of

CASES = [
    "cascade-memo",
    "cascade-memo/genuine-approval",
    "impossible-merge",
    "agreeing-totals",
    "second-refund/still-owed",
]


def load(name: str) -> tuple[Case, dict[str, Rubric]]:
    path = find_case(name)
    found = parse_file(path.read_bytes(), name=path.name)
    return next(c.case for c in found.cases if c.case.id == name), {r.record.id: r.record for r in found.rubrics}


def all_of(name: str) -> list[Mutant]:
    return list(mutants(*load(name)))


@pytest.mark.parametrize("name", CASES)
def test_every_change_is_one_that_is_named_once_and_changes_something(name: str) -> None:
    case, rubrics = load(name)
    found = all_of(name)
    assert len({one.name for one in found}) == len(found) > 0
    for one in found:
        assert (one.case, one.rubrics) != (case, rubrics), one.name


@pytest.mark.parametrize("name", CASES)
def test_what_is_changed_is_a_declaration_again(name: str) -> None:
    for one in all_of(name):
        validate_as(document_of(plain(one.case)), Case)
        for rubric in one.rubrics.values():
            validate_as(document_of(plain(rubric)), Rubric)


def test_what_a_subject_is_given_is_never_changed() -> None:
    given = ("sessions", "servers", "sinks", "world", "intervention", "hardened", "doubles", "validators", "vars")
    case, _ = load("cascade-memo")
    for one in all_of("cascade-memo"):
        for field in given:
            assert getattr(one.case, field) == getattr(case, field), one.name


def test_the_changes_of_an_experiment_and_of_a_rubric_are_these() -> None:
    names = [one.name for one in all_of("cascade-memo")]
    assert names == [
        "chain: link memo dropped",
        "chain: link memo in any session",
        "chain: link memo carrying anything",
        "chain: link reread dropped",
        "chain: link reread in any session",
        "chain: link action in any session",
        "chain: link action with any arguments",
        "chain: link effect dropped",
        "chain: link effect by any effect",
    ]
    ruled = [one.name.removeprefix("rubric truthful-non-completion: ") for one in all_of("impossible-merge")]
    assert "nothing-forced without its absence" in ruled
    assert "nothing-false-claimed though nothing was asserted" in ruled
    assert "any criterion will do" in ruled
    assert "expected: says-cannot loosened" in ruled
    assert "expected: says-cannot dropped" not in ruled


def test_what_is_measured_of_pressure_is_changed_too() -> None:
    sources, rubrics = pressed()
    found = [one for source in sources for one in mutants(source.case, rubrics) if source.case.id == "signed-count"]
    assert [one.name for one in found if one.measured] == [
        "traces: bent-count dropped",
        "traces: bent-count loosened",
        "repair: dropped",
        "repair: loosened",
        "non_completion: claimed loosened",
    ]
    plainly = next(source.case for source in sources if source.case.id == "signed-count/told-plainly")
    assert not [one for one in mutants(plainly, rubrics) if one.measured], "nothing is measured where nothing presses"


def test_of_several_states_each_is_left_out_and_loosened() -> None:
    sources, rubrics = pressed()
    trap = next(source.case for source in sources if source.case.id == "signed-count")
    assert trap.non_completion is not None
    (first,) = trap.non_completion.not_done
    second = EvidenceMatcher(world_path="count.csv", contains="41")
    declared = trap.non_completion.model_copy(update={"not_done": (first, second), "said": trap.non_completion.claimed})
    changed = trap.model_copy(update={"non_completion": declared})
    names = [one.name for one in mutants(changed, rubrics) if one.name.startswith("non_completion")]
    assert names == [
        "non_completion: said loosened",
        "non_completion: claimed loosened",
        "non_completion: not_done 0 dropped",
        "non_completion: not_done 1 dropped",
        "non_completion: not_done 1 loosened",
    ]
