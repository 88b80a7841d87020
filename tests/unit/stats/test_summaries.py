"""Distributions: against numpy, and what few values leave open."""

from __future__ import annotations

import numpy as np
import pytest

from oyer.stats import summarise


def test_quantiles_are_numpys() -> None:
    values = [float((i * 7919) % 101) for i in range(40)]
    found = summarise([*values, None])
    theirs = np.quantile(values, [0, 0.25, 0.5, 0.75, 0.95, 1])
    assert (found.least, found.lower_quartile, found.median, found.upper_quartile, found.p95, found.most) == (
        pytest.approx(tuple(theirs))
    )
    assert (found.n, found.missing) == (40, 1)


def test_below_twenty_values_there_is_no_p95() -> None:
    assert summarise([1.0] * 19).p95 is None
    assert summarise([1.0] * 20).p95 == 1.0


def test_nothing_measured() -> None:
    assert summarise([None, None]) == (0, 2, None, None, None, None, None, None)
    assert summarise([3.0]).median == 3.0
