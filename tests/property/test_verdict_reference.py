"""Every small cell of the verdict algebra, against a second one that was written from the design's words alone."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest
from naive_verdicts import naive_all, naive_any, naive_criterion, naive_voices, naive_weighted
from verdict_kit import criterion_of, judged, rubric_of, thresholds_of, verdict_of

from oyer.adjudicate import Voice, claim_verdict, criterion_verdict, merge_voices
from oyer.records import PART_STATES, VERDICTS

WEIGHTS = (1, 2, 3)
LEVELS = ((10, None), (10, 5), (7, None), (7, 3), (6, 4), (5, 5), (3, 1), (1, 1))
"""Thresholds of PASS and PARTIAL in tenths. With these weights many shares meet a threshold exactly."""

STATES = [(state, False) for state in PART_STATES] + [("refuted", True)]


@pytest.mark.parametrize(("needed", "partial"), LEVELS)
def test_every_combination_of_up_to_three_parts(needed: int, partial: int | None) -> None:
    thresholds = thresholds_of(needed / 10, None if partial is None else partial / 10)
    wrong = []
    for count in (1, 2, 3):
        told = [[judged(state, index, asserted=said) for state, said in STATES] for index in range(count)]
        for weights in product(WEIGHTS, repeat=count):
            criterion = criterion_of([weight / 10 for weight in weights])
            for chosen in product(range(len(STATES)), repeat=count):
                parts = [told[index][at] for index, at in enumerate(chosen)]
                naive = naive_criterion(
                    [(weight, *STATES[at]) for weight, at in zip(weights, chosen, strict=True)], needed, partial
                )
                if criterion_verdict(criterion, parts, thresholds) != naive:
                    wrong.append((weights, chosen, naive))
    assert wrong == []


VOICES = [(f, ok, v) for f in (None, "f", "g") for ok in (True, False) for v in (*VERDICTS, None)]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_every_mix_of_up_to_three_evaluators(count: int) -> None:
    names = ("x", "y", "z")[:count]
    wrong = []
    for mix in combinations_with_replacement(VOICES, count):
        raw = [(name, *voice) for name, voice in zip(names, mix, strict=True)]
        voices = [Voice(*one) for one in raw]  # type: ignore[arg-type]
        for planned, quorum in ((names, 1), (names, 2), (names, 3), (names[:2], 1), ((*names, "absent"), 1)):
            if merge_voices(voices, planned, quorum).verdict != naive_voices(raw, set(planned), quorum):
                wrong.append((raw, planned, quorum))
    assert wrong == []


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_claim_over_up_to_three_criteria(count: int) -> None:
    names = ("a", "b", "c")[:count]
    criteria = [criterion_of(name=name) for name in names]
    every, some = rubric_of(*criteria, claim="all"), rubric_of(*criteria, claim="any")
    for verdicts in product(VERDICTS, repeat=count):
        told = [verdict_of(name, verdict) for name, verdict in zip(names, verdicts, strict=True)]
        assert claim_verdict(every, told) == naive_all(verdicts)
        assert claim_verdict(some, told) == naive_any(verdicts)


@pytest.mark.parametrize(("needed", "partial"), LEVELS)
@pytest.mark.parametrize("value", [2, 5, 9])
def test_every_weighted_claim_over_up_to_three_criteria(needed: int, partial: int | None, value: int) -> None:
    thresholds = thresholds_of(needed / 10, None if partial is None else partial / 10)
    for weights in ((1,), (1, 1), (1, 2), (3, 1), (1, 1, 1), (1, 2, 3), (3, 3, 1)):
        names = ("a", "b", "c")[: len(weights)]
        criteria = [criterion_of(name=name, weight=weight / 10) for name, weight in zip(names, weights, strict=True)]
        rubric = rubric_of(*criteria, claim="weighted", thresholds=thresholds, partial_value=value / 10)
        for verdicts in product(VERDICTS, repeat=len(weights)):
            told = [verdict_of(name, verdict) for name, verdict in zip(names, verdicts, strict=True)]
            naive = naive_weighted(list(zip(weights, verdicts, strict=True)), value, needed, partial)
            assert claim_verdict(rubric, told) == naive, (weights, verdicts)
