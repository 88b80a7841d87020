"""A series with a rule that is killed or stopped around a look: no decision is lost, made up, or taken too early."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from series_kit import Running, failed_checks, ledger_of, peer, peer_case, verified

from oyer.adjudicate import course_of
from oyer.host import become_subreaper, reap_orphans

RULE = {"test": "bernoulli", "of": "performed(peer).completed", "p0": 0.5, "min": 2, "max": 12}
DUE = 8
"""E of n of n against .5 is 2^n / (n + 1): 16 after seven, 28 after eight, and 20 rejects."""
START = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[START]:
    become_subreaper()
    begun: list[Running] = []

    def run(**options: object) -> Running:
        peer_case(tmp_path, peer("serves"))
        case, out = tmp_path / "peer.yaml", tmp_path / "out"
        begun.append(Running(case, ["scripted:obedient"], out, tmp_path, rule=json.dumps(RULE), **options))
        return begun[-1]

    yield run
    for running in begun:
        running.close()
    reap_orphans()


def test_killed_between_a_look_and_the_next_batch_it_is_an_open_series_that_says_so(start: START) -> None:
    running = start(env={"OYER_FAULT": "engine.looked:3=kill"})
    assert running.end() == -signal.SIGKILL
    ledger = ledger_of(running.out)
    assert not ledger.closed and ledger.stops == ()
    assert len(ledger.attempts) == 4
    found = verified(running.out)
    assert (found.exit_code, failed_checks(running.out)) == (5, [])
    assert "8 of 12 planned trials have no counted attempt: the series was not closed" in found.checks[5].detail


def test_killed_after_a_stop_its_decision_stands_and_the_series_is_open(start: START) -> None:
    running = start(env={"OYER_FAULT": f"engine.looked:{DUE - 1}=kill"})
    assert running.end() == -signal.SIGKILL
    ledger = ledger_of(running.out)
    (stop,) = course_of(ledger).stops
    assert (stop.word, stop.units) == ("rejected", DUE) and not ledger.closed
    found = verified(running.out)
    assert (found.exit_code, failed_checks(running.out)) == (5, [])
    assert "the series was not closed" in "\n".join(line for check in found.checks for line in check.lines())


def test_a_signal_takes_no_look_at_less_than_whole_units(start: START) -> None:
    running = start()
    running.wait_line("4/12")
    running.signal(signal.SIGINT)
    assert running.end() == 130
    ledger = ledger_of(running.out)
    assert ledger.closed and ledger.closing["interrupted"] is True and ledger.stops == ()
    found = verified(running.out)
    assert (found.exit_code, failed_checks(running.out)) == (5, [])


@pytest.mark.parametrize("nth", [2, 8])
def test_killed_while_a_stop_is_written(start: START, nth: int) -> None:
    """The ledger's appends of a unit are three, and one opens it: the last is that of the stop."""
    at = {2: 1 + 3 * 2, 8: 1 + 3 * DUE + 1}[nth]
    running = start(env={"OYER_FAULT": f"store.ledger-fsync:{at}=kill"})
    assert running.end() == -signal.SIGKILL
    found = verified(running.out)
    assert (found.exit_code, failed_checks(running.out)) == (5, [])
    assert len(ledger_of(running.out).stops) == (1 if nth == DUE else 0)
