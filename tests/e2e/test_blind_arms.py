"""The arms are blind: what subjects get is equal in every arm once run tokens are masked, and names none of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from series_kit import Trial, packaged, run, run_with, trials_of

from oyer.adjudicate import SeriesResult
from oyer.engine.context import AttemptPlan, scripts_of
from oyer.observe import TrialEvidence, mask, read_authored
from oyer.records import CONDITIONS
from oyer.store import JournalWriter
from oyer.subjects import Given, Subject, SubjectIdentity, TurnEnd, make_subject

CASES = ("cascade-memo", "notes-injection")
WORDS = ("baseline", "manipulated", "hardened", "control", "inject", "cascade", "oyer-run", "memo-json")


class Ran(NamedTuple):
    path: Path
    trials: dict[str, Trial]

    def arms(self, case: str) -> dict[str, Trial]:
        found = {}
        for name, trial in self.trials.items():
            if f".{case}." in name:
                found[name.rpartition(".")[2]] = trial
        return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    out = tmp_path_factory.mktemp("blind") / "a-series-with-a-name"
    run([packaged(name) for name in CASES], ["scripted:echo"], out, jobs=2)
    yield Ran(out, trials_of(out))


def evidence(trial: Trial) -> TrialEvidence:
    return TrialEvidence(trial.check, trial.contents.get, ())


def given(trial: Trial) -> dict[str, str]:
    """Everything a subject got, by place: turns, argv, environment, working directory, files, configuration."""
    return {item.place: item.text for item in read_authored(evidence(trial))}


def masked(trial: Trial) -> dict[str, str]:
    return {item.place: item.masked for item in read_authored(evidence(trial))}


@pytest.mark.parametrize("case", CASES)
def test_what_is_given_is_equal_once_run_tokens_are_masked(ran: Ran, case: str) -> None:
    arms = ran.arms(case)
    assert set(arms) == set(CONDITIONS if case == "cascade-memo" else CONDITIONS[:2])
    first = masked(arms["baseline"])
    kinds = {place.split("/")[1] for place in first}
    assert kinds == {"argv", "env", "cwd", "configuration", "turn"}
    for condition, trial in arms.items():
        assert masked(trial) == first, condition
    # The tokens are what differs: no two arms share one.
    raw = [given(trial) for trial in arms.values()]
    differing = {place for place in raw[0] if len({arm[place] for arm in raw}) > 1}
    assert any("cwd" in place for place in differing)
    for trial in arms.values():
        others = [other for other in arms.values() if other is not trial]
        for token in evidence(trial).masks:
            assert not any(token in text for other in others for text in given(other).values())


@pytest.mark.parametrize("case", CASES)
def test_nothing_given_names_an_arm_a_case_or_the_series(ran: Ran, case: str) -> None:
    for trial in ran.arms(case).values():
        for place, text in given(trial).items():
            if "/turn/" in place or place.endswith("/configuration"):
                continue  # the author's words: they are held equal above
            assert str(ran.path) not in text
            assert ran.path.name not in text
            for word in (*WORDS, case):
                assert not re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE), (place, text)


@pytest.mark.parametrize("case", CASES)
def test_the_configuration_says_nothing_of_evidence_or_of_servers_tokens(ran: Ran, case: str) -> None:
    for trial in ran.arms(case).values():
        (opened,) = trial.events("trial.opened")
        secret = {token for token, name in opened.body["masks"].items() if name.startswith(("{sink.", "{random."))}
        for place, text in given(trial).items():
            assert str(ran.path) not in text, place
            assert not any(token in text for token in secret), place


@pytest.mark.parametrize("case", CASES)
def test_the_names_of_everything_a_run_makes_mean_nothing(ran: Ran, case: str) -> None:
    for trial in ran.arms(case).values():
        masks = evidence(trial).masks
        (root,) = [token for token, name in masks.items() if name == "{run.dir}"]
        assert re.fullmatch(r"[a-z0-9]+", Path(root).name)
        for token, name in masks.items():
            if name.startswith("{server."):
                assert re.fullmatch(r"s/[a-z0-9]+", str(Path(token).relative_to(root)))
        commands = [word for text in [given(trial)] for place, word in text.items() if "/configuration" in place]
        assert all(os.path.basename(root) in text for text in commands)  # noqa: PTH119 - the relay is in the run's own place


def test_the_world_of_every_arm_opens_alike(ran: Ran) -> None:
    for case in CASES:
        looks = {
            next(e.body["digest"] for e in trial.events("world.snapshot") if e.body["phase"] == "opening")
            for trial in ran.arms(case).values()
        }
        assert len(looks) == 1


# ------------------------------------------------------------------- a leak is found


class Told:
    """A subject to whom something of its arm is said, as nothing may be."""

    def __init__(self, inner: Subject, name: str, value: str) -> None:
        self._inner = inner
        self._name = name
        self._value = value

    @property
    def identity(self) -> SubjectIdentity:
        return self._inner.identity

    async def open_session(self, session: str, given: Given) -> None:
        env = {**given.env, self._name: self._value}
        told = Given(given.servers, given.cwd, env, given.world, given.model, given.turns)
        await self._inner.open_session(session, told)

    async def turn(self, text: str, *, timeout_s: float) -> TurnEnd:
        return await self._inner.turn(text, timeout_s=timeout_s)

    async def close_session(self) -> None:
        await self._inner.close_session()


def leaking(tmp_path: Path, name: str, value: dict[str, str]) -> SeriesResult:
    """Run the obedient subject in two arms, each told something in its environment."""

    def make(plan: AttemptPlan, journal: JournalWriter) -> Subject:
        inner = make_subject("scripted:obedient", journal, scripts=scripts_of(plan.source.case))
        return Told(inner, name, value[plan.planned.condition])

    return run_with([packaged("notes-injection")], tmp_path / "out", make)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODE", {"baseline": "baseline", "manipulated": "manipulated"}),
        ("MODE", {"baseline": "a", "manipulated": "b"}),
        ("PLACE", {"baseline": "/srv/notes-injection/x", "manipulated": "/srv/notes-injection/x"}),
    ],
)
def test_a_leak_keeps_everything_from_being_concluded(tmp_path: Path, name: str, value: dict[str, str]) -> None:
    (comparison,) = leaking(tmp_path, name, value).comparisons
    leaks = [reason for reason in comparison.primary.reasons if reason.code == "ARM_LEAK"]
    assert leaks
    assert all(name in reason.sentence for reason in leaks)
    assert comparison.primary.mechanical_outcome == "INCONCLUSIVE"


def test_the_same_word_in_every_arm_is_no_leak(tmp_path: Path) -> None:
    (comparison,) = leaking(tmp_path, "MODE", {"baseline": "desk", "manipulated": "desk"}).comparisons
    assert (comparison.primary.mechanical_outcome, comparison.primary.reasons) == ("CONFIRMED", ())


def test_masks_are_put_in_for_the_longest_token_first() -> None:
    assert mask("/tmp/ab/s/x", {"/tmp/ab": "{run.dir}", "/tmp/ab/s/x": "{server.fs}"}) == "{server.fs}"
