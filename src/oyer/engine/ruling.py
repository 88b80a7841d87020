"""How far a series runs: the batches between two looks of its rule, what each look decides, and what the budget allows.

Owns the order of things: a batch ends before its look, a look is decided and on the device before the next batch, and a
stop is written while nothing runs. Decisions are derived from sealed evidence alone. Must never begin a trial beyond a
look that was not taken, nor take a look at less than whole units.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from oyer.adjudicate import Judges, looks_of, sides_of, stop_body, take_look, units_of
from oyer.engine.opening import Opening
from oyer.engine.request import RunRequest
from oyer.evidence import LedgerCheck
from oyer.host import reach
from oyer.observe import TrialFacts, read_cost, read_measurements
from oyer.records import PlannedTrial, Series
from oyer.store import SeriesReader
from oyer.verify import Growing, StoredTrials, parse_record

__all__ = ["Ruling"]


class Ruling:
    """The rule and the budget of one running series, and where they stand."""

    def __init__(self, request: RunRequest, opening: Opening) -> None:
        self._opening = opening
        self._plan = plan = opening.plan
        self._rule = plan.repeat.sequential
        self._budget = plan.repeat.budget
        self._cases = {source.case.id: source.case for source in request.cases}
        self._units = units_of(plan, self._cases)
        self._judges = Judges(request.rubrics, request.pinned_evaluators, tuple(request.judges.values()))
        self._stopped: set[str | None] = set()
        self._look = 0
        self._batch: Sequence[PlannedTrial] = ()
        self._begun: set[int] = set()
        self._spent: tuple[str, int, int] | None = None
        self._tokens: dict[str, int] = {}
        self._costs: dict[str, int] = {}
        self._since_s = time.monotonic()
        self._growing: Growing | None = None

    def batches(self) -> Iterator[Sequence[PlannedTrial]]:
        """Yield what may run before the next look. After each batch `decide` says whether there is a next."""
        if self._rule is None:
            yield self._plan.trials
            return
        together = sides_of(self._rule, self._plan.subjects) == (None,)
        for look in looks_of(self._rule):
            before, self._look = self._look, look
            self._batch = [
                trial
                for trial in self._plan.trials
                if before < self._units[trial.trial] <= look
                and (None if together else trial.subject) not in self._stopped
            ]
            if not self._batch:
                return
            yield self._batch

    def over_budget(self, planned: PlannedTrial) -> bool:
        """Whether what was declared for the whole series is used up: asked before each unit, and then it stays so."""
        if self._budget is None or self._spent is not None:
            return self._spent is not None
        unit = self._units[planned.trial]
        if self._rule is not None and unit in self._begun:
            return False
        self._begun.add(unit)
        limits = {"wall_s": self._budget.wall_s, "tokens": self._budget.tokens, "cost_usd_micros": self._budget.micros}
        for what, limit in limits.items():
            seen = self._used(what)
            if limit is not None and seen >= limit:
                self._spent = what, limit, seen
        return self._spent is not None

    def ended(self, planned: PlannedTrial) -> None:
        """Count what a trial used, once it is sealed."""
        if self._budget is None or (self._budget.tokens is None and self._budget.micros is None):
            return
        with SeriesReader(self._opening.store.root) as reader:
            stored = StoredTrials(reader, self._manifest(reader), self._plan, self._ledger())
            facts = TrialFacts(self._cases[planned.case], stored[planned.trial].evidence)
            self._tokens[planned.trial] = read_measurements(facts)["tokens"].value or 0
            self._costs[planned.trial] = read_cost(facts) or 0

    def decide(self) -> bool:
        """Take the look that is due, or write down that the budget is used up; say whether the series goes on.

        Raises: HarnessError where the ledger cannot be written.
        """
        store = self._opening.store
        if self._spent is not None:
            what, limit, _ = self._spent
            body = {"what": what, "limit": limit, "seen": self._used(what)}
            store.ledger("stopped", why="budget", body=body)
            return False
        if self._rule is None:
            return False
        with SeriesReader(store.root) as reader:
            growing = self._growing or self._begin(reader)
            growing.take(self._batch, self._ledger(), reader)
            given = growing.given()
        for side in sides_of(self._rule, self._plan.subjects):
            if side in self._stopped:
                continue
            found = take_look(given, side, self._look)
            if found.word != "go_on":
                self._stopped.add(side)
                store.ledger("stopped", why="rule", body=stop_body(self._rule, found))
        reach("engine.looked")
        return True

    def _begin(self, reader: SeriesReader) -> Growing:
        self._growing = Growing(self._manifest(reader), self._plan, self._cases, self._opening.pinned, self._judges)
        return self._growing

    def _manifest(self, reader: SeriesReader) -> Series:
        return parse_record(reader.manifest(), Series, "series.json")

    def _ledger(self) -> LedgerCheck:
        """Where every attempt stands now; the ledger itself is ours and was checked when it was written."""
        attempts = dict(self._opening.store.attempts)
        return LedgerCheck(attempts, {}, None, None, closed=False, length=0, head="", defects=(), findings=())

    def _used(self, what: str) -> int:
        if what == "wall_s":
            return int(time.monotonic() - self._since_s)
        return sum((self._tokens if what == "tokens" else self._costs).values())
