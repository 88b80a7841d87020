"""One run of a plan: opened, every trial attempted in order, closed, and what it shows derived from sealed evidence.

Everything pinned is on the disk before the first trial. A trial's failure is its status; only what makes the store
itself impossible ends the series. Observation is sealed first; deriving is a second act over sealed bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import groupby
from typing import Any

from oyer.adjudicate import (
    Judge,
    SeriesInput,
    SeriesResult,
    count_ledger,
    course_of,
    derive_series,
    derived_files,
    planned_claims,
    require_conserved,
)
from oyer.engine.attempt import run_attempt
from oyer.engine.context import AttemptPlan, SeriesContext, identity_of
from oyer.engine.opening import Opening, open_series
from oyer.engine.replaying import Recording
from oyer.engine.request import OnProgress, Progress, RunRequest, SeriesOutcome
from oyer.engine.ruling import Ruling
from oyer.engine.sinks import Sinks, late_texts
from oyer.engine.stopping import Stop
from oyer.engine.withholding import secrets_of
from oyer.errors import UsageError
from oyer.evidence import check_ledger
from oyer.host import become_subreaper, reap_orphans, sweep_stale_runs
from oyer.plan import outcome_form
from oyer.records import Attempts, PlannedTrial, members_of
from oyer.store import SeriesReader, SeriesStore
from oyer.verify import read_series

__all__ = ["derive_into", "run_series"]

Planner = Callable[[PlannedTrial, int], AttemptPlan]
"""From a planned trial and the number of its attempt to everything about that attempt."""

RunOne = Callable[[PlannedTrial], Awaitable[None]]


def run_series(request: RunRequest, *, on_progress: OnProgress = lambda _: None) -> SeriesOutcome:
    """Run a whole series and return what it shows. Nothing is written before every argument has been checked.

    SIGINT or SIGTERM once: what runs is sealed as interrupted, and the series is closed. Twice: everything is ended at
    once, what ran stays unsealed.

    Raises: UsageError, RecordError before anything started; HarnessError where the store cannot go on;
    KeyboardInterrupt when stopped before the first trial, or at once.
    """
    cases = {source.case.id: source.case for source in request.cases}
    for case in cases.values():
        for spec in request.subjects:
            identity_of(spec, case, cases)
    _require_apart(request)
    become_subreaper()
    sweep_stale_runs()
    return asyncio.run(_run(request, on_progress))


def _require_apart(request: RunRequest) -> None:
    """Refuse a series inside a world: every trial would be given what was recorded before it. Raises: UsageError."""
    out = request.out.resolve()
    for source in request.cases:
        if source.world is not None and source.world.resolve() in (out, *out.parents):
            raise UsageError(
                "E-OUT-IN-WORLD",
                f"the series would lie in the world of {source.case.id}, which every trial copies",
                where=str(request.out),
                hint="name a directory outside of it with --out",
            )


async def _run(request: RunRequest, on_progress: OnProgress) -> SeriesOutcome:
    started = time.monotonic()
    stop = Stop()
    async with AsyncExitStack() as held:
        with stop.listening():
            sinks = Sinks(secrets_of(request))
            held.push_async_callback(sinks.stop)
            opening = await _open(request, stop, sinks)
            store = held.enter_context(opening.store)
            recording = None if request.replay is None else Recording(request.replay)
            context = SeriesContext(opening.series, store, sinks, stop, recording=recording, secrets=request.secrets)
            await _trials(request, opening, context, _Tally(on_progress, len(opening.plan.trials), started))
            late = await stop.finish(sinks.stop())
            reap_orphans()
        if stop.at_once:
            raise KeyboardInterrupt
        body: dict[str, Any] = {"interrupted": stop.asked}
        if late:
            body["late"] = late_texts(late)
        store.ledger("closed", body=body)
        store.seal("run")
        result = derive_into(store, tuple(request.judges.values()))
        with SeriesReader(store.root) as reader:
            course = course_of(check_ledger(reader.ledger_bytes()))
    notes = (f"{len(late)} requests named a run after its sink was sealed",) if late else ()
    return SeriesOutcome(request.out, opening.plan, result, stop.asked, notes, course)


async def _open(request: RunRequest, stop: Stop, sinks: Sinks) -> Opening:
    """Open the series while the sinks' process starts. Raises: KeyboardInterrupt when asked to stop."""
    wanted = any(sink.kind == "http" for source in request.cases for sink in source.case.sinks.values())
    starting = asyncio.create_task(sinks.host()) if wanted else None
    try:
        opening = await stop.obeying(open_series(request))
    except asyncio.CancelledError:
        if stop.asked:
            raise KeyboardInterrupt from None
        raise
    finally:
        if starting is not None:
            await asyncio.wait({starting})
    if starting is not None and starting.exception() is not None:
        opening.store.close()
        starting.result()
    return opening


class _Tally:
    """How far a series is, told with every change."""

    def __init__(self, on_progress: OnProgress, total: int, started_s: float) -> None:
        self._on_progress = on_progress
        self._total = total
        self._started_s = started_s
        self._counts: Counter[str] = Counter()

    def tell(self, current: str) -> None:
        """Say what runs now."""
        elapsed_s = time.monotonic() - self._started_s
        done = sum(self._counts.values())
        self._on_progress(Progress(done, self._total, dict(self._counts), current, elapsed_s))

    def count(self, trial: str, status: str) -> None:
        """Say how a trial ended."""
        self._counts[status] += 1
        self.tell(trial)


async def _trials(request: RunRequest, opening: Opening, context: SeriesContext, tally: _Tally) -> None:
    """Run every planned trial, as far as the plan's rule and budget let it, one batch before each look."""
    ruling = Ruling(request, opening)
    planner = _planner(request, opening)

    async def one(planned: PlannedTrial) -> None:
        tally.tell(planned.trial)
        status = await _trial(context, planned, opening.plan.attempts, planner)
        ruling.ended(planned)
        tally.count(planned.trial, status)

    for batch in ruling.batches():
        await _batch(request.jobs, batch, context, ruling, one)
        if context.stop.asked or not await context.stop.finish(asyncio.to_thread(ruling.decide)):
            return


async def _batch(jobs: int, batch: Sequence[PlannedTrial], context: SeriesContext, ruling: Ruling, one: RunOne) -> None:
    """Run a batch, `jobs` repetitions at a time. The first failure of the store asks the others to stop."""
    groups = _groups(batch)

    async def work() -> None:
        for trials in groups:
            if ruling.over_budget(trials[0]):
                return
            for planned in trials:
                if context.stop.asked:
                    return
                await one(planned)

    working = [asyncio.create_task(context.stop.obeying(work())) for _ in range(jobs)]
    try:
        await asyncio.wait(working, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        if not all(task.done() for task in working):
            context.stop.ask()
            await asyncio.wait(working)
    for task in working:
        if not task.cancelled():
            task.result()


async def _trial(context: SeriesContext, planned: PlannedTrial, allowed: Attempts, planner: Planner) -> str:
    """Run a trial: again only after what is nobody's answer, up to the number declared before; every attempt is kept.

    A trial that completed, or in which the subject failed, is never run again; nor one that ended over what the subject
    left behind, whatever status the Case gives that.
    """
    number = 1
    while True:
        ended = await run_attempt(context, planner(planned, number))
        reap_orphans()
        most = {"harness_error": allowed.harness_error, "blocked": allowed.blocked}.get(ended.status, 1)
        if number >= most or not ended.again or context.stop.asked:
            return ended.status
        number += 1


def _groups(trials: Iterable[PlannedTrial]) -> Iterator[list[PlannedTrial]]:
    """Trials of one repetition that stand together in the plan: one worker runs through them in order."""
    for _, group in groupby(trials, key=lambda planned: (planned.case, planned.subject, planned.repetition)):
        yield list(group)


def _planner(request: RunRequest, opening: Opening) -> Planner:
    """Return what claims a planned trial in the ledger and says everything about its attempt."""
    sources = {source.case.id: source for source in request.cases}
    specs = {spec.name: spec for spec in request.subjects}
    cases = {source.case.id: source.case for source in request.cases}
    retained = {name: outcome_form(case, request.rubrics, cases).retained for name, case in cases.items()}

    def plan(planned: PlannedTrial, attempt: int) -> AttemptPlan:
        source, spec = sources[planned.case], specs[planned.subject]
        opening.store.ledger("claimed", trial=planned.trial, attempt=attempt)
        pinned = opening.pinned[planned.subject, planned.case]
        return AttemptPlan(
            planned,
            attempt,
            source,
            spec,
            opening.identities[planned.subject, planned.case],
            pinned,
            retained=retained[planned.case],
            admits=request.admits,
            members={name: cases[name] for name in members_of(source.case)},
        )

    return plan


def derive_into(store: SeriesStore, judges: Sequence[Judge] = ()) -> SeriesResult:
    """Derive judgements, outcomes and comparisons from the sealed series and keep them under a seal of their own.

    `judges` are the planned evaluators that were loaded from plug-ins.
    """
    with SeriesReader(store.root) as reader:
        given = read_series(reader, judges).given
        result = derive_series(given)
    _require_judged(given, result)
    store.close_act("judge", derived_files(result))
    return result


def _require_judged(given: SeriesInput, result: SeriesResult) -> None:
    """Refuse to seal what is not conserved. Trials without an outcome are the ledger's, which was closed over them."""
    claims = planned_claims(given.plan, given.cases)
    count = count_ledger(given.plan, result.outcomes.values(), result.comparisons, claims=claims)
    require_conserved(count, on_record=count.missing)
