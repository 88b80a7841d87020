"""A golden series that a rule stopped: four units planned, the look after the second rejects. Same call, same bytes.

The counts of the stop are worked out here by hand, and its e-value by the formula of the trials design.
"""

from __future__ import annotations

from math import comb, log
from pathlib import Path

from golden_build import GoldenSeries

from oyer.records import Sequential, digest

SUBJECT = "obedient"
RULE = Sequential(
    test="bernoulli", of="mechanical_outcome(golden).CONFIRMED", p0=0.2, alpha=0.25, min=1, max=4, look_every=1
)
UNITS = 2
"""E of n successes in n is 1 / ((n + 1) p0^n): 2.5 after one, 8.3 after two, and 4 or more rejects."""


def log_e(k: int, n: int) -> float:
    """Return log E against p0 with the uniform mixture, in closed form."""
    p0 = RULE.p0 or 0.5
    return -log((n + 1) * comb(n, k)) - k * log(p0) - (n - k) * log(1 - p0)


def stop_of(units: int, k: int, word: str = "rejected") -> dict[str, object]:
    """Return the body of a stop after so many units, all of them decided."""
    return {
        "subject": SUBJECT,
        "rule": digest(RULE),
        "units": units,
        "k": k,
        "other": None,
        "decided": units,
        "undecided": 0,
        "log_e": f"{log_e(k, units):.6f}",
        "word": word,
    }


def build_stopped(path: Path) -> None:
    """Write the whole good series."""
    golden = GoldenSeries(path, (SUBJECT,), ("baseline", "manipulated"), rule=RULE)
    for planned in golden.plan.trials:
        if planned.repetition <= UNITS:
            golden.run(planned)
    golden.store.ledger("stopped", why="rule", body=stop_of(UNITS, UNITS))
    golden.finish()
