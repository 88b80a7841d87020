"""What a series shows while it grows: outcomes of its first units, derived from sealed attempts, unit after unit.

For the run, which asks its rule between batches, and for the verifier, which asks again. An effect that a later trial
rejects counts from the look after that trial on, in both, and so does another model that answered it. Must never hold
more than the arms of one repetition, and of what was derived more than a look needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.adjudicate import (
    GateInput,
    Judges,
    SeriesInput,
    SeriesResult,
    Swap,
    Told,
    by_run,
    count_ledger,
    derive_groups,
    derive_noting,
    derive_sets,
    named_aside,
    slim,
    swapped_runs,
)
from oyer.evidence import LedgerCheck
from oyer.records import Case, Comparison, Outcome, PinSet, Plan, PlannedTrial, Series
from oyer.verify.reading import Reader, StoredTrials, named_uncounted

__all__ = ["Growing"]

Key = tuple[str, str, int]


class Growing:
    """The units of a series that were taken in so far, and what they show."""

    def __init__(
        self,
        manifest: Series,
        plan: Plan,
        cases: Mapping[str, Case],
        pinned: Mapping[tuple[str, str], PinSet],
        judges: Judges,
    ) -> None:
        self._manifest = manifest
        self._whole = plan
        self._cases = cases
        self._pinned = pinned
        self._judges = judges
        self._taken: list[PlannedTrial] = []
        self._names: dict[str, tuple[tuple[str, str], ...]] = {}
        self._aside: dict[str, tuple[str, ...]] = {}
        self._models: dict[str, Told] = {}
        self._outcomes: dict[Key, Mapping[str, Outcome]] = {}
        self._comparisons: dict[Key, tuple[Comparison, ...]] = {}

    def take(self, planned: Sequence[PlannedTrial], ledger: LedgerCheck, reader: Reader) -> None:
        """Take in the trials of whole units, all of which have ended."""
        self._taken += planned
        before, swapped_before = {*by_run(self._names), *self._aside}, self._swapped()
        batch = self._plan(planned)
        for run, refs in named_aside(named_uncounted(reader, self._manifest, batch, ledger), {}).items():
            self._aside[run] = (*self._aside.get(run, ()), *refs)
        trials = StoredTrials(reader, self._manifest, self._plan(self._taken), ledger)
        given = SeriesInput(
            batch, self._cases, trials, self._pinned, by_run(self._names), self._aside, swapped_before, self._judges
        )
        shown, noted = derive_noting(given)
        self._names |= noted.named
        self._models |= noted.models
        for result in shown:
            self._keep(result)
        swapped = self._swapped()
        fresh = {*by_run(self._names), *self._aside} - before
        fresh |= {run for run, swaps in swapped.items() if swapped_before.get(run) != swaps}
        for key in [key for key, told in self._outcomes.items() if any(one.run in fresh for one in told.values())]:
            group = [one for one in self._taken if (one.case, one.subject, one.repetition) == key]
            again = given._replace(
                plan=self._plan(group), named=by_run(self._names), aside=self._aside, swapped=swapped
            )
            for result in derive_groups(again):
                self._keep(result)

    def given(self) -> GateInput:
        """Return what a look may count. Nothing of what a case is qualified by is asked: a rule only counts."""
        plan = self._plan(self._taken)
        outcomes = {trial: one for told in self._outcomes.values() for trial, one in told.items()}
        comparisons = [one for told in self._comparisons.values() for one in told]
        sets = tuple(derive_sets(plan, self._cases, outcomes, comparisons))
        return GateInput(plan, outcomes, comparisons, sets, count_ledger(plan, (), ()), set(self._cases))

    def _swapped(self) -> Mapping[str, tuple[Swap, ...]]:
        return swapped_runs(self._models, self._whole)

    def _plan(self, trials: Sequence[PlannedTrial]) -> Plan:
        return self._whole.model_copy(update={"trials": tuple(trials)})

    def _keep(self, result: SeriesResult) -> None:
        keys = [(one.case, one.subject, one.repetition) for one in result.outcomes.values()]
        keys += [(one.case, one.subject, one.repetition) for one in result.comparisons]
        for key in keys[:1]:
            self._outcomes[key] = {trial: slim(outcome) for trial, outcome in result.outcomes.items()}
            self._comparisons[key] = result.comparisons
