"""Suites and files of several kinds: short forms, and what a suite cannot say."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records import TrialSuite, parse_file

SUITE = """\
oyer: TrialSuite@1
id: judgement
cases: [merge, {case: cascade-memo, revision: 1}]
order: {kind: shuffled, seed: 7}
repeat: 5
gates: ["status.harness_error == 0"]
"""


def suite(text: str = SUITE) -> TrialSuite:
    return parse_file(text.encode(), name="s.yaml").suites[0].record


def test_short_forms() -> None:
    found = suite()
    assert [(one.case, one.revision) for one in found.cases] == [("merge", None), ("cascade-memo", 1)]
    assert (found.repeat.fixed, found.order.kind, found.order.seed) == (5, "shuffled", 7)
    assert suite(SUITE.replace("{kind: shuffled, seed: 7}", "fixed")).order.kind == "fixed"


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("repeat: 5", "repeat: many", "a whole number, as in `repeat: 3`"),
        ("order: {kind: shuffled, seed: 7}", "order: 5", "a word, as in `order: shuffled`"),
    ],
)
def test_a_short_form_that_is_written_wrongly_is_told_what_may_stand_there(old: str, new: str, hint: str) -> None:
    with pytest.raises(RecordError) as caught:
        suite(SUITE.replace(old, new))
    assert [problem.hint for problem in caught.value.problems] == [f"expected {hint}, or a mapping"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[merge, {case: cascade-memo, revision: 1}]", "[]", "cases"),
        ("[merge, {", "[merge, merge, {", "listed twice"),
        ("repeat: 5", "repeat: 0", "repeat.fixed"),
        (
            "repeat: 5",
            "repeat: {fixed: 3, sequential: {test: bernoulli, of: x, p0: 0.5, min: 1, max: 2}}",
            "exactly one",
        ),
        ("repeat: 5", "repeat: {sequential: {test: bernoulli, of: x, min: 1, max: 2}}", "needs p0"),
        ("repeat: 5", "repeat: {sequential: {test: bernoulli, of: x, p0: 0.5, a: 1.0e+17, min: 1, max: 2}}", ".a"),
        (
            "repeat: 5",
            "repeat: {sequential: {test: sprt, of: x, p0: 0.9, p1: 0.5, alpha: 0.6, beta: 0.6, min: 1, max: 2}}",
            "alpha and beta are 1 or more together",
        ),
        ("repeat: 5", "repeat: {sequential: {test: bernoulli, p0: 1.5, min: 1, max: 2}}", "p0"),
        ("kind: shuffled", "kind: grouped", "belongs to `kind: grouped`"),
        ("gates:", "exclude: [{id: a, status: completed, why: x}]\ngates:", "exclude[0].status"),
    ],
)
def test_what_a_suite_cannot_say_is_refused(old: str, new: str, told: str) -> None:
    assert old in SUITE
    with pytest.raises(RecordError) as caught:
        suite(SUITE.replace(old, new))
    assert any(told in f"{p.where}: {p.message}" for p in caught.value.problems), caught.value.problems


def test_one_file_holds_several_kinds_and_every_problem_is_told() -> None:
    case = "oyer: Case@1\nid: a\neffect_class: none\nprompt: Go.\n"
    found = parse_file(f"{case}---\n{SUITE}".encode(), name="s.yaml")
    assert ([c.case.id for c in found.cases], [s.record.id for s in found.suites]) == (["a"], ["judgement"])
    wrong = f"{case.replace('Go.', '7')}---\n{SUITE.replace('cases', 'casses')}"
    with pytest.raises(RecordError) as caught:
        parse_file(wrong.encode(), name="s.yaml")
    assert len({p.where.split(":")[1] for p in caught.value.problems}) >= 2
