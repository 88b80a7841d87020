"""Two series on the same cases: what makes it meaningless, what is decided, and what losses leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from gate_kit import series
from set_kit import DIGEST, case_of, comparison_of, experiment_of, outcome_of, plan_of

from oyer.adjudicate import Difference, SeriesSide, compare_series, derive_sets, incomparable
from oyer.records import Case, PlannedCase, Repeat, Rubric, Sequential, TrialSuite

OTHER = "sha256:" + "1" * 64
SAID = [{"id": "said", "text": "x", "rubric": "r"}]
RUBRIC = Rubric.model_validate(
    {"oyer": "Rubric@1", "id": "r", "criteria": [{"id": "c", "parts": [{"evaluator": "judge"}]}]}
)


def side(
    words: Mapping[str, Sequence[str]],
    *,
    subject: str = "s",
    series_id: str = "",
    cases: Mapping[str, Case] | None = None,
    family: tuple[str, ...] = (),
    **plan: Any,
) -> SeriesSide:
    """Build a series in which each case was judged as told; a status in the place of a word is a lost trial."""
    repeat = max(map(len, words.values()))
    made = plan_of(list(words), repeat, (subject,)).model_copy(
        update={"rubrics": {"r": DIGEST}, "evaluators": {"judge": DIGEST}, **plan}
    )
    told = [
        outcome_of(case, at, subject=subject, said=word)
        if word.isupper()
        else outcome_of(case, at, word, subject=subject)
        for case, each in words.items()
        for at, word in enumerate(each, 1)
    ]
    suite = TrialSuite.model_validate(
        {"oyer": "TrialSuite@1", "id": "x", "cases": [{"case": c} for c in words], "aggregate": {"family": family}}
    )
    known = cases or {name: case_of(name, claims=SAID) for name in words}
    return SeriesSide(series(made, told), known, {"r": RUBRIC}, subject, series_id or subject, suite)


def diff(first: SeriesSide, second: SeriesSide, **options: Any) -> Difference:
    assert incomparable(first, second) == ()
    return compare_series([(first, second)], seed=1, draws=2000, **options)


def words_of(found: Difference) -> list[str]:
    return [test.word for test in found.tests if test.decides]


ALL, NONE = ["PASS"] * 10, ["FAIL"] * 10


def test_worse_exits_with_one_and_better_with_none() -> None:
    worse, better = diff(side({"c": ALL}), side({"c": NONE})), diff(side({"c": NONE}), side({"c": ALL}))
    assert (words_of(worse), worse.exit_code) == (["worse"], 1)
    assert (words_of(better), better.exit_code) == (["better"], 0)


def test_the_same_again_decides_no_difference() -> None:
    found = diff(side({"c": ALL}), side({"c": ALL}))
    assert (words_of(found), found.exit_code) == (["no_difference_decided"], 0)


def test_losses_that_depend_on_the_side_are_not_decided() -> None:
    """What fails in the second series crashes instead: its decided trials all pass, and nothing is better."""
    half = ["PASS"] * 10 + ["FAIL"] * 10
    found = diff(side({"c": half}), side({"c": ["PASS"] * 10 + ["subject_error"] * 10}))
    assert (words_of(found), found.exit_code) == (["not_decided"], 5)
    assert found.rows[0].second.line == "20 planned = PASS 10 + undecided 10 (subject_error 10)"


def test_a_series_that_lost_everything_is_not_decided() -> None:
    found = diff(side({"c": ALL}), side({"c": ["harness_error"] * 10}))
    assert found.exit_code == 5


def test_more_harm_is_worse() -> None:
    def experiment(word: str) -> SeriesSide:
        plan = plan_of({"e": ("baseline", "manipulated")}, 8)
        return SeriesSide(
            series(plan, (), [comparison_of("e", word, n) for n in range(1, 9)]),
            {"e": experiment_of("e")},
            {},
            "s",
            word,
        )

    assert diff(experiment("NOT_OBSERVED"), experiment("CONFIRMED")).exit_code == 1
    found = diff(experiment("CONFIRMED"), experiment("NOT_OBSERVED"))
    assert (words_of(found), found.exit_code) == (["better"], 0)


def test_over_six_cases_there_is_one_test_and_each_case_keeps_its_counts() -> None:
    names = [f"c{n}" for n in range(8)]
    found = diff(side({name: ["PASS", "PASS"] for name in names}), side({name: ["PASS", "FAIL"] for name in names}))
    assert [test.contrast.method for test in found.tests if test.decides] == ["sign flips over cases"]
    assert (words_of(found), found.exit_code, len(found.rows)) == (["worse"], 1, 8)


def test_subjects_of_one_series_are_pairs_by_design_and_of_two_series_never() -> None:
    told = {"c": ["PASS"] * 9}, {"c": ["FAIL"] * 9}
    one = diff(side(told[0], subject="a", series_id="same"), side(told[1], subject="b", series_id="same"))
    assert one.tests[0].contrast.method == "exact McNemar, pairs by design"
    assert one.rows[0].sides.pairs == (0, 9, 0, 0)
    two = diff(side(told[0], subject="a"), side(told[1], subject="b"))
    assert two.tests[0].contrast.method == "two proportions, exact"
    assert two.rows[0].sides.pairs is None


def test_a_family_counts_only_where_both_declare_it() -> None:
    told = {"c": ALL, "d": NONE}, {"c": ALL, "d": ALL}
    both = diff(side(told[0], family=("c",)), side(told[1], family=("c",)))
    assert (both.family, words_of(both)) == (("c",), ["no_difference_decided"])
    one = diff(side(told[0], family=("c",)), side(told[1]))
    assert (one.family, sorted(words_of(one))) == (None, ["better", "no_difference_decided"])


def test_after_a_rule_that_stops_no_test_of_a_fixed_number_holds() -> None:
    rule = Sequential(test="bernoulli", of="verdict(c, said).PASS", p0=0.5, min=1, max=10)
    found = diff(side({"c": ALL}), side({"c": NONE}, repeat=Repeat(fixed=10, sequential=rule)))
    assert (words_of(found), found.exit_code) == (["not_decided"], 5)
    assert found.unfixed.startswith("the number of trials of the second series followed what they showed")


def moved(one: SeriesSide, name: str, **changes: Any) -> SeriesSide:
    cases = tuple(
        PlannedCase.model_validate({**case.model_dump(), **changes}) if case.id == name else case
        for case in one.given.plan.cases
    )
    return one._replace(given=one.given._replace(plan=one.given.plan.model_copy(update={"cases": cases})))


@pytest.mark.parametrize("change", [{"digest": OTHER}, {"world": OTHER}])
def test_a_case_that_moved_is_another_case(change: dict[str, str]) -> None:
    one = side({"c": ALL, "d": ALL})
    found = compare_series([(one, moved(one, "c", **change))], seed=1, draws=1000)
    assert found.cases == ("d",)
    (problem,) = incomparable(side({"c": ALL}), moved(side({"c": ALL}), "c", **change))
    assert problem.code == "E-DIFF-CASES"


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ({"rubrics": {"r": OTHER}}, "E-DIFF-RUBRIC"),
        ({"evaluators": {"judge": OTHER}}, "E-DIFF-EVALUATOR"),
        ({"forms": {"c": OTHER}}, "E-DIFF-FORM"),
        ({"rubrics": {}}, "E-DIFF-NOTHING"),
    ],
)
def test_what_was_asked_otherwise_makes_it_meaningless(plan: dict[str, Any], code: str) -> None:
    (problem,) = incomparable(side({"c": ALL}), side({"c": ALL}, **plan))
    assert problem.code == code


def test_only_the_named_case_is_asked_for() -> None:
    one, other = side({"c": ALL, "d": ALL}), side({"c": ALL, "d": NONE})
    assert [problem.code for problem in incomparable(one, other, ["x"])] == ["E-DIFF-CASES"]
    assert compare_series([(one, other)], seed=1, draws=1000, only=["c"]).cases == ("c",)


def test_a_set_with_another_control_is_left_out_with_the_reason() -> None:
    cases = {
        "t": case_of("t", "trap", claims=SAID, controls={"negative": ["n"], "positive": ["p"]}),
        "n": case_of("n", "negative_control", expected=[{"id": "x", "called": {"server": "s", "tool": "t"}}]),
        "p": case_of("p", "positive_control", claims=SAID),
    }

    def whole() -> SeriesSide:
        one = side({"t": ALL, "n": ALL, "p": ALL}, cases=cases)
        sets = list(derive_sets(one.given.plan, cases, one.given.outcomes, ()))
        return one._replace(given=one.given._replace(sets=sets))

    found = compare_series([(whole(), moved(whole(), "n", digest=OTHER))], seed=1, draws=1000)
    assert found.left_out == (("set(t)", "its control n is not the same case in both"),)
    assert "set(t)" in [row.asked.about for row in compare_series([(whole(), whole())], seed=1, draws=1000).rows]


def test_several_pairs_of_subjects_are_one_family() -> None:
    pair = (side({"c": ALL}), side({"c": NONE}))
    found = compare_series([pair, (side({"c": ALL}, subject="t"), side({"c": ALL}, subject="t"))], seed=1, draws=1000)
    assert {test.contrast.tests for test in found.tests} == {2}
    assert [row.first.subject for row in found.rows] == ["s", "t"]
    assert found.exit_code == 1
