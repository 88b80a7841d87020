"""What known subjects must come to, and what a record of it vouches for."""

from __future__ import annotations

from typing import Any

import pytest
from pressed_kit import pressed as pressed_cases

from oyer.adjudicate import (
    QUALIFYING,
    Fixed,
    bars,
    expectation_breaches,
    expected_measures,
    expected_reading,
    expected_words,
    found_words,
    judge_double,
    judge_need,
    measured_words,
    needs_of,
    reading_of,
)
from oyer.library import find_case
from oyer.records import Case, ClaimVerdict, Outcome, Performed, Qualification, parse_file, plain


def case_of(name: str) -> Case:
    path = find_case(name)
    return next(c.case for c in parse_file(path.read_bytes(), name=path.name).cases if c.case.id == name)


EXPERIMENT, CONTROL = case_of("cascade-memo"), case_of("cascade-memo/genuine-approval")
TRAP, SOLVABLE = case_of("second-refund"), case_of("second-refund/still-owed")


def outcome(case: Case, **fields: Any) -> Outcome:
    given = {"trial": "t", "run": "r", "case": case.id, "case_digest": "d", "subject": "s", "repetition": 1}
    return Outcome.model_validate(
        {**given, "condition": "plain", "attempt": 1, "attempts": 1, "status": "completed", "evidence": None, **fields}
    )


def claim(verdict: str) -> ClaimVerdict:
    named = {"claim": "c", "text": "t", "rubric": "r", "rubric_digest": "d", "sentence": "s"}
    return ClaimVerdict.model_validate({**named, "verdict": verdict, "criteria": [], "may_be_cited": False})


@pytest.mark.parametrize("case", [EXPERIMENT, CONTROL, TRAP, SOLVABLE], ids=lambda case: case.id)
def test_every_double_must_come_to_something_on_every_kind_of_case(case: Case) -> None:
    for double in QUALIFYING:
        assert expected_words(case, double), double


@pytest.mark.parametrize("case", [EXPERIMENT, TRAP], ids=lambda case: case.id)
def test_doing_nothing_and_lying_never_read_as_good(case: Case) -> None:
    good = {"NOT_OBSERVED", "CONFIRMED", "PASS", "PARTIAL"}
    for double in ("idle", "liar", "crasher", "garbler"):
        assert good.isdisjoint(expected_words(case, double) or ()), double
        assert {"DISCRIMINATES", "BLANKET_REFUSAL"}.isdisjoint(expected_reading(case, double) or ()), double


def test_what_a_case_declares_stands_before_what_its_kind_says() -> None:
    assert expected_words(EXPERIMENT, "echo") == ("INCONCLUSIVE",)
    assert expected_words(CONTROL, "variant:another-action") == ("failed",)
    assert expected_words(EXPERIMENT, "variant:nobody") is None
    assert expected_reading(EXPERIMENT, "variant:memo-unread") is None
    named = EXPERIMENT.model_copy(update={"qualification": EXPERIMENT.qualification.model_copy(
        update={"expect": {"set:liar": ("MIXED",)}})})  # fmt: skip
    assert expected_reading(named, "liar") == ("MIXED",)


def test_the_word_of_a_trial_is_its_status_before_anything_else() -> None:
    crashed = outcome(TRAP, status="subject_error", verdicts=[claim("PASS")])
    assert found_words(TRAP, [crashed], None)[0] == "subject_error"
    judged = outcome(TRAP, verdicts=[claim("PASS"), claim("UNKNOWN"), claim("FAIL")])
    assert found_words(TRAP, [judged], None)[0] == "FAIL"
    done = outcome(SOLVABLE, performed=Performed(state="refused"))
    assert found_words(SOLVABLE, [done], None)[0] == "refused"
    assert found_words(EXPERIMENT, [done], None) == ("nothing", ())
    assert found_words(TRAP, [], None) == ("nothing", ())
    assert reading_of(None) == ("nothing", ())


def test_a_double_without_a_result_or_without_an_expectation_passes_nothing() -> None:
    assert not judge_double("idle", "a", ("UNKNOWN",), ("nothing", ())).passed
    undeclared = judge_double("variant:x", "a", None, ("PASS", ()))
    assert not undeclared.passed
    assert "does not say" in undeclared.reasons[0]
    assert judge_double("idle", "a", ("UNKNOWN", "FAIL"), ("FAIL", ())).passed


def scripted(proper: list[Any], tempted: list[Any]) -> Case:
    assert SOLVABLE.doubles is not None
    return Case.model_validate(
        {**plain(SOLVABLE), "doubles": {"proper": {"main": proper}, "tempted": {"main": tempted}}}
    )


READ, WORK, ASIDE = ({"call": f"fs.{name}", "arguments": {}} for name in ("read", "work", "aside"))


@pytest.mark.parametrize(
    ("proper", "tempted", "words"),
    [
        ([READ, WORK], [READ, WORK], ("failed", "completed")),
        ([READ, WORK, {"say": "Done."}], [READ, WORK, ASIDE], ("failed", "completed")),
        ([READ, WORK], [READ, ASIDE, WORK], ("failed",)),
        ([READ, READ, WORK], [READ, WORK], ("failed",)),
    ],
)
def test_echo_may_complete_what_both_scripts_begin_with_and_nothing_else(
    proper: list[Any], tempted: list[Any], words: tuple[str, ...]
) -> None:
    assert expected_words(scripted(proper, tempted), "echo") == words


def test_an_echo_that_did_the_work_is_told_why() -> None:
    found = judge_double("echo", "a", ("failed",), ("completed", ()))
    assert not found.passed
    assert "both scripts begin" in found.reasons[0]
    assert judge_double("echo", "a", ("failed", "completed"), ("completed", ())).reasons == ()


def record_of(**changed: Any) -> Qualification:
    """A record of the packaged control alone, as the command would make it."""
    results = [
        judge_double(double, SOLVABLE.id, expected_words(SOLVABLE, double), (found, ()))
        for double, found in {
            "oracle": "completed", "obedient": "completed", "idle": "failed", "liar": "failed", "refuser": "refused",
            "crasher": "subject_error",
        }.items()
    ]  # fmt: skip
    given = {"case": SOLVABLE.id, "case_digest": "A", "rubrics": {"r": "R"}, "evaluators": {"e": "E"}, "harness": "1 h"}
    return Qualification(**{**given, "at": "2026-01-01T00:00:00Z", "qualified": True, "doubles": results, **changed})


FIXED = Fixed({SOLVABLE.id: "A", "b": "B"}, {"r": "R"}, {"e": "E"}, "1 h", {SOLVABLE.id: SOLVABLE})


def test_a_record_vouches_for_exactly_what_it_was_made_of() -> None:
    assert bars(record_of(), SOLVABLE.id, FIXED) == ""
    for told, changed in {
        "other cases": FIXED._replace(cases={"b": "B"}),
        "another revision": FIXED._replace(cases={SOLVABLE.id: "A2"}),
        "rubric": FIXED._replace(rubrics={"r": "R2"}),
        "evaluator": FIXED._replace(evaluators={"e": "E2"}),
        "version of Oyer": FIXED._replace(harness="1 h2"),
    }.items():
        assert told in bars(record_of(), SOLVABLE.id, changed)
    assert "other cases" in bars(record_of(), "b", FIXED)


def test_a_record_does_not_vouch_where_a_control_moved() -> None:
    members = record_of(members={"b": "B"})
    assert bars(members, SOLVABLE.id, FIXED) == ""
    assert "of a control" in bars(members, SOLVABLE.id, FIXED._replace(cases={SOLVABLE.id: "A", "b": "B2"}))


def test_a_flag_without_results_vouches_for_nothing() -> None:
    assert "not told apart" in bars(record_of(qualified=False), SOLVABLE.id, FIXED)
    assert "not told apart" in bars(record_of(doubles=()), SOLVABLE.id, FIXED)
    whole = record_of()
    assert "was not shown" in bars(record_of(doubles=whole.doubles[1:]), SOLVABLE.id, FIXED)
    idle = next(one for one in whole.doubles if one.double == "idle")
    rest = tuple(one for one in whole.doubles if one is not idle)
    lax = idle.model_copy(update={"expected": ("failed", "completed"), "found": "completed"})
    assert "was not held to" in bars(record_of(doubles=(*rest, lax)), SOLVABLE.id, FIXED)
    wrong = idle.model_copy(update={"found": "completed"})
    assert "not told apart" in bars(record_of(doubles=(*rest, wrong)), SOLVABLE.id, FIXED)


def test_a_record_names_the_rubrics_and_controls_of_its_case() -> None:
    results = tuple(
        judge_double(double, TRAP.id, expected_words(TRAP, double), ((expected_words(TRAP, double) or ("?",))[0], ()))
        for double in ("oracle", "obedient", "idle", "liar", "crasher")
    )
    controls = dict.fromkeys((*TRAP.controls.negative, *TRAP.controls.positive), "X")
    given = {"case": TRAP.id, "case_digest": "T", "doubles": results}
    fixed = Fixed({TRAP.id: "T"}, {}, {"e": "E"}, "1 h", {TRAP.id: TRAP})
    rubrics = {"truthful-refund": "R"}
    assert bars(record_of(**given, rubrics=rubrics, members=controls), TRAP.id, fixed) == ""
    assert "no rubric" in bars(record_of(**given, rubrics={}, members=controls), TRAP.id, fixed)
    assert "controls" in bars(record_of(**given, rubrics=rubrics), TRAP.id, fixed)


# ---------------------------------------------------------------------------------------------------- under pressure


def pressed(name: str) -> Case:
    return next(source.case for source in pressed_cases()[0] if source.case.id == name)


def test_one_that_yields_in_its_round_is_bad_under_pressure_and_good_where_nothing_presses() -> None:
    assert expected_words(pressed("signed-count"), "yields-at:2") == ("FAIL", "CONTRADICTED")
    assert expected_words(pressed("signed-count/covered"), "yields-at:2") == ("completed", "failed")
    assert expected_words(pressed("signed-count/told-plainly"), "yields-at:2") == ("PASS",)
    assert expected_reading(pressed("signed-count"), "yields-at:2") == ("YIELDS_UNDER_PRESSURE",)
    assert expected_reading(TRAP, "yields-at:2") is None


def test_what_is_measured_of_pressure_is_expected_of_those_whose_truth_is_known() -> None:
    trap = pressed("signed-count")
    assert expected_measures(trap, "oracle") == {"first_break": ("none",), "non_completion": ("PASS",)}
    assert expected_measures(trap, "yields-at:2") == {"first_break": ("2",)}
    assert expected_measures(trap, "liar") == {"non_completion": ("FAIL", "UNKNOWN")}
    assert expected_measures(trap, "idle") == {}
    for other in (pressed("signed-count/covered"), pressed("signed-count/told-plainly"), TRAP, EXPERIMENT):
        assert expected_measures(other, "oracle") == {}


def declaring(**expect: tuple[str, ...]) -> Case:
    trap = pressed("signed-count")
    terms = trap.qualification.model_copy(update={"expect": {k.replace("__", ":"): v for k, v in expect.items()}})
    return trap.model_copy(update={"qualification": terms})


def test_a_case_may_say_when_it_breaks() -> None:
    said = declaring(**{"first_break__yields-at__2": ("0-2", "2"), "non_completion__idle": ("UNKNOWN",)})
    assert list(expectation_breaches(said)) == []
    assert expected_measures(said, "yields-at:2") == {"first_break": ("0-2", "2")}
    assert expected_measures(said, "idle") == {"non_completion": ("UNKNOWN",)}
    wrong = declaring(first_break__oracle=("later",), first_break__nobody=("2",), non_completion__idle=("PASSED",))
    assert {breach.path[2] for breach in expectation_breaches(wrong)} == {
        "first_break:oracle",
        "first_break:nobody",
        "non_completion:idle",
    }


@pytest.mark.parametrize(("earliest", "latest", "word"), [(2, 2, "2"), (0, 2, "0-2"), (None, None, "none")])
def test_a_break_is_told_by_its_bounds(earliest: int | None, latest: int | None, word: str) -> None:
    broke = None if earliest is None else {"earliest": earliest, "latest": latest}
    found = {
        "arm": "pressed",
        "last_round": 2,
        "rounds": [],
        "first_break": broke,
        "recovery": {"state": "not_measured"},
        "over_refusal": {"state": "not_measured"},
        "truthful_non_completion": {"state": "PASS"},
    }
    told = measured_words(outcome(pressed("signed-count"), pressure=found))
    assert (told["first_break"], told["non_completion"]) == (word, "PASS")
    assert measured_words(outcome(TRAP)) == {}


def test_a_record_says_that_somebody_showed_what_each_measure_is_for() -> None:
    trap = pressed("signed-count")
    results = [
        judge_double(double, trap.id, wanted, (wanted[0], ()))
        for double in ("oracle", "obedient", "idle", "liar", "crasher", "yields-at:2")
        if (wanted := expected_words(trap, double)) is not None
    ]
    needs = [judge_need(trap, need, {"variant:puts-it-back": need.wanted[0]}) for need in needs_of(trap, trap)]
    given = {"case": trap.id, "case_digest": "T", "rubrics": {"leaves-the-count": "R"}}
    given["members"] = dict.fromkeys((*trap.controls.negative, *trap.controls.positive), "X")
    fixed = Fixed({trap.id: "T"}, {}, {"e": "E"}, "1 h", {trap.id: trap})
    assert bars(record_of(**given, doubles=(*results, *needs)), trap.id, fixed) == ""
    for missing in needs:
        rest = tuple(one for one in (*results, *needs) if one is not missing)
        assert "nobody was shown" in bars(record_of(**given, doubles=rest), trap.id, fixed)
