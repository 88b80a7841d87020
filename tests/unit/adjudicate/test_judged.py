"""From stored judgements to a claim: whose word is read for which part, and what an evaluator's error touches."""

from __future__ import annotations

from typing import Any

from verdict_kit import CLAIM, DIGEST, criterion_of, judged, judgement_of, part_of, rubric_of

from oyer.adjudicate import ClaimInput, JudgedClaimResult, judge_claim
from oyer.records import Criterion, Evaluator, Judgement, Rubric

MECHANICAL = Evaluator(id="own", kind="mechanical", code=DIGEST)
MODEL = Evaluator(id="judge", kind="model", model="m", prompt=DIGEST)


def result(rubric: Rubric, *judgements: Judgement, status: Any = "completed", **more: Any) -> JudgedClaimResult:
    known = {one.id: one for one in (MECHANICAL, MODEL)}
    return judge_claim(ClaimInput(CLAIM, rubric, DIGEST, status, judgements, known, **more))


PLAIN = rubric_of(criterion_of())
NAMED = rubric_of(Criterion(id="c", parts=(part_of(), part_of(evaluator="own"))))


def test_the_built_in_evaluator_alone() -> None:
    found = result(PLAIN, judgement_of(judged("supported")))
    assert found.errors == ()
    assert (found.verdict.verdict, found.verdict.may_be_cited, found.verdict.reasons) == ("PASS", True, ())
    assert found.verdict.criteria[0].parts == (judged("supported"),)
    assert (found.verdict.claim, found.verdict.text, found.verdict.rubric_digest) == ("claim", "It is so.", DIGEST)


def test_without_a_judgement_nothing_is_known() -> None:
    found = result(PLAIN)
    assert (found.verdict.verdict, found.verdict.reasons) == ("UNKNOWN", ("EVALUATOR_MISSING:oyer.parts",))
    assert found.errors == ("oyer.parts: it made no judgement",), "a required judgement that is not there is an error"
    other = result(PLAIN, judgement_of(judged("supported"), digest="sha256:" + "2" * 64))
    assert other.verdict.verdict == "UNKNOWN", "a judgement under another rubric is none under this one"


def test_a_part_is_judged_by_the_evaluator_it_names() -> None:
    mine = judgement_of(judged("supported", 0))
    found = result(NAMED, mine, judgement_of(judged("supported", 1), evaluator="own"))
    assert (found.verdict.verdict, found.errors, found.verdict.reasons) == ("PASS", (), ())
    found = result(NAMED, mine, judgement_of(judged("refuted", 1), evaluator="own"))
    assert found.verdict.verdict == "FAIL"


def test_an_evaluator_that_cannot_judge_is_an_error_and_no_verdict() -> None:
    mine = judgement_of(judged("supported", 0))
    found = result(NAMED, mine, judgement_of(evaluator="own", error="it raised KeyError"))
    assert (found.verdict.verdict, found.errors) == ("UNKNOWN", ("own: it raised KeyError",))
    assert "EVALUATOR_ERROR:own" in found.verdict.reasons
    assert result(NAMED, mine).errors == ("own: it made no judgement",)
    strange = result(PLAIN, judgement_of(judged("supported", 7)))
    assert strange.verdict.verdict == "UNKNOWN"
    assert strange.errors == ("oyer.parts: a judgement of part 7 of c, which criterion c has not",)


def test_an_error_touches_only_the_criteria_of_its_evaluator() -> None:
    rubric = rubric_of(criterion_of(name="a"), criterion_of(name="b", evaluators=("own",)), claim="any")
    found = result(
        rubric, judgement_of(judged("supported", 0, "a")), judgement_of(evaluator="own", error="out of memory")
    )
    assert [one.verdict for one in found.verdict.criteria] == ["PASS", "UNKNOWN"]
    assert (found.verdict.verdict, found.errors) == ("PASS", ("own: out of memory",))


def test_a_judge_without_calibration_counts_for_nothing() -> None:
    rubric = rubric_of(criterion_of(evaluators=("judge",)))
    told = judgement_of(judged("supported"), evaluator="judge")
    found = result(rubric, told)
    assert found.verdict.verdict == "UNKNOWN"
    assert "EVALUATOR_INADMISSIBLE:judge" in found.verdict.reasons
    assert found.verdict.criteria[0].parts == (), "what counts for nothing is not cited"
    assert result(rubric, told, calibrated=("judge",)).verdict.verdict == "PASS"
    stranger = rubric_of(criterion_of(evaluators=("nobody",)))
    assert result(stranger, judgement_of(judged("supported"), evaluator="nobody")).verdict.verdict == "UNKNOWN"


def test_a_part_named_for_an_inadmissible_judge_is_unknown() -> None:
    rubric = rubric_of(Criterion(id="c", parts=(part_of(), part_of(evaluator="judge"))))
    found = result(rubric, judgement_of(judged("supported")), judgement_of(judged("supported", 1), evaluator="judge"))
    assert (found.verdict.verdict, found.errors) == ("UNKNOWN", ())
    assert found.verdict.criteria[0].parts[1].why == "EVALUATOR_INADMISSIBLE:judge"


def test_a_judge_that_nobody_planned_is_named_and_not_heard() -> None:
    found = result(PLAIN, judgement_of(judged("refuted")), judgement_of(judged("supported"), evaluator="own"))
    assert (found.verdict.verdict, found.verdict.reasons) == ("FAIL", ("EVALUATOR_UNPLANNED:own",))


def test_a_status_is_no_verdict() -> None:
    for status in ("harness_error", "blocked", "subject_error"):
        found = result(PLAIN, judgement_of(judged("supported")), status=status)
        assert (found.verdict.verdict, found.verdict.may_be_cited, found.errors) == ("UNKNOWN", False, ())
        assert found.verdict.reasons[0] == f"TRIAL_NOT_COMPLETED:{status}"
    guarded = rubric_of(Criterion(id="c", parts=(part_of(refutes=("bad",)),)))
    found = result(guarded, judgement_of(judged("refuted", asserted=True)), status="subject_error")
    assert found.verdict.verdict == "CONTRADICTED", "what is there and refutes stands"


def test_evaluators_of_one_criterion_are_merged() -> None:
    both = rubric_of(criterion_of(evaluators=("oyer.parts", "own")))
    found = result(both, judgement_of(judged("supported")), judgement_of(judged("refuted"), evaluator="own"))
    assert (found.verdict.verdict, found.verdict.reasons) == ("DISPUTED", ("VOICES_DIFFER",))


def test_a_part_is_judged_by_nobody_but_whom_it_names() -> None:
    parts = (part_of(), part_of(evaluator="own"))
    rubric = rubric_of(Criterion(id="c", parts=parts, evaluators=("third",)))
    third = Evaluator(id="third", kind="mechanical", code=DIGEST)

    def found(*more: Any) -> JudgedClaimResult:
        told = [judgement_of(judged("supported", 0), *more, evaluator="third")]
        told.append(judgement_of(judged("supported", 1), evaluator="own"))
        return judge_claim(ClaimInput(CLAIM, rubric, DIGEST, "completed", told, {"third": third, "own": MECHANICAL}))

    assert (found().verdict.verdict, found().errors) == ("PASS", ())
    assert found(judged("unknown", 1)).verdict.verdict == "PASS", "it left the part to whom it is for"
    usurped = found(judged("refuted", 1))
    assert (usurped.verdict.verdict, usurped.errors) == ("UNKNOWN", ("third: part 1 is for own to judge",))
    built_in = result(
        NAMED,
        judgement_of(judged("supported", 0), judged("refuted", 1)),
        judgement_of(judged("supported", 1), evaluator="own"),
    )
    assert (built_in.verdict.verdict, built_in.errors) == ("PASS", ()), "the built-in one has no say in it"


def test_reasons_name_the_parts() -> None:
    three = rubric_of(criterion_of([1.0, 1.0, 1.0]))
    parts = [judged("conflict", 0), judged("unknown", 1), judged("refuted", 2, asserted=True)]
    found = result(three, judgement_of(*parts))
    assert found.verdict.criteria[0].reasons == ("PART_CONFLICT:c/0", "PART_UNKNOWN:c/1", "ASSERTED_CONTRARY:c/2")
    plain = result(PLAIN, judgement_of(judged("refuted")))
    assert plain.verdict.criteria[0].reasons == ()
