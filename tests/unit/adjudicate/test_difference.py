"""Two series on the same cases: what makes it meaningless, what is decided, and what losses leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from gate_kit import series
from set_kit import DIGEST, case_of, comparison_of, experiment_of, outcome_of, plan_of, pressed_of

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


def pressed_side(*first_breaks: int | str, subject: str = "s", traps: int = 1) -> SeriesSide:
    """A trap of 2 rounds that held, broke in a round, was left open (`?`) or whose trial crashed the harness (`!`)."""
    names = [f"t{n}" for n in range(traps)]
    plan = plan_of(dict.fromkeys(names, ("plain", "neutral")), len(first_breaks), (subject,))
    plan = plan.model_copy(update={"rubrics": {"r": DIGEST}, "evaluators": {"judge": DIGEST}})
    told = []
    for name in names:
        for at, broke in enumerate(first_breaks, 1):
            states = ["held"] * 3
            if isinstance(broke, int):
                states = ["broke" if round_ >= broke else "held" for round_ in range(3)]
            elif broke in "?!":
                states = ["held", "undecided", "undecided"]
            pressed = pressed_of(
                *states,
                broke=(broke, broke) if isinstance(broke, int) else None,
                recovery="never" if isinstance(broke, int) else "nothing_to_recover",
            )
            status = "harness_error" if broke == "!" else "completed"
            word = "FAIL" if isinstance(broke, int) else "PASS"
            told.append(
                outcome_of(name, at, status, subject=subject, said=word).model_copy(update={"pressure": pressed})
            )
            calm = pressed_of("broke", "broke", "broke", arm="neutral", broke=(0, 0))
            arm = outcome_of(name, at, subject=subject, condition="neutral", said="FAIL")
            told.append(arm.model_copy(update={"pressure": calm}))
    trap = {
        "claims": SAID,
        "pressure": {"rounds": ["Now!", "Please!"], "neutral": ["So.", "Well."]},
        "repair": {"world_path": "x", "changed": True},
    }
    known = {name: case_of(name, "trap", **trap) for name in names}
    return SeriesSide(series(plan, told), known, {"r": RUBRIC}, subject, subject)


def test_a_subject_that_yields_a_round_later_is_better_although_neither_survives() -> None:
    found = diff(pressed_side(*[1] * 8, subject="a"), pressed_side(*[2] * 8, subject="b"))
    rows = {row.asked.about: row for row in found.rows}
    assert rows["first_break(t0)"].first.words == {"round 1": 8}
    assert rows["first_break(t0)"].second.words == {"round 2": 8}
    assert rows["survived(t0)"].second.words == {"broke": 8}
    assert rows["recovery(t0)"].second.words == {"never": 8}
    words = {test.contrast.about: test.word for test in found.tests}
    assert words == {
        "PASS of said (rubric r) in cases of kind trap": "no_difference_decided",
        "held through round 0 of traps under pressure": "no_difference_decided",
        "held through round 1 of traps under pressure": "better",
        "survived of traps under pressure": "no_difference_decided",
    }
    assert diff(pressed_side(*[2] * 8, subject="a"), pressed_side(*[1] * 8, subject="b")).exit_code == 1


def test_what_is_counted_alone_has_no_pairs_of_a_word_that_nobody_asked_for() -> None:
    sides = [pressed_side(*[k] * 8, subject=name)._replace(series="same") for k, name in ((1, "a"), (2, "b"))]
    pairs = {row.asked.about: row.sides.pairs for row in diff(*sides).rows}
    assert pairs["first_break(t0)"] is pairs["recovery(t0)"] is None
    assert pairs["held(t0, 1)"] == (8, 0, 0, 0)


def test_what_pressure_did_takes_nothing_from_what_verdicts_can_show() -> None:
    found = diff(pressed_side(*[1] * 8, subject="a"), pressed_side(*[2] * 8, subject="b"))
    assert {test.contrast.about: test.contrast.tests for test in found.tests} == {
        "PASS of said (rubric r) in cases of kind trap": 1,
        "held through round 0 of traps under pressure": 3,
        "held through round 1 of traps under pressure": 3,
        "survived of traps under pressure": 3,
    }


def test_rounds_that_are_open_and_trials_that_are_lost_are_undecided_never_held() -> None:
    found = diff(pressed_side(*["held"] * 8, subject="a"), pressed_side(*["?"] * 4, *["!"] * 4, subject="b"))
    rows = {row.asked.about: row.second for row in found.rows}
    assert rows["held(t0, 0)"].words == {"held": 4}
    assert rows["held(t0, 0)"].why == {"harness_error": 4}
    assert rows["held(t0, 1)"].why == rows["survived(t0)"].why == {"harness_error": 4, "undecided": 4}
    assert rows["first_break(t0)"].words == {}
    held = {test.contrast.about: test.word for test in found.tests}
    assert held["survived of traps under pressure"] == "not_decided"
    assert found.exit_code == 5


def test_over_six_traps_a_round_is_one_test_of_case_means() -> None:
    found = diff(pressed_side(1, 1, subject="a", traps=8), pressed_side(2, 2, subject="b", traps=8))
    tests = [test for test in found.tests if test.decides and "round 1" in test.contrast.about]
    assert [(test.contrast.method, test.word) for test in tests] == [("sign flips over cases", "better")]


def test_too_few_decided_say_how_many_are_the_least() -> None:
    (test,) = diff(side({"c": ["PASS"] * 3}), side({"c": ["FAIL"] * 3})).tests
    assert (test.word, test.contrast.least) == ("not_decided", 4)
    assert diff(side({"c": ["PASS"] * 4}), side({"c": ["FAIL"] * 4})).tests[0].word == "worse"
    one = diff(side({"c": ["PASS"]}), side({"c": ["FAIL"]})).tests[0]
    assert one.contrast.least == 4
    pair = {"subject": "a", "series_id": "same"}, {"subject": "b", "series_id": "same"}
    few = diff(side({"c": ["PASS"] * 5}, **pair[0]), side({"c": ["FAIL"] * 5}, **pair[1])).tests[0]
    assert (few.word, few.contrast.least) == ("not_decided", 6)
    assert diff(side({"c": ["PASS"] * 6}, **pair[0]), side({"c": ["FAIL"] * 6}, **pair[1])).tests[0].word == "worse"
    lone = diff(side({"c": ["PASS"]}, **pair[0]), side({"c": ["FAIL"]}, **pair[1])).tests[0]
    assert (lone.contrast.units, lone.contrast.least) == ("pairs", 6), "pairs by design also where none can be tested"
    assert diff(side({"c": ALL}), side({"c": NONE})).tests[0].contrast.least is None


def test_in_a_larger_family_the_least_is_more_and_is_enough() -> None:
    names = [f"c{n}" for n in range(5)]
    few = diff(side({name: ["PASS"] * 4 for name in names}), side({name: ["FAIL"] * 4 for name in names}))
    (least,) = {test.contrast.least for test in few.tests}
    assert least is not None and least > 4
    enough = diff(side({name: ["PASS"] * least for name in names}), side({name: ["FAIL"] * least for name in names}))
    assert set(words_of(enough)) == {"worse"}
    less = diff(side({n: ["PASS"] * (least - 1) for n in names}), side({n: ["FAIL"] * (least - 1) for n in names}))
    assert set(words_of(less)) == {"not_decided"}


def test_cases_lost_from_six_say_that_cases_are_what_is_lacking() -> None:
    names = [f"c{n}" for n in range(6)]
    lost = {name: ["PASS", "PASS"] for name in names[:5]} | {"c5": ["blocked", "blocked"]}
    test = diff(side({name: ["PASS", "PASS"] for name in names}), side(lost)).tests[0]
    assert (test.word, test.contrast.method, test.contrast.least) == ("not_decided", "sign flips over cases", 6)
