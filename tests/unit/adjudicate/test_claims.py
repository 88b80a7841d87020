"""Claims over criteria, blocking, and sentences. Every small cell is in tests/property."""

from __future__ import annotations

import pytest
from verdict_kit import criterion_of, rubric_of, thresholds_of, verdict_of

from oyer.adjudicate import claim_verdict, read_claim
from oyer.adjudicate.claims import claim_sentence
from oyer.records import VERDICTS

TWO = (criterion_of(name="a"), criterion_of(name="b"))


@pytest.mark.parametrize(
    ("rule", "verdicts", "found"),
    [
        ("all", ("PASS", "PARTIAL"), "PARTIAL"),
        ("all", ("UNKNOWN", "DISPUTED"), "DISPUTED"),
        ("all", ("FAIL", "CONTRADICTED"), "CONTRADICTED"),
        ("any", ("PASS", "CONTRADICTED"), "PASS"),
        ("any", ("FAIL", "CONTRADICTED"), "CONTRADICTED"),
        ("any", ("PARTIAL", "UNKNOWN"), "UNKNOWN"),
        ("weighted", ("PASS", "CONTRADICTED"), "CONTRADICTED"),
        ("weighted", ("PASS", "UNKNOWN"), "PASS"),
        ("weighted", ("FAIL", "DISPUTED"), "DISPUTED"),
        ("weighted", ("FAIL", "FAIL"), "FAIL"),
        ("weighted", ("PARTIAL", "PARTIAL"), "PASS"),
    ],
)
def test_two_criteria(rule: str, verdicts: tuple[str, str], found: str) -> None:
    rubric = rubric_of(*TWO, claim=rule, thresholds=thresholds_of(0.5))
    told = [verdict_of(name, verdict) for name, verdict in zip("ab", verdicts, strict=True)]
    assert claim_verdict(rubric, told) == found


def test_a_criterion_that_nobody_judged_is_unknown() -> None:
    assert claim_verdict(rubric_of(*TWO), [verdict_of("a", "PASS")]) == "UNKNOWN"


def test_only_a_decided_verdict_may_be_cited() -> None:
    for verdict in VERDICTS:
        read = read_claim(rubric_of(TWO[0]), [verdict_of("a", verdict)])
        assert read.may_be_cited == (verdict in ("PASS", "PARTIAL", "FAIL", "CONTRADICTED"))


def test_missing_evidence_blocks_a_claim_that_says_so() -> None:
    half = rubric_of(
        criterion_of([1.0, 1.0], "a"), thresholds=thresholds_of(0.5), missing_evidence="block_claim", claim="all"
    )
    told = [verdict_of("a", "PASS", "supported", "unknown")]
    read = read_claim(half, told)
    assert (read.verdict, read.may_be_cited, read.reasons) == ("UNKNOWN", False, ("CLAIM_BLOCKED:a",))
    assert "this blocks the claim" in claim_sentence(read, told)
    open_ = rubric_of(criterion_of([1.0, 1.0], "a"), thresholds=thresholds_of(0.5))
    assert read_claim(open_, told).verdict == "PASS"
    whole = [verdict_of("a", "PASS", "supported", "refuted")]
    assert read_claim(half, whole).verdict == "PASS", "nothing is missing where it is refuted"


def test_sentences_name_what_decided() -> None:
    told = [verdict_of("a", "PASS"), verdict_of("b", "CONTRADICTED")]
    said = claim_sentence(read_claim(rubric_of(*TWO), told), told)
    assert said == (
        "Does not hold, and the subject asserted the contrary of what the evidence shows: b CONTRADICTED, a PASS, "
        "in this trial, under these pins."
    )


def test_a_sentence_says_what_is_missing() -> None:
    told = [verdict_of("a", "PASS"), verdict_of("b", "UNKNOWN", "unknown")]
    part = told[1].parts[0].model_copy(update={"why": "no call matches"})
    told[1] = told[1].model_copy(update={"parts": (part,)})
    said = claim_sentence(read_claim(rubric_of(*TWO), told), told)
    assert said.startswith("Not known, evidence is missing: b UNKNOWN, a PASS (no call matches), in this trial")
