"""The simulations, a few series of each; `make stats` does thousands. And that a broken promise is seen as one."""

from __future__ import annotations

import coverage_of_numbers as simulated
import numpy as np
import pytest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_promise_holds_in_some_series(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated.main(["--count", "60", "--seed", "3"]) == 0
    assert "every promise holds" in capsys.readouterr().out


def test_what_is_not_offered_would_break_its_promise() -> None:
    for found in simulated.naive(np.random.default_rng(5), 150):
        assert not found.offered
        assert not found.holds(150), found


def test_a_broken_promise_ends_with_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pretended(draw: np.random.Generator, count: int) -> list[simulated.Found]:
        return [found._replace(offered=True) for found in simulated.naive(draw, count)]

    monkeypatch.setattr(simulated, "GROUPS", ((pretended, 1.0),))
    assert simulated.main(["--count", "100"]) == 1
    assert "2 promises are broken" in capsys.readouterr().out
