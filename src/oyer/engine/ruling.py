"""How far a series runs: the batches between two looks of its rule, what each look decides, and what the budget allows.

Owns the order of things: a batch ends before its look, a look is decided and on the device before the next batch, and a
stop is written while nothing runs. Decisions are derived from sealed evidence alone. Must never begin a trial beyond a
look that was not taken, nor take a look at less than whole units.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from oyer.adjudicate import Judges, looks_of, sides_of, stop_body, take_look, units_of
from oyer.engine.opening import Opening
from oyer.engine.request import RunRequest
from oyer.evidence import LedgerCheck
from oyer.host import reach
from oyer.records import PlannedTrial, Series
from oyer.store import SeriesReader
from oyer.verify import Growing, Spent, parse_record, spent_in, used_by

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
        self._spent: tuple[str, int] | None = None
        self._used: dict[str, Mapping[str, int | None]] = {}
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
        """Whether what was declared for the whole series is used up: asked before each unit, and then it stays so.

        It counts as used up where it is not known what a trial used: the next one may pass the bound unseen.
        """
        if self._budget is None or self._spent is not None:
            return self._spent is not None
        unit = self._units[planned.trial]
        if self._rule is not None and unit in self._begun:
            return False
        self._begun.add(unit)
        limits = {"wall_s": self._budget.wall_s, "tokens": self._budget.tokens, "cost_usd_micros": self._budget.micros}
        for what, limit in limits.items():
            if limit is not None and self._spent is None:
                spent = self._sum(what)
                self._spent = (what, limit) if spent.seen >= limit or spent.unknown else None
        return self._spent is not None

    def ended(self, planned: PlannedTrial) -> None:
        """Count what a trial used, once it is sealed."""
        if self._budget is None or (self._budget.tokens is None and self._budget.micros is None):
            return
        with SeriesReader(self._opening.store.root) as reader:
            states = self._opening.store.attempts[planned.trial]
            manifest, case = self._manifest(reader), self._cases[planned.case]
            self._used[planned.trial] = used_by(reader, manifest, self._plan, planned, case, states)

    def decide(self) -> bool:
        """Take the look that is due, or write down that the budget is used up; say whether the series goes on.

        Raises: HarnessError where the ledger cannot be written.
        """
        store = self._opening.store
        if self._spent is not None:
            what, limit = self._spent
            spent = self._sum(what)
            body = {"what": what, "limit": limit, "seen": spent.seen}
            if spent.unknown:
                body["unknown"] = spent.unknown
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

    def _sum(self, what: str) -> Spent:
        if what == "wall_s":
            return Spent(int(time.monotonic() - self._since_s))
        return spent_in(used[what] for used in self._used.values())
