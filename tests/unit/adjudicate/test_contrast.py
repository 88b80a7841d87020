"""Two sides held against each other: what is decided, what is not, and what could not have been seen."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from oyer.adjudicate import ALPHA, Contrast, PairCounts, Question, Sides, contrasts
from oyer.stats import CaseCounts, mcnemar, two_proportions


def sides(case: str, first: tuple[int, ...], second: tuple[int, ...], pairs: PairCounts | None = None) -> Sides:
    return Sides(case, CaseCounts(*first), CaseCounts(*second), pairs)


def of(*told: Sides, family: tuple[str, ...] | None = None) -> tuple[Contrast, ...]:
    return contrasts([Question("asked", told)], seed=1, draws=2000, family=family)


def test_one_case_is_two_proportions_of_this_case_only() -> None:
    (found,) = of(sides("c", (20, 20), (4, 20)))
    assert (found.method, found.estimand, found.word) == ("two proportions, exact", "this case only", "lower")
    assert found.difference == Fraction(-4, 5)
    assert found.p == two_proportions(20, 20, 4, 20).p
    assert found.p_least == found.p_most == found.p


def test_no_difference_is_said_where_one_could_have_been_seen() -> None:
    (found,) = of(sides("c", (10, 20), (11, 20)))
    assert found.word == "no_difference_decided"


@pytest.mark.parametrize("n", [2, 3])
def test_so_few_trials_that_nothing_could_be_seen_decide_nothing(n: int) -> None:
    (found,) = of(sides("c", (n, n), (n, n)))
    assert two_proportions(0, n, n, n).p > ALPHA
    assert (found.word, "could not show a difference" in found.why) == ("not_decided", True)


def test_fewer_than_two_decided_trials_are_counts_without_a_test() -> None:
    (found,) = of(sides("c", (1, 1), (0, 1)))
    assert (found.method, found.p, found.limits, found.word) == ("none", None, None, "not_decided")
    assert found.difference == Fraction(-1)


def test_losses_that_depend_on_the_side_leave_it_undecided() -> None:
    """The same truth on both sides; on the second whatever fails crashes. The decided trials say 50 % to 100 %."""
    (found,) = of(sides("c", (10, 20), (10, 10, 10)))
    assert found.difference == Fraction(1, 2)
    assert found.p is not None
    assert found.p < 0.02
    assert found.bounds == (0, Fraction(1, 2))
    assert (found.word, found.why) == ("not_decided", "it depends on what the undecided trials would have come to")


def test_losses_that_change_nothing_leave_it_decided() -> None:
    (found,) = of(sides("c", (20, 20), (0, 19, 1)))
    assert found.word == "lower"


def test_over_cases_signs_are_flipped_from_six_cases_on() -> None:
    five = of(*(sides(f"c{n}", (20, 20), (10, 20)) for n in range(5)))
    assert {one.method for one in five} == {"two proportions, exact"}
    (six, *counts) = of(*(sides(f"c{n}", (20, 20), (10, 20)) for n in range(6)))
    assert (six.method, six.estimand, six.word) == ("sign flips over cases", "these cases", "lower")
    assert six.p == 2 / 64
    assert six.interval is None, "no bootstrap from so few cases"
    assert [one.method for one in counts] == ["none"] * 6


def test_from_twenty_cases_on_there_are_limits_for_cases_like_these() -> None:
    told = [sides(f"c{n}", (n % 5, 5), (min(5, n % 5 + 1), 5, 1 if n == 3 else 0)) for n in range(20)]
    found = of(*told)[0]
    assert found.interval is not None
    assert found.limits is not None
    assert found.limits.low <= found.interval.low <= found.interval.high <= found.limits.high


def test_unequal_numbers_of_trials_are_no_matter_of_signs() -> None:
    """One trial of each of ten cases against fifty, of one chance: flipped signs would call the second side higher."""
    (found, *_) = of(*(sides(f"c{n}", (0, 1), (5, 50)) for n in range(10)))
    assert (found.method, found.word) == ("labels dealt anew within cases", "no_difference_decided")
    (found, *_) = of(*(sides(f"c{n}", (0, 3), (9, 9, 1)) for n in range(10)))
    assert (found.method, found.word) == ("labels dealt anew within cases", "higher")


def test_losses_over_cases_are_taken_at_their_worst() -> None:
    clean = [sides(f"c{n}", (1, 2), (2, 2)) for n in range(8)]
    assert of(*clean)[0].word == "higher"
    lossy = [sides(f"c{n}", (1, 2), (1, 1, 1)) for n in range(8)]
    assert of(*lossy)[0].word == "not_decided"
    lost = [sides(f"c{n}", (1, 2), (0, 0, 2)) for n in range(8)]
    found = of(*lost)[0]
    assert (found.difference, found.p, found.word) == (None, None, "not_decided")


def test_a_family_is_adjusted_together() -> None:
    """Each alone would reject at 5 %; of five tests the one does not."""
    weak = sides("weak", (5, 5), (0, 4))
    assert of(weak)[0].word == "lower"
    rest = [sides(f"c{n}", (5, 10), (5, 10)) for n in range(4)]
    found = of(weak, *rest)[0]
    assert (found.tests, found.p_most, found.word) == (5, pytest.approx(5 * found.p), "no_difference_decided")
    declared = of(weak, *rest, family=("weak",))
    assert (declared[0].word, declared[0].tests) == ("lower", 1)
    assert {one.why for one in declared[1:]} == {"it is not in the declared family"}


def test_a_test_that_could_never_reject_costs_the_others_nothing() -> None:
    able, *idle = of(sides("able", (5, 5), (0, 5)), *(sides(f"c{n}", (1, 2), (1, 2)) for n in range(4)))
    assert (able.tests, able.word) == (1, "lower")
    assert {one.word for one in idle} == {"not_decided"}


def test_so_large_a_family_that_none_could_reject_decides_nothing() -> None:
    found = of(*(sides(f"c{n}", (4, 4), (4, 4)) for n in range(4)))
    assert {one.word for one in found} == {"not_decided"}
    assert found[0].why.endswith("in a family of 4")


def test_pairs_by_design_are_mcnemars() -> None:
    (found,) = of(sides("c", (1, 12), (9, 12), PairCounts(9, 1, 2, 0)))
    assert (found.method, found.word) == ("exact McNemar, pairs by design", "higher")
    assert found.p == mcnemar(9, 1, 2).p
    (found,) = of(sides("c", (1, 12), (9, 12, 3), PairCounts(8, 0, 4, 3)))
    assert found.word == "not_decided"


def test_a_decision_holds_however_the_undecided_trials_come_out() -> None:
    """By going through every way they could: what is decided is so in all of them, what is not in some or none."""
    for k1, u1, k2, u2 in product(range(0, 7, 2), (0, 1, 2), range(0, 7, 2), (0, 2)):
        told = sides("c", (k1, 6, u1), (k2, 6, u2))
        (found,) = of(told)
        ways = [two_proportions(k1 + a, 6 + u1, k2 + b, 6 + u2) for a in range(u1 + 1) for b in range(u2 + 1)]
        words = {"none" if way.p > ALPHA else "higher" if way.difference > 0 else "lower" for way in ways}
        expected = {"none": "no_difference_decided"}.get(*words, *words) if len(words) == 1 else "not_decided"
        assert found.word == expected, told


def test_losses_that_leave_too_few_to_show_anything_decide_nothing() -> None:
    """Two of six passed and four are lost. At worst that is 2 to 6, which six and six trials do not reject either."""
    (found,) = of(sides("c", (6, 6), (2, 2, 4)))
    assert min(found.p_ends or ()) > ALPHA
    assert (found.word, "so few decided trials" in found.why) == ("not_decided", True)
    six = [sides(f"c{n}", (2, 2), (0, 0, 2) if n else (2, 2)) for n in range(6)]
    assert of(*six)[0].word == "not_decided"
    (found,) = of(sides("c", (0, 8), (0, 8, 4), PairCounts(0, 0, 5, 7)))
    assert found.word == "not_decided"
