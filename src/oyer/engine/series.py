"""One run of a plan: opened, every trial attempted in order, closed, and what it shows derived from sealed evidence.

Everything pinned is on the disk before the first trial. A trial's failure is its status; only what makes the store
itself impossible ends the series. Observation is sealed first; deriving is a second act over sealed bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence

from oyer.adjudicate import SeriesResult, derive_series, derived_files
from oyer.engine.attempt import run_attempt
from oyer.engine.context import AttemptPlan, SeriesContext, identity_of
from oyer.engine.opening import Opening, open_series
from oyer.engine.request import OnProgress, Progress, RunRequest, SeriesOutcome
from oyer.host import become_subreaper, reap_orphans
from oyer.instruments import SinkHost
from oyer.records import Plan, PlannedTrial
from oyer.store import SeriesReader, SeriesStore
from oyer.verify import read_series

__all__ = ["derive_into", "run_series"]


def run_series(request: RunRequest, *, on_progress: OnProgress = lambda _: None) -> SeriesOutcome:
    """Run a whole series and return what it shows. Nothing is written before every argument has been checked.

    Raises: UsageError, RecordError before anything started; HarnessError where the store cannot go on.
    """
    for source in request.cases:
        for spec in request.subjects:
            identity_of(spec, source.case)
    become_subreaper()
    return asyncio.run(_run(request, on_progress))


async def _run(request: RunRequest, on_progress: OnProgress) -> SeriesOutcome:
    started = time.monotonic()
    opening = await open_series(request)
    with opening.store as store:
        interrupted = await _trials(request, opening, on_progress, started)
        store.ledger("closed", body={"interrupted": interrupted})
        store.seal("run")
        result = derive_into(store)
    return SeriesOutcome(request.out, opening.plan, result, interrupted)


async def _trials(request: RunRequest, opening: Opening, on_progress: OnProgress, started: float) -> bool:
    """Run every planned trial; return whether the operator interrupted."""
    tally: Counter[str] = Counter()

    def tell(current: str | None) -> None:
        on_progress(
            Progress(sum(tally.values()), len(opening.plan.trials), dict(tally), current, time.monotonic() - started)
        )

    async with _sinks(request) as sinks:
        context = SeriesContext(opening.series, opening.store, sinks, {spec.name: spec for spec in request.subjects})
        gate = asyncio.Semaphore(request.jobs)

        async def group(trials: Sequence[PlannedTrial]) -> None:
            async with gate:
                for planned in trials:
                    tell(planned.trial)
                    status = await run_attempt(context, _attempt(opening, request, planned))
                    tally[status] += 1
                    tell(planned.trial)
                    reap_orphans()

        running = [asyncio.create_task(group(trials)) for trials in _groups(opening.plan)]
        return await _until_done(running)


async def _until_done(running: list[asyncio.Task[None]]) -> bool:
    """Wait for every group. The first interrupt stops in order; what runs is sealed as interrupted."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):
            loop.add_signal_handler(number, stopping.set)
    alarm = asyncio.create_task(stopping.wait())
    try:
        pending: set[asyncio.Task[object]] = {*running}
        while pending:
            done, rest = await asyncio.wait({*pending, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if alarm in done:
                for task in pending:
                    task.cancel()
                await asyncio.gather(*pending, return_exceptions=True)
                return True
            for task in done:
                task.result()
            pending = {task for task in rest if task is not alarm}
        return False
    finally:
        alarm.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(number)


@contextlib.asynccontextmanager
async def _sinks(request: RunRequest) -> AsyncIterator[SinkHost | None]:
    if not any(sink.kind == "http" for source in request.cases for sink in source.case.sinks.values()):
        yield None
        return
    host = await SinkHost.start()
    try:
        yield host
    finally:
        await host.stop()


def _groups(plan: Plan) -> Iterator[list[PlannedTrial]]:
    """The arms of one repetition stay together and in order; repetitions may run side by side."""
    groups: dict[tuple[str, str, int], list[PlannedTrial]] = {}
    for planned in plan.trials:
        groups.setdefault((planned.case, planned.subject, planned.repetition), []).append(planned)
    yield from groups.values()


def _attempt(opening: Opening, request: RunRequest, planned: PlannedTrial) -> AttemptPlan:
    source = next(s for s in request.cases if s.case.id == planned.case)
    spec = next(s for s in request.subjects if s.name == planned.subject)
    pinned = opening.pinned[planned.subject, planned.case]
    opening.store.ledger("claimed", trial=planned.trial, attempt=1)
    return AttemptPlan(planned, 1, source, spec, identity_of(spec, source.case), pinned)


def derive_into(store: SeriesStore) -> SeriesResult:
    """Derive outcomes and comparisons from the sealed series and keep them under a seal of their own."""
    with SeriesReader(store.root) as reader:
        result = derive_series(read_series(reader).given)
    for path, data in derived_files(result).items():
        store.add(path, data)
    store.seal("judge")
    return result
