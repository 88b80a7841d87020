"""E-values and Wald's ratio: against integrals done by somebody else, worked numbers, and exact error rates."""

from __future__ import annotations

from math import comb, exp, inf, log

import pytest
import scipy
from scipy.integrate import quad

from oyer.stats import (
    bernoulli_log_e,
    bernoulli_look,
    confidence_sequence,
    mcnemar_log_e,
    mcnemar_look,
    sprt_log_ratio,
    sprt_look,
)
from oyer.stats.sequential import Side


@pytest.mark.parametrize(("k", "n"), [(0, 0), (0, 5), (3, 7), (7, 7), (12, 30)])
@pytest.mark.parametrize("p0", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("side", ["two", "greater", "less"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 2.0)])
def test_it_is_the_mixture_it_says(k: int, n: int, p0: float, side: Side, a: float, b: float) -> None:
    low, high = {"two": (0.0, 1.0), "greater": (p0, 1.0), "less": (0.0, p0)}[side]
    prior = scipy.stats.beta(a, b)
    whole = prior.cdf(high) - prior.cdf(low)
    mixed, _ = quad(lambda p: prior.pdf(p) / whole * p**k * (1 - p) ** (n - k), low, high, limit=200)
    told = exp(bernoulli_log_e(k, n, p0, side=side, a=a, b=b))
    assert told == pytest.approx(mixed / (p0**k * (1 - p0) ** (n - k)), rel=2e-5)


@pytest.mark.parametrize("side", ["two", "greater", "less"])
@pytest.mark.parametrize("p0", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("n", [1, 4, 25])
def test_its_mean_under_the_hypothesis_is_one(side: Side, p0: float, n: int) -> None:
    mean = sum(
        comb(n, k) * p0**k * (1 - p0) ** (n - k) * exp(bernoulli_log_e(k, n, p0, side=side)) for k in range(n + 1)
    )
    assert mean == pytest.approx(1.0, rel=1e-9)


def crossing(p: float, horizon: int, rejects: dict[tuple[int, int], bool]) -> float:
    """The exact chance that a rule rejects at some n up to a horizon, when one looks after every trial."""
    alive, crossed = {0: 1.0}, 0.0
    for n in range(1, horizon + 1):
        after: dict[int, float] = {}
        for k, chance in alive.items():
            for step, weight in ((1, p), (0, 1 - p)):
                after[k + step] = after.get(k + step, 0.0) + chance * weight
        crossed += sum(chance for k, chance in after.items() if rejects[k, n])
        alive = {k: chance for k, chance in after.items() if not rejects[k, n]}
    return crossed


@pytest.mark.parametrize(
    ("side", "p0"), [("two", 0.5), ("greater", 0.5), ("less", 0.5), ("two", 0.1), ("greater", 0.05)]
)
def test_looking_after_every_trial_keeps_alpha(side: Side, p0: float) -> None:
    """Exact, over every path of 200 trials: not a simulation."""
    rejects = {
        (k, n): bernoulli_look(k, n, 0, p0, alpha=0.05, side=side).word == "rejected"
        for n in range(1, 201)
        for k in range(n + 1)
    }
    assert crossing(p0, 200, rejects) <= 0.05
    assert any(rejects.values())


def test_a_one_sided_rule_keeps_alpha_at_every_chance_of_its_hypothesis() -> None:
    rejects = {
        (k, n): bernoulli_look(k, n, 0, 0.5, alpha=0.05, side="greater").word == "rejected"
        for n in range(1, 101)
        for k in range(n + 1)
    }
    assert max(crossing(p, 100, rejects) for p in (0.1, 0.3, 0.45, 0.5)) <= 0.05


def test_nothing_of_fifty_nine_excludes_what_the_design_states() -> None:
    """Fixed, 59 clean trials exclude .05; after a sequential rule only .113."""
    assert confidence_sequence(0, 59, alpha=0.05).high == pytest.approx(0.113, abs=5e-4)
    assert confidence_sequence(0, 59, alpha=0.05).low == 0.0


@pytest.mark.parametrize(("k", "n"), [(0, 3), (2, 9), (9, 9), (50, 100), (3, 400)])
@pytest.mark.parametrize("side", ["two", "greater", "less"])
def test_the_sequence_holds_exactly_what_is_not_rejected(k: int, n: int, side: Side) -> None:
    found = confidence_sequence(k, n, alpha=0.05, side=side)
    for step in range(1, 200):
        p = step / 200
        kept = bernoulli_log_e(k, n, p, side=side) < -log(0.05)
        if abs(p - found.low) > 1e-9 and abs(p - found.high) > 1e-9:
            assert kept == (found.low < p < found.high), (p, found)


def test_undecided_trials_widen_it_and_hold_a_rule_back() -> None:
    sure, unsure = confidence_sequence(10, 10, alpha=0.05), confidence_sequence(10, 10, 3, alpha=0.05)
    assert unsure.low < sure.low
    assert bernoulli_look(10, 10, 0, 0.5, alpha=0.05).word == "rejected"
    assert bernoulli_look(10, 10, 3, 0.5, alpha=0.05).word == "go_on"


@pytest.mark.parametrize(("k", "decided", "undecided"), [(9, 10, 2), (0, 12, 4), (30, 40, 5)])
def test_a_look_is_the_worst_of_what_the_undecided_may_be(k: int, decided: int, undecided: int) -> None:
    look = bernoulli_look(k, decided, undecided, 0.5, alpha=0.05)
    every = [bernoulli_log_e(k + more, decided + undecided, 0.5) for more in range(undecided + 1)]
    assert look.log_e == min(every)
    assert (look.word == "rejected") == all(one >= log(20) for one in every)


def test_e_mcnemar_is_its_formula_and_its_mean_is_one() -> None:
    assert exp(mcnemar_log_e(6, 0)) == pytest.approx(2**6 * 720 / 5040)
    assert exp(mcnemar_log_e(0, 0)) == pytest.approx(1.0)
    for m in (1, 5, 20):
        mean = sum(comb(m, b) / 2**m * exp(mcnemar_log_e(b, m - b)) for b in range(m + 1))
        assert mean == pytest.approx(1.0)


def test_e_mcnemar_with_undecided_pairs_stops_only_where_it_always_would() -> None:
    assert mcnemar_look(9, 0, 0, alpha=0.05).word == "rejected"
    assert mcnemar_look(9, 0, 3, alpha=0.05).word == "go_on"
    worst = min(mcnemar_log_e(9 + i, j) for i in range(4) for j in range(4 - i))
    assert mcnemar_look(9, 0, 3, alpha=0.05).log_e == worst


def test_walds_boundaries() -> None:
    assert sprt_log_ratio(1, 1, 0.5, 0.8) == pytest.approx(log(1.6))
    assert sprt_look(6, 6, 0, 0.5, 0.8, alpha=0.05, beta=0.2).word == "rejected"
    assert sprt_look(0, 2, 0, 0.5, 0.8, alpha=0.05, beta=0.2).word == "accepted"
    assert sprt_look(3, 5, 0, 0.5, 0.8, alpha=0.05, beta=0.2).word == "go_on"
    assert sprt_look(6, 6, 1, 0.5, 0.8, alpha=0.05, beta=0.2).word == "go_on"


def test_walds_error_rates_are_below_what_its_boundaries_promise() -> None:
    """Wald's bounds: the chance to reject wrongly is at most alpha / (1 - beta), here exactly counted."""
    rejects = {
        (k, n): sprt_look(k, n, 0, 0.5, 0.8, alpha=0.05, beta=0.2).word != "go_on"
        for n in range(201)
        for k in range(n + 1)
    }
    alive, wrong = {0: 1.0}, 0.0
    for n in range(1, 201):
        after: dict[int, float] = {}
        for k, chance in alive.items():
            for step in (0, 1):
                after[k + step] = after.get(k + step, 0.0) + chance / 2
        for k, chance in after.items():
            wrong += chance * (sprt_look(k, n, 0, 0.5, 0.8, alpha=0.05, beta=0.2).word == "rejected")
        alive = {k: chance for k, chance in after.items() if not rejects[k, n]}
    assert wrong <= 0.05 / 0.8


@pytest.mark.parametrize(("k", "n", "p0"), [(-1, 3, 0.5), (4, 3, 0.5), (1, 3, 0.0), (1, 3, 1.0)])
def test_what_makes_no_sense_is_refused(k: int, n: int, p0: float) -> None:
    with pytest.raises(ValueError, match=r"not counts|between 0 and 1"):
        bernoulli_log_e(k, n, p0)
    with pytest.raises(ValueError, match="above 0"):
        bernoulli_log_e(1, 3, 0.5, a=0.0)


def test_far_in_the_tail_there_is_a_number_and_no_error() -> None:
    assert bernoulli_log_e(0, 5000, 0.5, side="greater") in (-inf,) or bernoulli_log_e(0, 5000, 0.5, side="greater") < 0
    assert bernoulli_look(0, 5000, 0, 0.5, alpha=0.05, side="greater").word == "go_on"


@pytest.mark.parametrize(
    ("p0", "p1", "alpha", "beta"), [(0.5, 0.9, 0.05, 0.5), (0.5, 0.75, 0.1, 0.6), (0.2, 0.4, 0.05, 0.2)]
)
def test_walds_test_rejects_a_true_p0_as_often_as_is_said_of_it(
    p0: float, p1: float, alpha: float, beta: float
) -> None:
    """By every path of up to 150 trials with a look after each: more than alpha, and never alpha / (1 - beta)."""
    going, rejected = {0: 1.0}, 0.0
    for n in range(1, 151):
        after: dict[int, float] = {}
        for k, chance in going.items():
            after[k + 1] = after.get(k + 1, 0.0) + chance * p0
            after[k] = after.get(k, 0.0) + chance * (1 - p0)
        words = {k: sprt_look(k, n, 0, p0, p1, alpha=alpha, beta=beta).word for k in after}
        rejected += sum(chance for k, chance in after.items() if words[k] == "rejected")
        going = {k: chance for k, chance in after.items() if words[k] == "go_on"}
    assert rejected <= alpha / (1 - beta)
    assert (rejected > alpha) == (beta >= 0.5)
