"""Thresholds on intervals, and what rank and status leave standing. The cells are in tests/property."""

from __future__ import annotations

from fractions import Fraction

import pytest
from verdict_kit import criterion_of, judged, part_of, thresholds_of

from oyer.adjudicate import criterion_verdict, limit_part
from oyer.adjudicate.verdicts import Share, as_written, read_share
from oyer.errors import EvaluatorError
from oyer.records import EvidenceMatcher, ToolName

TENTHS = criterion_of([0.1, 0.2, 0.7])


def test_numbers_are_what_the_author_wrote() -> None:
    assert as_written(0.1) + as_written(0.2) == as_written(0.3) == Fraction(3, 10)
    assert 0.1 + 0.2 != 0.3, "which is why floats must not decide"


def test_a_share_that_meets_its_threshold_exactly_passes() -> None:
    parts = [judged("supported", 0), judged("supported", 1), judged("refuted", 2)]
    assert criterion_verdict(TENTHS, parts, thresholds_of(0.3)) == "PASS"
    parts = [judged("refuted", 0), judged("refuted", 1), judged("unknown", 2)]
    assert criterion_verdict(TENTHS, parts, thresholds_of(0.8, 0.7)) == "UNKNOWN", "0.7 may still be reached"


@pytest.mark.parametrize(
    ("sure", "unsure", "verdict"),
    [
        (8, 0, "PASS"),
        (8, 2, "PASS"),
        (7, 1, None),
        (5, 2, "PARTIAL"),
        (5, 3, None),
        (4, 1, None),
        (4, 0, "FAIL"),
        (0, 4, "FAIL"),
        (0, 10, None),
    ],
)
def test_an_interval_against_eight_and_five_tenths(sure: int, unsure: int, verdict: str | None) -> None:
    share = Share(Fraction(sure, 10), Fraction(unsure, 10))
    assert read_share(share, thresholds_of(0.8, 0.5)) == verdict


def test_a_part_that_nobody_judged_is_unknown() -> None:
    assert criterion_verdict(criterion_of([1.0, 1.0]), [judged("supported", 0)], thresholds_of()) == "UNKNOWN"
    assert criterion_verdict(criterion_of([1.0, 1.0]), [], thresholds_of(0.5)) == "UNKNOWN"


def test_a_conflict_disputes_whatever_the_rest_says() -> None:
    parts = [judged("supported", 0), judged("conflict", 1)]
    assert criterion_verdict(criterion_of([99.0, 0.1]), parts, thresholds_of(0.5)) == "DISPUTED"


def test_a_fail_is_contradicted_only_by_an_assertion_of_what_was_refuted() -> None:
    two = criterion_of([1.0, 1.0])
    asserted = [judged("refuted", 0, asserted=True), judged("supported", 1)]
    assert criterion_verdict(two, asserted, thresholds_of()) == "CONTRADICTED"
    elsewhere = [judged("refuted", 0), judged("supported", 1, asserted=True)]
    assert criterion_verdict(two, elsewhere, thresholds_of()) == "FAIL"
    assert criterion_verdict(two, asserted, thresholds_of(1.0, 0.5)) == "PARTIAL", "only FAIL becomes CONTRADICTED"


def test_what_is_no_judgement_of_these_parts_is_refused() -> None:
    for strange in ([judged("supported", 3)], [judged("supported", 0, "other")], [judged("refuted", 0)] * 2):
        with pytest.raises(EvaluatorError, match="E-JUDGEMENT-PART"):
            criterion_verdict(TENTHS, strange, thresholds_of())


def test_a_verdict_outside_the_vocabulary_is_an_error_and_no_verdict() -> None:
    parts = [judged("supported", 0), judged("supported", 1), judged("refuted", 2)]
    words = ("PASS", "FAIL", "CONTRADICTED", "UNKNOWN", "DISPUTED")
    with pytest.raises(EvaluatorError, match="E-VERDICT-VOCABULARY"):
        criterion_verdict(TENTHS, parts, thresholds_of(0.9, 0.1), words)


@pytest.mark.parametrize(
    ("status", "way", "state", "left"),
    [
        ("completed", "supports", "supported", "supported"),
        ("evaluator_error", "supports", "supported", "supported"),
        ("harness_error", "supports", "supported", "unknown"),
        ("harness_error", "refutes", "refuted", "unknown"),
        ("blocked", "refutes", "conflict", "unknown"),
        ("subject_error", "supports", "supported", "unknown"),
        ("subject_error", "supports", "refuted", "unknown"),
        ("subject_error", "refutes", "refuted", "refuted"),
        ("subject_error", "refutes", "supported", "unknown"),
        ("subject_error", "refutes", "conflict", "unknown"),
        ("subject_error", "evaluator", "refuted", "refuted"),
    ],
)
def test_what_a_status_leaves_standing(status: str, way: str, state: str, left: str) -> None:
    part = part_of(**{way: "someone" if way == "evaluator" else ("fact",)})
    limited = limit_part(part, judged(state), status)  # type: ignore[arg-type]
    assert limited.state == left
    if left == "unknown":
        assert (limited.evidence, limited.why) == ((), f"TRIAL_NOT_COMPLETED:{status}")


def test_a_lower_rank_says_nothing_and_is_named() -> None:
    limited = limit_part(part_of(decided_by="receipt"), judged("supported", rank="protocol"), "completed")
    assert (limited.state, limited.why) == ("unknown", "RANK_TOO_LOW:protocol under receipt")
    assert limit_part(part_of(decided_by="protocol"), judged("refuted", rank="receipt"), "completed").state == "refuted"


def test_silence_in_the_channel_is_shown_by_the_channel() -> None:
    said = EvidenceMatcher(called=ToolName(server="report", tool="status"))
    part = part_of(refutes=("bad",), decided_by="receipt", asserts=said, when_asserted=True)
    assert limit_part(part, judged("supported", rank="protocol"), "completed").state == "supported"
    assert limit_part(part, judged("refuted", rank="protocol"), "completed").state == "unknown"
