"""Whether the numbers hold: coverage, false rejections under continuous looking, what is not offered and why.

Every line names what is simulated, over which range, and the worst figure found in it. A figure passes if it is within
three standard errors of simulation of what is promised. ``tests/simulations/coverage_of_numbers.py [--count N]``
ends with 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from oyer.adjudicate import Question, Sides, contrasts  # noqa: E402
from oyer.stats import (  # noqa: E402
    CaseCounts,
    JudgeCounts,
    bernoulli_log_e,
    cases_rate,
    clopper_pearson,
    cluster_bootstrap,
    confidence_sequence,
    corrected_rate,
    mcnemar_log_e,
    relabelled,
    sign_flip,
    two_proportions,
    wilson,
)

PROMISED = 0.94
"""What a 95 % interval has to cover, at least, everywhere in its declared range."""
ALPHA = 0.05
Draw = np.random.Generator


class Found(NamedTuple):
    """One figure: the worst of a range, where in it, and whether it has to keep a promise."""

    what: str
    figure: float
    where: str
    bar: float
    at_least: bool
    offered: bool = True

    def holds(self, count: int) -> bool:
        """Whether it is within three standard errors of simulation of what is promised."""
        slack = 3 * sqrt(self.bar * (1 - self.bar) / count)
        return self.figure >= self.bar - slack if self.at_least else self.figure <= self.bar + slack


def chances(draw: Draw, cases: int, mean: float, alike: float) -> np.ndarray:
    """Draw a chance for each case: beta with this mean, and `alike` as the correlation of repeats of one case."""
    if alike == 0:
        return np.full(cases, mean)
    size = 1 / alike - 1
    return draw.beta(mean * size, (1 - mean) * size, cases)


def worst(points: Iterator[tuple[float, str]], *, highest: bool = False) -> tuple[float, str]:
    """Return the worst figure, and where it was."""
    return max(points) if highest else min(points)


MEANS, ALIKE = (0.02, 0.1, 0.3, 0.5, 0.9), (0.0, 0.1, 0.3, 0.5)


def repeats(draw: Draw, count: int) -> Iterator[Found]:
    """Intervals on case means, with repeats, from 5 cases up."""
    for cases in (5, 10, 20, 50):
        points = []
        for tries in (3, 20):
            for mean in MEANS:
                for alike in ALIKE:
                    hit = 0
                    for _ in range(count):
                        k = draw.binomial(tries, chances(draw, cases, mean, alike))
                        found = cases_rate([CaseCounts(int(one), tries) for one in k]).interval
                        hit += found is not None and found.low <= mean <= found.high
                    points.append((hit / count, f"{tries} repeats, mean {mean}, correlation {alike}"))
        yield Found(f"mean over {cases} cases: coverage", *worst(iter(points)), PROMISED, at_least=True)


RARE = ((5, 0.3, 0.5, 0.0), (20, 0.08, 0.5, 0.0), (30, 0.05, 0.3, 1.0), (50, 0.03, 0.2, 1.0), (100, 0.02, 0.1, 1.0))
"""Cases, the share of a rare kind among them, the chance of the others, and that of the rare kind."""


def mixtures(draw: Draw, count: int) -> Iterator[Found]:
    """Cases of two kinds, one of them rare; then unequal numbers of repeats, one to nine; then differences."""
    points, plain = [], []
    for cases, rare, often, seldom in RARE:
        mean = often * (1 - rare) + seldom * rare
        hit = short = 0
        for _ in range(count):
            tries = draw.integers(1, 10, cases)
            k = draw.binomial(tries, np.where(draw.random(cases) < rare, seldom, often))
            found = cases_rate([CaseCounts(int(one), int(n)) for one, n in zip(k, tries, strict=True)]).interval
            hit += found is not None and found.low <= mean <= found.high
            means = k / tries
            wide = float(stdtrit(cases - 1, 0.975)) * means.std(ddof=1) / sqrt(cases)
            short += abs(means.mean() - mean) <= wide
        where = f"{cases} cases, {100 * rare:g} % of them {seldom:g}, the others {often:g}, 1 to 9 repeats"
        points.append((hit / count, where))
        plain.append((short / count, where))
    yield Found("mean over cases of two kinds: coverage", *worst(iter(points)), PROMISED, at_least=True)
    told = "Student's t over cases of two kinds"
    yield Found(told, *worst(iter(plain)), PROMISED, at_least=True, offered=False)
    points = []
    for cases, rare in ((20, 0.05), (40, 0.04), (60, 0.02)):
        hit = 0
        for number in range(count):
            gaps = (draw.random(cases) < rare).astype(float).tolist()
            limits = cluster_bootstrap(gaps, seed=number, draws=300)
            hit += limits is not None and limits.low <= rare <= limits.high
        points.append((hit / count, f"{cases} cases, {100 * rare:g} % of them differ"))
    yield Found("limits of differences, few differ: coverage", *worst(iter(points)), PROMISED, at_least=True)


def unequal(draw: Draw, count: int) -> Iterator[Found]:
    """Two series alike in truth, with other numbers of repeats."""
    points, flipped = [], []
    for cases, few, many, p in ((10, 1, 50, 0.1), (8, 2, 20, 0.1), (20, 1, 10, 0.9), (6, 3, 10, 0.5)):
        wrong = signs = 0
        for number in range(count):
            a, b = draw.binomial(few, p, cases).tolist(), draw.binomial(many, p, cases).tolist()
            wrong += (
                relabelled([(x, few, y, many) for x, y in zip(a, b, strict=True)], seed=number, draws=400).p <= ALPHA
            )
            if many < 50:
                continue
            gaps = [Fraction(y, many) - Fraction(x, few) for x, y in zip(a, b, strict=True)]
            signs += sign_flip(gaps, seed=number, draws=400).p <= ALPHA
        where = f"{cases} cases, {few} and {many} repeats, chance {p}"
        points.append((wrong / count, where))
        flipped.append((signs / count, where))
    yield Found("labels dealt anew: false rejections", *worst(iter(points), highest=True), ALPHA, at_least=False)
    told = "sign flips of unequal sides"
    yield Found(told, *worst(iter(flipped), highest=True), ALPHA, at_least=False, offered=False)


def naive(draw: Draw, count: int) -> Iterator[Found]:
    """What treating repeats as independent would do: not offered across cases."""
    hit = 0
    for _ in range(count):
        k = int(draw.binomial(20, chances(draw, 20, 0.5, 0.3)).sum())
        found = wilson(k, 400)
        hit += found.low <= 0.5 <= found.high
    yield Found(
        "Wilson over 20 cases x 20 repeats", hit / count, "correlation 0.3", PROMISED, at_least=True, offered=False
    )
    rejected = 0
    for _ in range(count):
        trials = draw.random((20, 20)) < chances(draw, 20, 0.5, 0.3)[:, None]
        flat = trials.reshape(-1)
        k = np.cumsum(flat)
        rejected += any(bernoulli_log_e(int(k[n - 1]), n, 0.5) >= np.log(1 / ALPHA) for n in range(20, 401, 20))
    told = "looking after every case, correlation 0.3"
    yield Found("e-value over 20 cases x 20 repeats", rejected / count, told, ALPHA, at_least=False, offered=False)


def comparisons(draw: Draw, count: int) -> Iterator[Found]:
    """Two series on the same cases, alike in truth: how often each test says that they differ."""
    points, covered = [], []
    for cases in (6, 20, 40):
        for alike in (0.0, 0.3, 0.9):
            rejected = hit = 0
            for number in range(count):
                p = chances(draw, cases, 0.4, alike)
                a, b = draw.binomial(20, p), draw.binomial(20, p)
                gaps = [Fraction(int(x) - int(y), 20) for x, y in zip(a, b, strict=True)]
                rejected += sign_flip(gaps, seed=number, draws=400).p <= ALPHA
                limits = cluster_bootstrap([float(one) for one in gaps], seed=number, draws=800)
                hit += limits is None or limits.low <= 0 <= limits.high
            points.append((rejected / count, f"{cases} cases x 20 repeats, correlation {alike}"))
            if cases >= 20:
                covered.append((hit / count, f"{cases} cases x 20 repeats, correlation {alike}"))
    yield Found("sign flips on case means: false rejections", *worst(iter(points), highest=True), ALPHA, at_least=False)
    yield Found("bootstrap over cases: coverage", *worst(iter(covered)), PROMISED, at_least=True)


def sequences(draw: Draw, count: int) -> Iterator[Found]:
    """Looking after every trial up to 500, stopping at the first chance to say something."""
    points, after, fixed = [], [], []
    for p0 in (0.05, 0.3, 0.5):
        rejected = 0
        for _ in range(count):
            k = np.cumsum(draw.random(500) < p0)
            rejected += any(bernoulli_log_e(int(k[n - 1]), n, p0) >= np.log(1 / ALPHA) for n in range(1, 501))
        points.append((rejected / count, f"p0 {p0}, 500 looks"))
    yield Found("e-value of a chance: false rejections", *worst(iter(points), highest=True), ALPHA, at_least=False)
    wrong = 0
    for _ in range(count):
        b = np.cumsum(draw.random(300) < 0.5)
        wrong += any(mcnemar_log_e(int(b[m - 1]), m - int(b[m - 1])) >= np.log(1 / ALPHA) for m in range(1, 301))
    yield Found("e-value of pairs: false rejections", wrong / count, "300 looks", ALPHA, at_least=False)
    for p in (0.6, 0.75):
        hit = plain = 0
        for _ in range(count):
            k = np.cumsum(draw.random(400) < p)
            bar = np.log(1 / ALPHA)
            stop = next((n for n in range(5, 401, 5) if bernoulli_log_e(int(k[n - 1]), n, 0.5) >= bar), 400)
            found, short = confidence_sequence(int(k[stop - 1]), stop, alpha=ALPHA), wilson(int(k[stop - 1]), stop)
            hit += found.low <= p <= found.high
            plain += short.low <= p <= short.high
        after.append((hit / count, f"true chance {p}, stopped at rejection of .5"))
        fixed.append((plain / count, f"true chance {p}, stopped at rejection of .5"))
    yield Found("confidence sequence after a stop: coverage", *worst(iter(after)), 0.95, at_least=True)
    yield Found("Wilson after a stop: coverage", *worst(iter(fixed)), PROMISED, at_least=True, offered=False)


def rates(draw: Draw, count: int) -> Iterator[Found]:
    """One case, a fixed number of trials."""
    points = []
    for n in (5, 20, 100):
        for p in (0.01, 0.1, 0.5, 0.99):
            k = draw.binomial(n, p, count)
            limits = {int(one): clopper_pearson(int(one), n) for one in set(k.tolist())}
            hit = sum(limits[int(one)].low <= p <= limits[int(one)].high for one in k)
            points.append((hit / count, f"{n} trials, chance {p}"))
    yield Found("exact limits of one case: coverage", *worst(iter(points)), 0.95, at_least=True)


def one_case(draw: Draw, count: int) -> Iterator[Found]:
    """One case on two sides, alike in truth; then with losses that depend on the side."""
    points, covered = [], []
    for n1, n2 in ((4, 4), (10, 10), (10, 30), (40, 40)):
        for p in (0.1, 0.5, 0.9):
            k1, k2 = draw.binomial(n1, p, count), draw.binomial(n2, p, count)
            found = [two_proportions(int(a), n1, int(b), n2) for a, b in zip(k1, k2, strict=True)]
            where = f"{n1} and {n2} trials, chance {p}"
            points.append((sum(one.p <= ALPHA for one in found) / count, where))
            covered.append((sum(one.interval.low <= 0 <= one.interval.high for one in found) / count, where))
    yield Found("two proportions: false rejections", *worst(iter(points), highest=True), ALPHA, at_least=False)
    yield Found("two proportions: coverage", *worst(iter(covered)), 0.95, at_least=True)
    alone = decided = 0
    for _ in range(count):
        first, second = int(draw.binomial(20, 0.5)), int(draw.binomial(20, 0.5))
        # On the second side four of five that would have failed crash, and show nothing.
        lost = int(draw.binomial(20 - second, 0.8))
        alone += two_proportions(first, 20, second, 20 - lost).p <= ALPHA
        sides = Sides("c", CaseCounts(first, 20), CaseCounts(second, 20 - lost, lost))
        (told,) = contrasts([Question("c", (sides,))], seed=1, draws=1000)
        decided += told.word in ("higher", "lower")
    told_of = "80 % of the failures of one side crash"
    yield Found("decided trials alone: false rejections", alone / count, told_of, ALPHA, at_least=False, offered=False)
    yield Found("decided whatever was lost: false ones", decided / count, told_of, ALPHA, at_least=False)


def families(draw: Draw, count: int) -> Iterator[Found]:
    """Everything that two series alike in truth are asked: how often anything at all is decided."""
    points = []
    for cases, tries in ((3, 10), (5, 20), (8, 4)):
        wrong = 0
        for number in range(count):
            questions = []
            for name in ("a", "b"):
                sides = []
                for at, p in enumerate(chances(draw, cases, 0.5, 0.3)):
                    k = draw.binomial(tries, p, 2)
                    lost = draw.binomial(1, 0.2, 2)
                    # A lost trial is one that would have failed, where there is one: on either side alike.
                    each = [CaseCounts(int(one), tries - int(gone), int(gone)) for one, gone in
                            zip(np.minimum(k, tries - lost), lost, strict=True)]  # fmt: skip
                    sides.append(Sides(f"{name}{at}", each[0], each[1]))
                questions.append(Question(name, tuple(sides)))
            found = contrasts(questions, seed=number, draws=500)
            wrong += any(one.word in ("higher", "lower") for one in found)
        points.append((wrong / count, f"2 questions of {cases} cases x {tries} repeats, some trials lost"))
    yield Found(
        "a family of tests: anything falsely decided", *worst(iter(points), highest=True), ALPHA, at_least=False
    )


def judges(draw: Draw, count: int) -> Iterator[Found]:
    """A rate that a fallible judge gives, corrected."""
    points = []
    for truth in (0.1, 0.5, 0.9):
        for sensitivity, specificity in ((0.9, 0.9), (0.75, 0.95), (0.99, 0.8)):
            hit = told = 0
            for _ in range(count):
                said = int(draw.binomial(200, truth * sensitivity + (1 - truth) * (1 - specificity)))
                judge = JudgeCounts(int(draw.binomial(60, sensitivity)), 60, int(draw.binomial(60, specificity)), 60)
                found = corrected_rate(said, 200, judge).interval
                if found is not None:
                    told += 1
                    hit += found.low <= truth <= found.high
            points.append(
                (hit / max(told, 1), f"truth {truth}, judge {sensitivity}/{specificity}, 200 judged, 120 labelled")
            )
    yield Found("judge-corrected rate: coverage", *worst(iter(points)), PROMISED, at_least=True)


GROUPS: tuple[tuple[Callable[[Draw, int], Iterator[Found]], float], ...] = (
    (rates, 4.0),
    (repeats, 0.2),
    (mixtures, 0.25),
    (unequal, 0.25),
    (naive, 0.5),
    (comparisons, 0.5),
    (sequences, 0.5),
    (one_case, 1.0),
    (families, 0.5),
    (judges, 2.0),
)
"""What is simulated, and how many times of `--count`."""


def main(arguments: list[str] | None = None) -> int:
    """Simulate, print every figure, and say whether every promise holds."""
    parser = argparse.ArgumentParser(description="Hold the statistics to what they promise.")
    parser.add_argument("--count", type=int, default=2000, help="simulated series for each point")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    broken = 0
    for group, share in GROUPS:
        began = time.monotonic()
        count = max(50, int(given.count * share))
        for found in group(np.random.default_rng([given.seed, len(group.__name__)]), count):
            good = found.holds(count)
            broken += found.offered and not good
            sign = ">=" if found.at_least else "<="
            word = "not offered" if not found.offered else "holds" if good else "BROKEN"
            print(
                f"{word:12} {found.what:44} {found.figure:.3f} ({sign} {found.bar:.2f})  worst at: {found.where}",
                flush=True,
            )
        print(f"             ({group.__name__}: {count} series a point, {time.monotonic() - began:.0f} s)", flush=True)
    print("every promise holds" if not broken else f"{broken} promises are broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
