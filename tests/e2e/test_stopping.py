"""Series that stop by a rule: where the plan said, whatever finished first, every decision taken again by verify."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from endpoint_kit import endpoint
from golden_tamper import Forger
from series_kit import failed_checks, ledger_of, packaged, peer, peer_case, run, verified

from oyer.adjudicate import course_of, not_run_by
from oyer.engine import SeriesOutcome, SubjectSpec
from oyer.records import Attempts, Order, Sequential, SeriesBudget, SuiteCase, SuiteRepeat, TrialSuite
from oyer.report import budget_words
from oyer.stats import bernoulli_look, mcnemar_look
from oyer.subjects import ModelSettings

pytestmark = pytest.mark.e2e

FAILS = {"status": 500, "body": {"error": {"message": "no"}}}


def rule(**fields: Any) -> Sequential:
    given = {"test": "bernoulli", "of": "performed(peer).completed", "p0": 0.5, "min": 2, "max": 12}
    return Sequential.model_validate({**given, **fields})


def ran(place: Path, subjects: list[str], asked: Sequential | None, **more: Any) -> SeriesOutcome:
    case = peer_case(place, peer("serves"))
    return run([case], subjects, place / more.pop("name", "s"), sequential=asked, **more)


def first_stop(k_of: Any, most: int = 12, least: int = 2, **options: Any) -> int:
    """Return after how many units a rule against .5 stops; `k_of` tells successes, decided, undecided after n units."""
    looks = (bernoulli_look(*k_of(n), 0.5, alpha=0.05, **options) for n in range(least, most + 1))
    return next(n for n, look in enumerate(looks, start=least) if look.word == "rejected")


def test_it_stops_at_the_first_look_that_may_and_verify_decides_the_same(tmp_path: Path) -> None:
    outcome = ran(tmp_path, ["scripted:obedient"], rule())
    due = first_stop(lambda n: (n, n, 0))
    (stop,) = outcome.course.stops
    assert (stop.word, stop.units, stop.k, stop.decided, stop.undecided) == ("rejected", due, due, due, 0)
    assert len(outcome.result.outcomes) == due
    left = not_run_by(outcome.plan, {}, outcome.course, outcome.result.outcomes)
    assert set(left.values()) == {"rule"} and len(left) == 12 - due
    found = verified(outcome.path)
    assert (found.exit_code, failed_checks(outcome.path)) == (0, [])
    assert "1 decisions of the stopping rule" in found.checks[9].detail


@pytest.mark.slow
def test_two_jobs_decide_what_one_decides(tmp_path: Path) -> None:
    looks = {"min": 3, "look_every": 4}
    one, two = (
        ran(tmp_path, ["scripted:obedient", "scripted:crasher:3"], rule(**looks), jobs=jobs, name=f"s{jobs}")
        for jobs in (1, 2)
    )
    bare = [[stop._replace(seq=0) for stop in outcome.course.stops] for outcome in (one, two)]
    assert bare[0] == bare[1]
    assert [(stop.subject, stop.word, stop.units) for stop in bare[0]] == [
        ("scripted:obedient", "rejected", 11),
        ("scripted:crasher:3", "undecided", 12),
    ]
    assert failed_checks(two.path) == []


def test_undecided_units_are_carried_whatever_they_would_have_come_to(tmp_path: Path) -> None:
    outcome = ran(tmp_path, ["scripted:crasher:1"], rule(max=14))
    (stop,) = outcome.course.stops
    due = first_stop(lambda n: (n - 1, n - 1, 1), most=14)
    assert (stop.word, stop.units, stop.k, stop.decided, stop.undecided) == ("rejected", due, due - 1, due - 1, 1)
    assert due > first_stop(lambda n: (n, n, 0))
    assert failed_checks(outcome.path) == []


def test_the_last_look_without_a_decision_is_undecided(tmp_path: Path) -> None:
    outcome = ran(tmp_path, ["scripted:obedient"], rule(max=4))
    (stop,) = outcome.course.stops
    assert (stop.word, stop.units, stop.k) == ("undecided", 4, 4)
    assert verified(outcome.path).exit_code == 0


@pytest.mark.slow
def test_two_subjects_are_compared_pair_by_pair(tmp_path: Path) -> None:
    asked = rule(test="mcnemar", p0=None, between=["scripted:obedient", "scripted:idle"])
    outcome = ran(tmp_path, ["scripted:idle", "scripted:obedient"], asked, order=Order(kind="shuffled"))
    (stop,) = outcome.course.stops
    due = next(n for n in range(2, 13) if mcnemar_look(n, 0, 0, alpha=0.05).word == "rejected")
    assert (stop.subject, stop.word, stop.units, stop.k, stop.other) == (None, "rejected", due, due, 0)
    assert failed_checks(outcome.path) == []


def test_walds_test_accepts(tmp_path: Path) -> None:
    asked = rule(test="sprt", p0=0.1, p1=0.8)
    outcome = ran(tmp_path, ["scripted:idle"], asked)
    (stop,) = outcome.course.stops
    assert stop.word == "accepted" and stop.k == 0
    assert failed_checks(outcome.path) == []


def test_drawn_cases_run_once_each_in_seeded_order(tmp_path: Path) -> None:
    cases = [peer_case(tmp_path, peer("serves"), name=f"case-{number}") for number in range(9)]
    asked = rule(of="performed(*).completed", max=9)
    outcome = run(cases, ["scripted:obedient"], tmp_path / "s", sequential=asked, seed=3)
    (stop,) = outcome.course.stops
    assert (stop.word, stop.units) == ("rejected", 8)
    opened = [trial.split(".")[1] for trial in outcome.course.opened]
    assert len(set(opened)) == len(opened) == 8
    assert opened != sorted(opened)
    assert failed_checks(outcome.path) == []


def test_a_budget_stops_before_the_next_unit_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock by which every look at it takes a while: the budget ends between two units, however fast they are.
    clock = SimpleNamespace(monotonic=partial(next, itertools.count(0, 0.3)))
    monkeypatch.setattr("oyer.engine.ruling.time", clock)
    outcome = ran(tmp_path, ["scripted:obedient"], None, repeat=12, budget=SeriesBudget(wall_s=1), jobs=2)
    stop = outcome.course.budget
    assert stop is not None and stop.what == "wall_s" and stop.seen >= stop.limit == 1
    left = not_run_by(outcome.plan, {}, outcome.course, outcome.result.outcomes)
    assert set(left.values()) == {"budget"} and 0 < len(left) < 12
    found = verified(outcome.path)
    assert found.exit_code == 0 and "not run by the declared budget" in found.checks[5].detail


def test_a_budget_of_tokens_counts_what_ended_trials_reported(tmp_path: Path) -> None:
    """Each answer reports 15 tokens: after three units 45 of 40 are used up, and the fourth does not begin."""
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([{"text": "Nothing to do."}]))
    case = peer_case(tmp_path, peer("serves"))
    with endpoint(answers) as url:
        model = SubjectSpec("model", model=ModelSettings("small", url))
        outcome = run([case], [model], tmp_path / "s", repeat=6, budget=SeriesBudget(tokens=40))
    stop = outcome.course.budget
    assert stop is not None and (stop.what, stop.limit, stop.seen) == ("tokens", 40, 45)
    assert len(outcome.result.outcomes) == 3
    assert failed_checks(outcome.path) == []
    forged = Forger.copy(outcome.path, tmp_path / "forged")
    forged.edit_ledger(lambda records: records[-2]["body"].update(seen=60))
    forged.reseal()
    (said,) = failed_checks(tmp_path / "forged")
    assert "E-STOP-COUNTS" in said and "at 60 tokens, and its trials used 45" in said


@pytest.mark.parametrize("told", [{"text": "Nothing to do.", "usage": None}, FAILS])
def test_a_budget_that_cannot_be_held_stops_and_says_so(tmp_path: Path, told: dict[str, Any]) -> None:
    """Of the first trial it is not known what it used: counted as nothing, all six would run."""
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([told]))
    case = peer_case(tmp_path, peer("serves"))
    with endpoint(answers) as url:
        model = SubjectSpec("model", model=ModelSettings("small", url))
        outcome = run([case], [model], tmp_path / "s", repeat=6, budget=SeriesBudget(tokens=40))
    stop = outcome.course.budget
    assert stop is not None and (stop.what, stop.limit, stop.seen, stop.unknown) == ("tokens", 40, 0, 1)
    assert len(outcome.result.outcomes) == 1
    assert "tokens 0 of 40 are known, and what 1 trial used is not" in budget_words(outcome.course)
    assert failed_checks(outcome.path) == []
    forged = Forger.copy(outcome.path, tmp_path / "forged")
    forged.edit_ledger(lambda records: records[-2]["body"].update(seen=45, unknown=0))
    forged.reseal()
    (said,) = failed_checks(tmp_path / "forged")
    assert "E-STOP-COUNTS" in said and "0 tokens and what is not known of 1 trials" in said


def test_a_budget_counts_attempts_that_were_run_again(tmp_path: Path) -> None:
    """The first attempt is blocked by an error that reports no usage; the one that counts reports 15 of 40."""
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([FAILS, {"text": "Nothing to do."}]))
    case = peer_case(tmp_path, peer("serves"))
    with endpoint(answers) as url:
        model = SubjectSpec("model", model=ModelSettings("small", url))
        budget, most = SeriesBudget(tokens=40), Attempts(blocked=2)
        repeat, listed = SuiteRepeat(fixed=3, budget=budget), (SuiteCase(case="peer"),)
        suite = TrialSuite(oyer="TrialSuite@1", id="s", title="S", cases=listed, attempts=most, repeat=repeat)
        outcome = run([case], [model], tmp_path / "s", repeat=3, budget=budget, suite=suite)
    stop = outcome.course.budget
    assert stop is not None and (stop.seen, stop.unknown) == (0, 1)
    assert [one.status for one in outcome.result.outcomes.values()] == ["completed"]
    assert failed_checks(outcome.path) == []


def test_subjects_without_a_model_use_nothing_of_a_budget(tmp_path: Path) -> None:
    outcome = ran(tmp_path, ["scripted:obedient"], None, repeat=2, budget=SeriesBudget(tokens=1))
    assert outcome.course.budget is None and len(outcome.result.outcomes) == 2


def test_a_plan_without_a_rule_has_the_ledger_it_always_had(tmp_path: Path) -> None:
    outcome = ran(tmp_path, ["scripted:obedient"], None)
    first = (outcome.path / "ledger.jsonl").read_text().splitlines()[0]
    assert '"ledger"' not in first and ledger_of(outcome.path).stops == ()
    assert course_of(ledger_of(outcome.path)).stopped(outcome.plan) == ""


@pytest.mark.slow
def test_a_whole_experiment_stops_where_the_evidence_is_enough(tmp_path: Path) -> None:
    asked = rule(of="mechanical_outcome(cascade-memo).CONFIRMED", min=5, max=20)
    outcome = run(
        [packaged("cascade-memo")],
        ["scripted:obedient"],
        tmp_path / "s",
        conditions=("baseline", "manipulated"),
        sequential=asked,
        jobs=2,
    )
    (stop,) = outcome.course.stops
    assert (stop.word, stop.units, stop.k) == ("rejected", first_stop(lambda n: (n, n, 0), least=5), 8)
    assert len(outcome.result.comparisons) == 8
    assert failed_checks(outcome.path) == []
