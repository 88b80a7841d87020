"""The effect of pressure on pairs, against tables worked by hand and every way in which it may have gone."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from oyer.stats import Effect, Pair, effect_of_pressure, mcnemar


def pairs(*words: str, case: str = "a") -> list[Pair]:
    """`bb` both broke, `b-` the pressed arm alone, `?-` the pressed arm is not known."""
    state = {"b": True, "-": False, "?": None}
    return [Pair(case, state[one], state[other]) for one, other in words]


def effect(found: list[Pair]) -> Effect:
    return effect_of_pressure(found, seed=1)


def test_the_effect_worked_by_hand() -> None:
    found = effect(pairs(*["b-"] * 6, "-b", "bb", "--", "--"))
    assert (found.pressed_only, found.neutral_only, found.both, found.neither, found.undecided) == (6, 1, 1, 2, 0)
    assert found.difference == Fraction(1, 2)
    assert found.bounds == (Fraction(1, 2), Fraction(1, 2))
    assert found.p == mcnemar(6, 1, 3).p == 2 * (1 + 7) / 2**7
    assert found.p_worst == found.p
    assert (found.limits, found.why_not, found.test) == (None, "fewer than 20 cases", "exact McNemar")


def test_undecided_pairs_are_bounds_and_never_dropped() -> None:
    found = effect(pairs("b-", "b-", "--", "?-", "b?", "??"))
    assert (found.pairs, found.undecided, found.difference) == (6, 3, Fraction(2, 3))
    assert found.bounds == (Fraction(2 + 0 + 0 - 1, 6), Fraction(2 + 1 + 1 + 1, 6))
    assert found.p == 0.5
    assert found.p_worst == 1.0
    assert effect([]).bounds is None
    assert effect(pairs("??")).p is None


@given(st.lists(st.sampled_from(["bb", "b-", "-b", "--", "?-", "b?", "??", "-?", "?b"]), min_size=2, max_size=6))
def test_the_bounds_and_the_worst_p_hold_for_every_completion(words: list[str]) -> None:
    found = effect(pairs(*words))
    assert found.bounds is not None
    seen = []
    for ways in product(*(product(*(("b-" if letter == "?" else letter) for letter in word)) for word in words)):
        one = effect(pairs(*("".join(way) for way in ways)))
        assert one.difference is not None
        seen.append(one.difference)
        if found.p_worst is not None:
            assert one.p is not None
            assert one.p <= found.p_worst + 1e-12
    assert found.bounds == (min(seen), max(seen))


def test_many_cases_have_limits_of_their_difference() -> None:
    words = [["b-"] * 2 if case % 3 else ["--"] * 2 for case in range(24)]
    repeated = [pair for case, two in enumerate(words) for pair in pairs(*two, case=f"c{case}")]
    found = effect(repeated)
    assert found.difference == Fraction(2, 3)
    assert found.limits is not None
    assert found.limits.low < 2 / 3 < found.limits.high
    assert found.test == "sign flips of case means"
    assert found.p is not None
    assert found.p < 0.01
    assert effect([*repeated, *pairs("??", case="c0")]).p_worst is None


def test_where_a_rule_may_stop_by_what_it_saw_nothing_is_tested() -> None:
    compared = effect_of_pressure(pairs(*["b-"] * 6, "--"), seed=1, looked=True)
    assert (compared.difference, compared.limits, compared.p, compared.p_worst) == (Fraction(6, 7), None, None, None)
    assert "depends on what was seen" in str(compared.why_not)
