"""Rebuilds the golden series with the store's own code: `python tests/golden/build.py DIRECTORY`.

Two subjects, three conditions: `obedient` scores CONFIRMED, `wary` NOT_OBSERVED. Same call, same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from golden_script import LISTING_DIGEST, SUBJECT, Ticks, TrialScript, golden_case

from oyer.adjudicate import derive_series, derived_files
from oyer.evidence import LEDGER_VERSION, VOCABULARY, Envelope, digest_of
from oyer.plan import Rule, build_plan, outcome_form
from oyer.records import (
    Case,
    Condition,
    Environment,
    Hardware,
    Harness,
    LoadedCase,
    PinSet,
    Plan,
    PlannedTrial,
    Record,
    Sequential,
    Series,
    SubjectPin,
    canonical_bytes,
    digest,
    directory_digest,
)
from oyer.store import SeriesReader, SeriesStore
from oyer.verify import read_series

SUBJECTS = ("obedient", "wary")
BOOT = "golden-boot"
NAME = "golden-series"


class GoldenSeries:
    """A golden series while it is written; every step can be left out or stopped before."""

    def __init__(
        self,
        path: Path,
        subjects: Sequence[str] = SUBJECTS,
        conditions: Sequence[Condition] | None = None,
        *,
        sign_plan: Callable[[bytes], bytes] | None = None,
        name: str = NAME,
        gateway: bool = False,
        repeat: int = 1,
        rule: Sequential | None = None,
    ) -> None:
        self.name, self.gateway = name, gateway
        self.loaded: LoadedCase = golden_case()
        world = str(directory_digest(()))
        self.plan: Plan = build_plan(
            [self.loaded],
            subjects,
            seed=7,
            repeat=repeat,
            conditions=conditions,
            worlds={"golden": world},
            rule=Rule(rule),
        )
        plan = canonical_bytes(self.plan)
        pins: dict[str, bytes] = {self.loaded.digest: canonical_bytes(self.loaded.case)}
        _keep(pins, outcome_form(self.loaded.case, {}))
        environments = {name: {"golden": _keep(pins, _environment(self.loaded.case, name))} for name in subjects}
        pinsets = {name: {"golden": _keep(pins, _pin_set(self.loaded, name))} for name in subjects}
        self.clock = Ticks()
        manifest = Series(
            series=name,
            opened="2026-01-01T00:00:00Z",
            plan=str(digest(self.plan)),
            cases={"golden": self.loaded.digest},
            environments=environments,
            pinsets=pinsets,
            condition_order=tuple(dict.fromkeys(trial.condition for trial in self.plan.trials)),
            seed=7,
            jobs=1,
            vocabulary=VOCABULARY,
            boot=BOOT,
        )
        self.store = SeriesStore.create(
            path,
            canonical_bytes(manifest),
            plan,
            pins,
            clock=self.clock,
            plan_signature=None if sign_plan is None else sign_plan(plan),
            ledger_version=1 if rule is None else LEDGER_VERSION,
        )

    def claim(self, planned: PlannedTrial, attempt: int = 1) -> TrialScript:
        """Claim and open one attempt; its script can be played."""
        self.store.ledger("claimed", trial=planned.trial, attempt=attempt)
        other = "" if self.name == NAME else f"{self.name}/"
        run = "r" + digest_of(f"{other}{planned.trial}/{attempt}".encode())[7:39]
        envelope = Envelope(self.name, planned.trial, run, planned.condition, attempt, BOOT)
        attempt_store = self.store.open_attempt(envelope)
        return TrialScript(
            attempt_store, self.loaded, planned.subject, repetition=planned.repetition, gateway=self.gateway
        )

    def run(self, planned: PlannedTrial, attempt: int = 1, status: str = "completed") -> None:
        """Run one attempt from its claim to its seal."""
        script = self.claim(planned, attempt)
        script.play()
        script.close(status)

    def finish(self, *, interrupted: bool = False, derive: bool = True, judge: bool = True) -> None:
        """Close the ledger, seal the run, derive, seal the judgement."""
        self.store.ledger("closed", body={"interrupted": interrupted})
        self.store.seal("run")
        if derive:
            self.derive()
        if judge:
            self.store.seal("judge")
        self.store.close()

    def derive(self) -> None:
        """Derive outcomes and comparisons and keep them, without a seal."""
        with SeriesReader(self.store.root) as reader:
            files = derived_files(derive_series(read_series(reader).given))
        for path, data in files.items():
            self.store.add(path, data)


def build_series(
    path: Path,
    subjects: Sequence[str] = SUBJECTS,
    conditions: Sequence[Condition] | None = None,
    *,
    sign_plan: Callable[[bytes], bytes] | None = None,
    name: str = NAME,
    gateway: bool = False,
) -> None:
    """Write a whole good series; `sign_plan` gives the envelope over its plan, `gateway` adds that observer."""
    golden = GoldenSeries(path, subjects, conditions, sign_plan=sign_plan, name=name, gateway=gateway)
    for planned in golden.plan.trials:
        golden.run(planned)
    golden.finish()


def _keep(pins: dict[str, bytes], record: Record) -> str:
    pins[str(digest(record))] = canonical_bytes(record)
    return str(digest(record))


def _prompts(case: Case) -> str:
    return str(digest([[f"{s.id}/turn/{n}", text] for s in case.sessions for n, text in enumerate(s.turns)]))


def _environment(case: Case, subject: str) -> Environment:
    return Environment(
        subject=SubjectPin(driver="made up", name=subject, revision="1", identified=True),
        prompts=_prompts(case),
        dependencies_digest=str(digest({})),
        hardware=Hardware(system="none", machine="none", cores=1, memory_bytes=None),
        harness=Harness(version="0", source=digest_of(b"")),
        python="3.11",
        isolation="none",
    )


def _pin_set(loaded: LoadedCase, subject: str) -> PinSet:
    return PinSet(
        case=loaded.digest,
        world=str(directory_digest(())),
        prompts=_prompts(loaded.case),
        subject=SUBJECT[subject],
        parameters=None,
        listings={"desk": LISTING_DIGEST},
        harness="0",
        dependencies=str(digest({})),
        python="3.11",
    )


if __name__ == "__main__":
    build_series(Path(sys.argv[1]))
