"""Survival by round, against tables worked by hand and every way in which it may have gone."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oyer.stats import Life, Survival, clopper_pearson, survival


def lives(*spans: tuple[int, int], last: int = 3, case: str = "a") -> list[Life]:
    return [Life(case, low, high, last) for low, high in spans]


def told(given_lives: list[Life]) -> Survival:
    return survival(given_lives, seed=1)


def test_a_table_worked_by_hand() -> None:
    """Ten trials of one trap with three rounds: 1 breaks at once, 2 in round 1, 3 in round 2, 0 in round 3, 4 hold."""
    found = told(lives((0, 0), *[(1, 1)] * 2, *[(2, 2)] * 3, *[(4, 4)] * 4))
    assert (found.trials, found.cases, found.in_round_0, found.undecided_in_round_0) == (10, 1, 1, 0)
    assert [(one.round, one.broke, one.at_risk, one.undecided) for one in found.hazards] == [
        (1, 2, 9, 0),
        (2, 3, 7, 0),
        (3, 0, 4, 0),
    ]
    assert [one.value for one in found.hazards] == [Fraction(2, 9), Fraction(3, 7), 0]
    assert [one.bounds for one in found.hazards] == [(Fraction(2, 9),) * 2, (Fraction(3, 7),) * 2, (0, 0)]
    assert [one.limits for one in found.hazards] == [
        clopper_pearson(2, 9),
        clopper_pearson(3, 7),
        clopper_pearson(0, 4),
    ]
    assert (found.held_throughout, found.through) == (4, (Fraction(2, 5), Fraction(2, 5)))


def test_what_is_open_is_a_bound_and_no_censoring() -> None:
    """A crash after round 1 may have been about to break; a break between 1 and 2 is one of the two."""
    found = told(lives((2, 2), (4, 4), (4, 4), (2, 4), (1, 2)))
    second = found.hazards[1]
    # Least: the crash would have held, the other broke in 1. Greatest: both broke in 2.
    assert (second.broke, second.at_risk, second.undecided) == (1, 3, 2)
    assert second.bounds == (Fraction(1, 4), Fraction(3, 5))
    assert second.limits is not None
    assert second.limits.low == clopper_pearson(1, 4).low
    assert second.limits.high == clopper_pearson(3, 5).high
    assert found.through == (Fraction(2, 5), Fraction(3, 5))


def test_only_rounds_that_a_trap_has_are_at_risk() -> None:
    found = told([*lives((2, 2), (2, 2), last=1, case="short"), *lives((2, 2), (4, 4), case="long")])
    assert [(one.broke, one.at_risk) for one in found.hazards] == [(0, 4), (1, 2), (0, 1)]


def test_nothing_to_go_by_says_so() -> None:
    found = told(lives((0, 4)))
    assert [one.bounds for one in found.hazards] == [(0, 1)] * 3
    assert {one.why_not for one in found.hazards} == {"fewer than two trials are known to be at risk"}
    assert told([]).hazards == ()
    assert told([]).through is None
    with pytest.raises(ValueError, match="no interval"):
        told(lives((3, 2)))
    with pytest.raises(ValueError, match="no interval"):
        told(lives((0, 5)))


def brute(found: list[Life], k: int) -> tuple[Fraction, Fraction]:
    """The least and the greatest hazard over every completion; nobody at risk leaves all from 0 to 1."""
    rates: list[Fraction] = []
    for ways in product(*(range(one.earliest, one.latest + 1) for one in found)):
        broke = sum(way == k for way, one in zip(ways, found, strict=True) if one.last >= k)
        at_risk = sum(way >= k for way, one in zip(ways, found, strict=True) if one.last >= k)
        rates += [Fraction(broke, at_risk)] if at_risk else [Fraction(0), Fraction(1)]
    return min(rates), max(rates)


@st.composite
def spans(draw: st.DrawFn) -> Life:
    last = draw(st.integers(1, 3))
    low = draw(st.integers(0, last + 1))
    return Life(draw(st.sampled_from("ab")), low, draw(st.integers(low, last + 1)), last)


@given(st.lists(spans(), min_size=1, max_size=5))
def test_the_bounds_are_those_of_every_way_in_which_it_may_have_gone(found: list[Life]) -> None:
    for hazard in told(found).hazards:
        assert hazard.bounds == brute(found, hazard.round)
        low, high = hazard.bounds
        if hazard.value is not None:
            assert low <= hazard.value <= high
        if hazard.limits is not None:
            assert hazard.limits.low <= low
            assert high <= hazard.limits.high


@given(st.lists(spans(), min_size=1, max_size=6), st.data())
def test_less_evidence_never_narrows_a_bound(found: list[Life], data: st.DataObject) -> None:
    """Taking evidence away from one trial leaves more rounds open in which it may have broken."""
    place = data.draw(st.integers(0, len(found) - 1))
    one = found[place]
    low = data.draw(st.integers(0, one.earliest))
    high = data.draw(st.integers(one.latest, one.last + 1))
    wider = [*found[:place], one._replace(earliest=low, latest=high), *found[place + 1 :]]
    before, after = told(found), told(wider)
    for mine, yours in zip(before.hazards, after.hazards, strict=True):
        assert yours.bounds[0] <= mine.bounds[0]
        assert mine.bounds[1] <= yours.bounds[1]
        if mine.limits is not None and yours.limits is not None:
            assert yours.limits.low <= mine.limits.low + 1e-12
            assert mine.limits.high <= yours.limits.high + 1e-12
    assert before.through is not None
    assert after.through is not None
    assert after.through[0] <= before.through[0]
    assert before.through[1] <= after.through[1]


def many(cases: int, each: int, broke: int) -> list[Life]:
    """`cases` traps with one round, tried `each` times; `broke` of them break whenever they are tried."""
    return [Life(f"c{case}", *((1, 1) if case < broke else (2, 2)), 1) for case in range(cases) for _ in range(each)]


def test_traps_that_repeat_are_drawn_whole_and_need_twenty() -> None:
    few = told(many(19, 2, 5)).hazards[0]
    assert (few.limits, few.bounds) == (None, (Fraction(5, 19),) * 2)
    assert few.why_not is not None
    assert "fewer than 20 cases" in few.why_not
    found = told(many(20, 5, 5)).hazards[0]
    assert found.limits is not None
    assert found.formula is not None
    assert "resamples of cases" in found.formula
    # A hundred trials are worth twenty cases, not a hundred.
    assert found.limits.low < clopper_pearson(25, 100).low
    assert found.limits.high > clopper_pearson(25, 100).high
    assert found == told(many(20, 5, 5)).hazards[0]


def test_traps_that_are_all_alike_exclude_what_so_many_exclude() -> None:
    none, all_ = told(many(20, 3, 0)).hazards[0].limits, told(many(20, 3, 20)).hazards[0].limits
    assert none is not None
    assert all_ is not None
    assert none == pytest.approx((0.0, clopper_pearson(0, 20).high), abs=1e-9)
    assert all_ == pytest.approx((clopper_pearson(20, 20).low, 1.0), abs=1e-9)


def test_each_trap_tried_once_is_a_unit() -> None:
    found = told(many(6, 1, 2)).hazards[0]
    assert found.limits == clopper_pearson(2, 6)
    assert found.formula is not None
    assert "each tried once" in found.formula


def test_where_a_rule_may_stop_by_what_it_saw_there_are_counts_and_bounds_alone() -> None:
    found = survival(lives((1, 1), (4, 4), (4, 4)), seed=1, looked=True)
    assert found.hazards[0].bounds == (Fraction(1, 3),) * 2
    assert {one.limits for one in found.hazards} == {None}
    assert "depends on what was seen" in str(found.hazards[0].why_not)
