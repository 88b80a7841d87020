"""Laws of two sides: a lost trial decides nothing that was not decided, and which comes first changes no finding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oyer.adjudicate import Contrast, Question, Sides, contrasts
from oyer.stats import CaseCounts


@st.composite
def counts(draw: st.DrawFn) -> CaseCounts:
    decided = draw(st.integers(0, 8))
    return CaseCounts(draw(st.integers(0, decided)), decided, draw(st.integers(0 if decided else 1, 3)))


cases = st.lists(st.tuples(counts(), counts()), min_size=1, max_size=9)


def answers(told: list[tuple[CaseCounts, CaseCounts]]) -> tuple[Contrast, ...]:
    sides = tuple(Sides(f"c{at}", first, second) for at, (first, second) in enumerate(told))
    return contrasts([Question("q", sides)], seed=1, draws=1000)


def lost(one: CaseCounts, success: bool) -> CaseCounts:
    """Return the counts with one decided trial that nobody saw the end of; the same where there is none of it."""
    if (one.k if success else one.decided - one.k) == 0:
        return one
    return CaseCounts(one.k - success, one.decided - 1, one.undecided + 1)


@given(cases, st.data())
def test_a_lost_trial_decides_nothing(told: list[tuple[CaseCounts, CaseCounts]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(told) - 1))
    second, success = data.draw(st.booleans()), data.draw(st.booleans())
    first_side, second_side = told[at]
    worse = (first_side, lost(second_side, success)) if second else (lost(first_side, success), second_side)
    after = answers([*told[:at], worse, *told[at + 1 :]])
    for one, other in zip(answers(told), after, strict=True):
        assert other.word in (one.word, "not_decided")


@given(cases)
def test_the_other_way_round_it_is_the_contrary(told: list[tuple[CaseCounts, CaseCounts]]) -> None:
    contrary = {"higher": "lower", "lower": "higher"}
    for one, other in zip(answers(told), answers([(b, a) for a, b in told]), strict=True):
        assert other.word == contrary.get(one.word, one.word)
        assert other.bounds == (-one.bounds[1], -one.bounds[0])
        assert sorted(other.p_ends or ()) == sorted(one.p_ends or ())


@given(cases)
def test_the_ends_hold_the_decided_difference_and_limits_hold_the_ends(
    told: list[tuple[CaseCounts, CaseCounts]],
) -> None:
    for one in answers(told):
        assert -1 <= one.bounds[0] <= one.bounds[1] <= 1
        if one.limits is not None:
            assert one.limits.low <= one.bounds[0] + 1e-12
            assert one.limits.high >= one.bounds[1] - 1e-12
        if one.p_least is not None and one.p_most is not None:
            assert 0 < one.p_least <= one.p_most <= 1
