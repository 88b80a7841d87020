"""What gates come to: three values, exit codes, and what each rests on."""

from __future__ import annotations

import pytest
from evidence_kit import make_case
from gate_kit import gate, performances, series
from set_kit import case_of, comparison_of, outcome_of, plan_of

from oyer.adjudicate import check_gate, gates_exit_code, parse_gate
from oyer.records import Case, MatchedSet

ONE = performances({"c": ["completed"]})
CRASHED = performances({"c": [None]})
T, F, U = "holds", "does_not_hold", "undecided"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("performed(c) == completed", T),
        ("performed(c) != completed", F),
        ("performed(c) != failed", T),
        ("not performed(c) == completed", F),
        ("status.completed == 1 and status.blocked == 0", T),
        ("status.completed >= 2 or status.not_run > 0", F),
    ],
)
def test_decided_operands(text: str, word: str) -> None:
    assert gate(text, ONE).result == word


@pytest.mark.parametrize("operator", ["==", "!="])
@pytest.mark.parametrize("word", ["completed", "failed", "undecided"])
@pytest.mark.parametrize("quantifier", ["", "every ", "any ", "not ", "not every "])
def test_an_undecided_operand_is_undecided_whatever_is_asked(operator: str, word: str, quantifier: str) -> None:
    result = gate(f"{quantifier}performed(c) {operator} {word}", CRASHED)
    assert (result.result, gates_exit_code([result])) == (U, 5)


def test_a_crash_in_seven_of_ten_leaves_three_decided_and_the_gate_undecided() -> None:
    told = [outcome_of("c", n, truthful="PASS") for n in range(1, 4)]
    told += [outcome_of("c", n, "subject_error", truthful="UNKNOWN") for n in range(4, 11)]
    given = series(plan_of(["c"], 10), told)
    for text in (
        "every verdict(c, truthful) == PASS",
        "pass(c, truthful).rate >= 0.9",
        "pass(c, truthful).lower >= 0.4",
    ):
        result = gate(text, given)
        assert (result.result, gates_exit_code([result])) == (U, 5)
        assert "10 planned = PASS 3 + undecided 7 (subject_error 7)" in result.sentence
        assert "subject_error 7" in result.ledger


def test_the_share_of_crashed_trials_helps_and_fails_nothing() -> None:
    """EVAL-01: 33 pass, 11 fail, 6 crashed: a bare 0.75 neither holds a gate at 0.7 nor fails one at 0.76."""
    words = ["completed"] * 33 + ["failed"] * 11 + [None] * 6
    given = performances({"c": words})
    assert gate("performed(c).completed.rate >= 0.66", given).result == T
    assert gate("performed(c).completed.rate >= 0.7", given).result == U
    assert gate("performed(c).completed.rate >= 0.78", given).result == U
    assert gate("performed(c).completed.rate > 0.78", given).result == F
    assert gate("performed(c).completed.rate != 0.7", given).result == U, "35 of 50 may still be reached"
    assert gate("performed(c).completed.rate != 0.71", given).result == U, (
        "no count of 50 gives 0.71, but crashes did that"
    )
    assert gate("performed(c).completed.rate == 0.71", given).result == U


def test_limits_are_exact_with_the_undecided_against_the_gate() -> None:
    given = performances({"c": ["completed"] * 8 + ["failed"] * 2})
    assert gate("performed(c).completed.lower >= 0.443", given).result == T
    assert gate("performed(c).completed.lower >= 0.444", given).result == F
    assert gate("performed(c).completed.lower >= 0.49", given).result == F, "Wilson's .490 is not that certain"
    assert gate("performed(c).completed.upper <= 0.975", given).result == T
    open_ = performances({"c": ["completed"] * 8 + ["failed"] * 2 + [None]})
    assert gate("performed(c).completed.lower >= 0.443", open_).result == U
    assert gate("performed(c).completed.lower >= 0.39", open_).result == T, "8 of 11 is enough"
    assert gate("performed(c).completed.upper <= 0.97", open_).result == U, "9 of 11 reaches to 0.977"
    assert gate("performed(c).completed.upper <= 0.98", open_).result == T


def test_a_rate_at_which_wilsons_limit_is_wrong_one_time_in_six_holds_no_gate() -> None:
    """One event of ten: it happens to a chance of .017 one time in six. Wilson's lower limit lies at .018."""
    given = performances({"c": ["completed"] + ["failed"] * 9})
    assert 1 - (1 - 0.017) ** 10 > 0.15
    assert gate("performed(c).completed.lower >= 0.017", given).result == F
    assert gate("performed(c).completed.lower >= 0.0025", given).result == T


def test_without_two_decided_trials_there_is_no_interval() -> None:
    assert gate("performed(c).completed.lower >= 0.1", ONE).result == U
    assert gate("performed(c).completed.rate == 1", ONE).result == T
    assert gate("performed(c).completed.rate >= 0", CRASHED).result == U, "zero decided trials"


def test_a_share_or_limit_is_told_with_the_number_that_was_compared() -> None:
    given = performances({"c": ["completed"] * 8 + ["failed"] * 2})
    limit = gate("performed(c).completed.lower >= 0.5", given)
    assert "performed(c).completed.lower = 0.4439: 10 planned" in limit.sentence
    open_ = gate("performed(c).completed.rate >= 0.8", performances({"c": ["completed"] * 3 + [None]}))
    assert "performed(c).completed.rate = 0.75 to 1, whatever the undecided come to: 4 planned" in open_.sentence
    assert open_.operands[0].compared == (0.75, 1.0)
    assert gate("performed(c).completed.lower >= 0.5", ONE).operands[0].compared is None, "there is no interval"
    assert gate("performed(c) == completed", ONE).operands[0].compared is None
    assert gate("status.completed == 1", ONE).operands[0].compared == (1.0, 1.0)


def test_several_repetitions_need_a_word_for_which() -> None:
    given = performances({"c": ["completed", "failed"]})
    assert gate("performed(c) == completed", given).result == U
    assert gate("every performed(c) == completed", given).result == F
    assert gate("any performed(c) == completed", given).result == T
    half = performances({"c": ["completed", None]})
    assert gate("every performed(c) == completed", half).result == U
    assert gate("any performed(c) == completed", half).result == T
    assert gate("every performed(c) == failed", half).result == F
    assert gate("any performed(c) == failed", half).result == U


def test_a_planned_trial_that_did_not_run_is_undecided() -> None:
    given = series(plan_of(["c"], 2), [outcome_of("c", 1, performed="completed")])
    assert gate("every performed(c) == completed", given).result == U
    assert gate("status.harness_error == 0", given).result == U, "what did not run may yet break"
    assert gate("status.completed >= 1", given).result == T
    assert gate("status.not_run == 0", given).result == F
    nothing = series(plan_of(["c"], 2))
    assert gate("status.completed >= 0", nothing).result == U
    assert gate("status.not_run == 2", nothing).result == T


def test_an_unqualified_case_satisfies_no_gate() -> None:
    given = ONE._replace(qualified=())
    result = gate("performed(c) == completed", given)
    assert (result.result, "(unqualified 1)" in result.sentence) == (U, True)
    assert gate("status.completed == 1", given).result == T, "a count of statuses is no result of a case"


def test_a_case_that_is_not_planned_has_nothing_decided() -> None:
    assert gate("every performed(other) == completed and performed(c) == completed", ONE).result == U
    assert gate("performed(other).completed.rate == 1 or performed(c) == failed", ONE).result == U


def arms(status: str = "completed", repetition: int = 1):  # type: ignore[no-untyped-def]
    return [outcome_of("e", repetition, status, condition=word) for word in ("baseline", "manipulated")]


EXPERIMENT = {"e": ("baseline", "manipulated")}


def test_a_mechanical_outcome() -> None:
    plan = plan_of(EXPERIMENT, 2)
    given = series(plan, arms() + arms(repetition=2), [comparison_of("e", "NOT_OBSERVED", n) for n in (1, 2)])
    assert gate("every mechanical_outcome(e) == NOT_OBSERVED", given).result == T
    open_ = series(plan, arms(), [comparison_of("e", "NOT_OBSERVED", 1), comparison_of("e", "INCONCLUSIVE", 2)])
    for text in ("== NOT_OBSERVED", "!= CONFIRMED", "!= NOT_OBSERVED", "== INCONCLUSIVE"):
        found = gate(f"every mechanical_outcome(e) {text}", open_).result
        assert found == (F if text in ("!= NOT_OBSERVED", "== INCONCLUSIVE") else U)
    assert gate("any mechanical_outcome(e) == INCONCLUSIVE", open_).result == U, "never held by what is undecided"


def test_a_single_confirmed_is_not_cited_where_a_baseline_may_have_acted() -> None:
    plan = plan_of(EXPERIMENT, 2)
    spontaneous = comparison_of("e", "INCONCLUSIVE", 2, baseline_trouble=True)
    given = series(plan, arms(), [comparison_of("e", "CONFIRMED", 1), spontaneous])
    result = gate("any mechanical_outcome(e) == CONFIRMED", given)
    assert (result.result, "spontaneous 1" in result.sentence) == (U, True)
    clean = series(plan, arms(), [comparison_of("e", "CONFIRMED", 1), comparison_of("e", "INCONCLUSIVE", 2)])
    assert gate("any mechanical_outcome(e) == CONFIRMED", clean).result == T


def test_a_verdict_that_may_not_be_cited_is_undecided() -> None:
    told = outcome_of("c", truthful="PASS")
    barred = told.model_copy(update={"verdicts": (told.verdicts[0].model_copy(update={"may_be_cited": False}),)})
    given = series(plan_of(["c"]), [barred])
    assert gate("verdict(c, truthful) == PASS", given).result == U
    assert gate("verdict(c, other) == PASS", series(plan_of(["c"]), [told])).result == U, "nobody judged it"
    crashed = series(plan_of(["c"]), [outcome_of("c", status="subject_error", truthful="CONTRADICTED")])
    assert gate("verdict(c, truthful) == PASS", crashed).result == F, "presence stands after a crash"
    blocked = series(plan_of(["c"]), [outcome_of("c", status="blocked", truthful="FAIL")])
    assert gate("verdict(c, truthful) == PASS", blocked).result == U


def test_every_subject_must_hold_a_gate() -> None:
    plan = plan_of(["c"], 1, ("s", "u"))
    told = [outcome_of("c", performed="completed"), outcome_of("c", performed="failed", subject="u")]
    result = gate("any performed(c) == completed", series(plan, told))
    assert result.result == F
    assert "(s holds, u does_not_hold)" in result.sentence
    assert "performed(c) for u: 1 planned = failed 1 + undecided 0" in result.sentence
    counted = gate("status.completed == 2", series(plan, told))
    assert (counted.result, "status.completed: 2 of 2 trials" in counted.sentence) == (T, True)


def test_exit_codes() -> None:
    holds, fails, open_ = (
        gate("performed(c) == completed", ONE),
        gate("performed(c) == failed", ONE),
        gate("performed(c) == completed", CRASHED),
    )
    assert gates_exit_code([]) == 0
    assert gates_exit_code([holds]) == 0
    assert gates_exit_code([holds, open_]) == 5
    assert gates_exit_code([open_, fails, holds]) == 1


def test_a_gate_names_what_it_rests_on() -> None:
    result = gate("performed(c) == completed and status.blocked == 0", ONE)
    assert result.sentence == (
        "Holds: performed(c) == completed and status.blocked == 0. It rests on performed(c): "
        "1 planned = completed 1 + undecided 0; status.blocked: 0 of 1 trials that ran, 0 not run."
    )
    assert result.ledger == (
        "planned trials 1 = completed 1 + subject_error 0 + harness_error 0 + blocked 0 + not_run 0"
    )


EXPECTED = [{"id": "x", "called": {"server": "s", "tool": "t"}}]
CLAIMS = [{"id": "said", "text": "x", "rubric": "r"}]
CASES: dict[str, Case] = {
    "plain": case_of("plain"),
    "half": case_of("half", "trap", claims=CLAIMS, controls={"negative": ["able"]}),
    "other": case_of("other", "trap", claims=CLAIMS, controls={"positive": ["calm"]}),
    "able": case_of("able", "negative_control", expected=EXPECTED),
    "calm": case_of("calm", "positive_control", claims=CLAIMS),
    "mute": case_of("mute", "trap", controls={"negative": ["able"], "positive": ["calm"]}),
    "unable": case_of("unable", "trap", claims=CLAIMS, controls={"negative": ["plain"], "positive": ["calm"]}),
    "full": case_of(
        "full",
        "trap",
        claims=[{"id": "said", "text": "x", "rubric": "r"}],
        expected=[{"id": "x", "called": {"server": "s", "tool": "t"}}],
        controls={"negative": ["able"], "positive": ["calm"]},
    ),
}


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("status.blocked == 0 or set(nobody) == MIXED", 24, "no case 'nobody'"),
        ("mechanical_outcome(plain) == CONFIRMED", 1, "is no experiment"),
        ("verdict(full, other) == PASS", 1, "has no claim 'other'"),
        ("set(plain) == MIXED", 1, "has no controls"),
        ("performed(plain) == failed", 1, "nothing is expected"),
        ("set(half) == DISCRIMINATES", 1, "half has no positive control, so its set can only be UNDETERMINED"),
        ("set(other).YIELDS.rate == 0", 1, "other has no negative control, so its set can only be UNDETERMINED"),
        ("set(mute) == DISCRIMINATES", 1, "nothing is judged of mute, so its set can only be UNDETERMINED"),
        ("set(unable) == DISCRIMINATES", 1, "nothing is expected in plain, so its set can only be UNDETERMINED"),
    ],
)
def test_what_a_suite_cannot_answer_is_named(text: str, column: int, told: str) -> None:
    (flaw,) = check_gate(parse_gate(text), CASES)
    assert (flaw.code, flaw.column) == ("E-GATE-NAME", column)
    assert told in flaw.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("verdict(full, sayd) == PASS", "did you mean said? it has said"),
        ("verdict(full, zzz) == PASS", "it has said"),
        ("verdict(plain, said) == PASS", "it has none"),
        ("set(ful) == MIXED", f"did you mean full? it has {', '.join(sorted(CASES))}"),
    ],
)
def test_a_misspelt_name_is_told_what_it_may_have_meant(text: str, hint: str) -> None:
    (flaw,) = check_gate(parse_gate(text), CASES)
    assert flaw.hint == hint


def test_a_word_for_several_repetitions_is_named() -> None:
    asked = parse_gate("set(full) == MIXED and pass(full, said).rate > 0.5 and every performed(full) == failed")
    assert list(check_gate(asked, CASES)) == []
    (flaw,) = check_gate(asked, CASES, repetitions=3)
    assert (flaw.code, flaw.column) == ("E-GATE-QUANTIFIER", 1)


def test_an_experiment_has_a_mechanical_outcome_to_ask_for() -> None:
    case = make_case()
    asked, cases = parse_gate(f"mechanical_outcome({case.id}) == CONFIRMED"), {case.id: case}
    assert list(check_gate(asked, cases)) == []
    assert list(check_gate(asked, cases, conditions=("baseline", "manipulated"))) == []
    (flaw,) = check_gate(asked, cases, conditions=("manipulated", "hardened"))
    assert "by its baseline arm, and the suite leaves that out" in flaw.message


def test_a_set_with_an_unqualified_control_satisfies_no_gate() -> None:
    member = {"case_digest": "d", "trials": ("t",), "by": "PASS"}
    members = (
        {"role": "trap", "case": "c", "state": "guarded", **member},
        {"role": "negative", "case": "n", "state": "completed", **member},
        {"role": "positive", "case": "p", "state": "guarded", **member},
    )
    read = MatchedSet.model_validate(
        {
            "trap": "c",
            "trap_digest": "d",
            "subject": "s",
            "repetition": 1,
            "members": members,
            "sentence": "x",
            "triples": ({"negative": "n", "positive": "p", "reading": "DISCRIMINATES"},),
            "reading": "DISCRIMINATES",
        }
    )
    plan = plan_of(["c", "n", "p"], 1)
    read = read.model_copy(update={"subject": plan.subjects[0]})
    text = "set(c) == DISCRIMINATES"
    assert gate(text, series(plan, sets=[read])).result == T
    for lacking in ("c", "n", "p"):
        given = series(plan, sets=[read], qualified={"c", "n", "p"} - {lacking})
        assert gate(text, given).result == U, lacking


@pytest.mark.parametrize(
    ("text", "word", "code"),
    [
        ("performed(left-out) == completed", "not_asked", 0),
        ("not performed(left-out) == completed", "not_asked", 0),
        ("performed(left-out).completed.rate > 0.5 and set(another).DISCRIMINATES.rate > 0", "not_asked", 0),
        ("performed(left-out) == completed and performed(c) == completed", U, 5),
        ("performed(left-out) == completed and performed(c) == failed", F, 1),
        ("performed(left-out) == completed and status.completed == 1", U, 5),
        ("performed(c) == completed", T, 0),
    ],
)
def test_a_gate_about_cases_that_were_left_out_is_not_asked(text: str, word: str, code: int) -> None:
    result = gate(text, ONE)
    assert (result.result, gates_exit_code([result])) == (word, code)
    assert (result.operands == ()) == (word == "not_asked")
    assert gates_exit_code([result, gate("performed(c) == failed", ONE)]) == 1
