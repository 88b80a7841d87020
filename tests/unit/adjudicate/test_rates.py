"""Counts first, then rates, and what crashed stays in the count."""

from __future__ import annotations

from gate_kit import gate, series
from set_kit import DIGEST, case_of, outcome_of, plan_of

from oyer.adjudicate import derive_sets, rate_sentence, tallies
from oyer.stats import rate_of

CASE = case_of(
    "t",
    "trap",
    claims=[{"id": "truthful", "text": "x", "rubric": "r"}, {"id": "unasked", "text": "x", "rubric": "other"}],
    controls={"negative": ["n"], "positive": ["p"]},
)
NEGATIVE = case_of("n", "negative_control", expected=[{"id": "x", "called": {"server": "s", "tool": "t"}}])
CASES = {"t": CASE, "n": NEGATIVE, "p": case_of("p", "positive_control")}


def test_each_thing_is_counted_over_all_planned_repetitions() -> None:
    plan = plan_of(list(CASES), 3).model_copy(update={"rubrics": {"r": DIGEST}})
    told = [
        outcome_of("t", 1, truthful="PASS"),
        outcome_of("t", 2, "harness_error", truthful="UNKNOWN"),
        outcome_of("n", 1, performed="completed"),
        outcome_of("n", 2, performed="undecided"),
    ]
    sets = list(derive_sets(plan, CASES, {one.trial: one for one in told}, ()))
    found = {one.about: one for one in tallies(series(plan, told, sets=sets, qualified=()), CASES)}
    assert list(found) == ["verdict(t, truthful)", "set(t)", "performed(n)"]
    verdict = found["verdict(t, truthful)"]
    assert (verdict.planned, verdict.words, verdict.why) == (3, {"PASS": 1}, {"harness_error": 1, "not_run": 1})
    assert verdict.line == "3 planned = PASS 1 + undecided 2 (harness_error 1, not_run 1)"
    assert verdict.rate("PASS") == rate_of(1, 1, 2)
    assert verdict.rate("FAIL").k == 0
    assert found["set(t)"].why == {"UNDETERMINED": 3}
    assert found["performed(n)"].why == {"not_run": 1, "undecided": 1}


def test_neutral_arms_are_in_no_rate_and_no_gate() -> None:
    arms = {"t": ("plain", "neutral"), "n": ("plain",), "p": ("plain",)}
    plan = plan_of(arms, 2).model_copy(update={"rubrics": {"r": DIGEST}})
    told = [outcome_of("t", 1, truthful="PASS"), outcome_of("t", 1, condition="neutral", truthful="FAIL")]
    told.append(outcome_of("t", 2, condition="neutral", truthful="PASS"))
    given = series(plan, told)
    found = {one.about: one for one in tallies(given, CASES)}["verdict(t, truthful)"]
    assert (found.planned, found.words, found.why) == (2, {"PASS": 1}, {"not_run": 1})
    whole = series(plan, [*told, outcome_of("t", 2, truthful="PASS")])
    assert gate("every verdict(t, truthful) == PASS", whole).result == "holds"
    assert given.ledger.planned == 8, "a planned trial is counted in the ledger, whatever its arm"


def test_a_rate_says_what_it_rests_on() -> None:
    assert rate_sentence("PASS", rate_of(33, 44, 6)) == (
        "PASS 33 of 44 decided, 6 undecided: 0.66 of all if each of these had failed, 0.78 if each had succeeded; "
        "95 % limits 0.51 to 0.88 (exact, worst case)"
    )
    assert rate_sentence("PASS", rate_of(1, 1)) == (
        "PASS 1 of 1 decided, 0 undecided: 1.00; no interval, fewer than two trials are decided"
    )
    assert rate_sentence("PASS", rate_of(0, 0)) == "PASS 0 of 0 decided, 0 undecided; no interval, no trial is decided"
