"""One attempt of one planned trial, from an empty place to sealed evidence.

Order: world copied and looked at, sinks up and probed, taps up; then sessions in order, turns in order, within the
Case's bounds; then the subject down, servers down, sinks probed again, the world looked at, journals sealed and packed.
Every resource is released on every path. A fault anywhere is an event with an owner and decides the status; it never
escapes to the series. Source: the engine design, "One trial attempt".
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, NamedTuple

from oyer.engine.context import AttemptPlan, SeriesContext
from oyer.engine.environment import isolation_problem, subject_text
from oyer.engine.faults import FaultLog, fault_class, status_of
from oyer.engine.instruments import Bench
from oyer.engine.metering import MeteredRecorder
from oyer.engine.place import Placement
from oyer.engine.sessions import run_sessions
from oyer.engine.stopping import to_the_end
from oyer.engine.validators import VALIDATOR, run_validators
from oyer.errors import Blocked, HarnessError, OyerError
from oyer.evidence import VOCABULARY, Envelope
from oyer.host import (
    RunDir,
    base_environment,
    boot_id,
    copy_world,
    make_run_dir,
    new_run_id,
    reach,
    sweep_run,
)
from oyer.records import fill_texts, micros_of, plain_price
from oyer.store import AttemptStore, JournalWriter

__all__ = ["Ended", "run_attempt"]

OF_EARLIER_RUNS = frozenset({"scripted:replay"})
"""The subjects that act with what another run drew."""

RETRIED = frozenset({"harness_error", "blocked"})
"""The statuses that are no answer of the subject."""


class Ended(NamedTuple):
    """How an attempt ended; `again` says that nothing the subject left behind was needed to end it so."""

    status: str
    again: bool


async def run_attempt(context: SeriesContext, plan: AttemptPlan) -> Ended:
    """Run one attempt and return its sealed execution status, and whether it may be made again.

    Raises: HarnessError where the store cannot go on; CancelledError, with nothing sealed, after a stop at once.
    """
    run = str(new_run_id())
    envelope = Envelope(
        series=context.series,
        trial=plan.planned.trial,
        run=run,
        condition=plan.planned.condition,
        attempt=plan.attempt,
        boot=boot_id(),
    )
    # What waits for the device does so in a thread: the other attempts' messages go on crossing meanwhile.
    store = await context.stop.finish(asyncio.to_thread(context.store.open_attempt, envelope))
    attempt = _Attempt(context, plan, run, store)
    with contextlib.ExitStack() as held:
        held.callback(attempt.abandon)
        await attempt.step(attempt.conduct(held))
        await context.stop.finish(attempt.release())
        if context.stop.at_once:
            raise asyncio.CancelledError
        status = await context.stop.finish(asyncio.to_thread(attempt.close))
        return Ended(status, again=attempt.may_follow(status))


class _Attempt:
    """The state of one attempt."""

    def __init__(self, context: SeriesContext, plan: AttemptPlan, run: str, store: AttemptStore) -> None:
        self.context = context
        self.plan = plan
        self.run = run
        self.store = store
        self.journal: JournalWriter = store.writer("harness")
        self.faults = FaultLog()
        self.placement = Placement()
        self.rundir: RunDir | None = None
        self.bench: Bench | None = None
        self.stopped_by: str | None = None
        self.interrupted = False
        self.opened = False

    # -- the outer seal -----------------------------------------------------------------------------------

    async def step(self, doing: Coroutine[Any, Any, None]) -> None:
        """Do one step of the attempt; whatever becomes of it is this attempt's fault and goes no further."""
        try:
            await doing
        except asyncio.CancelledError:
            if self.context.stop.at_once:
                raise
            self.interrupted = True
            self.fault("engine", "harness", "interrupted")
        except OyerError as error:
            self.fault("engine", fault_class(error), str(error))
        except OSError as error:
            self.fault("engine", "harness", f"{type(error).__name__}: {error}")
        except Exception as bug:  # noqa: BLE001 - the trial's outer seal: whatever it is, it is this trial's harness error
            self.fault("engine", "harness", f"a bug in Oyer: {type(bug).__name__}: {bug}")

    def fault(self, where: str, cls: str, message: str) -> None:
        """Record a fault and take note of it; a journal that cannot be written is itself one."""
        try:
            self._open()
            self.journal.record("fault", {"where": where, "class": cls, "message": message})
        except OyerError as error:
            message = f"{message} (and it could not be recorded: {error})"
        self.faults.hear(where, cls, message)

    # -- what is done, in order ---------------------------------------------------------------------------

    async def conduct(self, held: contextlib.ExitStack) -> None:
        """Everything from an empty place to the end of the last session."""
        if self.context.stop.asked:
            raise asyncio.CancelledError
        source = self.plan.source
        problem = isolation_problem(source.case)
        if problem is not None:
            raise Blocked("E-ISOLATION", problem)
        self.rundir = rundir = make_run_dir()
        held.enter_context(self.context.stop.keeping(rundir))
        members = self.plan.members.values()
        self.placement = Placement.of(source.case, self.run, rundir, members, self.context.secrets)
        self.plan = self._placed(self.placement)
        source = self.plan.source
        if source.world is not None:
            copying = asyncio.to_thread(copy_world, source.world, rundir.world, links=source.case.symlinks)
            await to_the_end(copying)
        self.bench = bench = self._make_bench(rundir)
        await bench.up()
        self._open()
        reach("engine.up")
        if self.faults.first is not None:
            return
        self.stopped_by = await run_sessions(
            bench=bench,
            journal=self.journal,
            case=source.case,
            subject=self.context.make_subject(self.plan, MeteredRecorder(self.journal, bench.meter)),
            faults=self.faults,
            rundir=rundir,
            env=base_environment(rundir.home, rundir.temp, os.environ),
            fault=self.fault,
            stop=self.context.stop,
            neutral=self.plan.planned.condition == "neutral",
        )
        reach("engine.sessions")

    async def release(self) -> None:
        """Take everything down and seal every journal but our own; each step is taken whatever became of the others."""
        if self.bench is not None:
            for step in self.bench.ends():
                await self.step(step)
        reach("engine.down")
        if self.rundir is not None:
            await self.step(self._validate(self.rundir))
            await self.step(self._remove(self.rundir))

    def close(self) -> str:
        """Seal the harness's own journal, pack, and record the status in the ledger."""
        try:
            self._open()
            status = self._status()
            first = self.faults.first
            error = {"where": first.where, "class": first.cls, "message": first.message} if first else None
            heads = self.bench.heads if self.bench is not None else {}
            body = {"status": status, "stopped_by": self.stopped_by, "error": error, "writers": heads}
            self.journal.record("trial.closed", body)
            self.journal.seal(sync=False)
        except OyerError as broken:
            # What cannot be sealed is packed as it is: its own defects then say so, and nothing rests on it.
            self.store.seal("harness_error", why=str(broken))
            return "harness_error"
        reach("engine.closed")
        try:
            self.store.seal(status, why="interrupted" if self.interrupted else None)
        except HarnessError as unsealed:
            if unsealed.code != "E-PACK-UNSEALED":
                raise
            self.store.seal("harness_error", why=str(unsealed))
            return "harness_error"
        return status

    def may_follow(self, status: str) -> bool:
        """Whether another attempt may follow: not after what was done with, or met in, what the subject left.

        A check of the closing world that does not end, or a world that nobody can look at, would else buy a retry.
        """
        spoilt = any(fault.cls.startswith("subject") for fault in self.faults.faults)
        checked = any(fault.where.startswith(VALIDATOR) for fault in self.faults.faults)
        return status in RETRIED and not spoilt and not checked

    def abandon(self) -> None:
        """Give back what a whole attempt has given back already."""
        if self.bench is not None:
            self.bench.close()
        self.journal.close()

    # -- parts --------------------------------------------------------------------------------------------

    def _status(self) -> str:
        return "harness_error" if self.interrupted else status_of(self.faults.first, self.plan.source.case.blame)

    def _placed(self, placement: Placement) -> AttemptPlan:
        """Return the plan with what this run drew in its case, and in the paths whose content is kept."""
        source = self.plan.source
        earlier = str(new_run_id()) if self.plan.spec.plays in OF_EARLIER_RUNS else None
        if not placement.drawn:
            return self.plan
        case = placement.fill(source.case, earlier)
        return replace(
            self.plan,
            source=replace(source, loaded=source.loaded._replace(case=case)),
            retained=fill_texts(self.plan.retained, placement.drawn),
            members={name: placement.fill(member, earlier) for name, member in self.plan.members.items()},
        )

    def _make_bench(self, rundir: RunDir) -> Bench:
        return Bench(
            self.context,
            self.plan,
            self.store,
            rundir,
            self.placement,
            self.faults,
            report=self.fault,
            over_tokens=self._over_tokens,
            over_cost=self._over_cost,
            sweep=self._sweep,
        )

    def _open(self) -> None:
        """Record the opening, once: it is the first event of the harness, whatever comes to pass before it is due."""
        if self.opened:
            return
        self.opened = True
        planned, pinned = self.plan.planned, self.plan.pinned
        body: dict[str, Any] = {
            "vocabulary": VOCABULARY,
            "case": planned.case_digest,
            "case_id": planned.case,
            "subject": subject_text(self.plan.identity),
            "repetition": planned.repetition,
            "masks": dict(self.placement.masks),
            "random": dict(self.placement.drawn),
        }
        model = self.plan.spec.model
        if model is not None and model.reasoning_delimiters:
            body["reasoning_delimiters"] = [list(pair) for pair in model.reasoning_delimiters]
        if model is not None and model.faults:
            body["model_faults"] = list(model.faults)
        if model is not None and model.prices:
            body["prices"] = {name: plain_price(price) for name, price in model.prices.items()}
        if model is not None:
            body["model_source"] = self.context.model_source(self.plan)
        if pinned.world is not None:
            body["fixture_digest"] = pinned.world
        self.journal.record("trial.opened", body, sync=True)

    def _over_tokens(self, seen: int, session: str | None) -> None:
        limit = self.plan.source.case.budget.tokens or 0
        self.journal.record("budget.exceeded", {"what": "tokens", "limit": limit, "seen": seen}, session=session)
        self.fault("engine", "budget_exceeded", f"the model used {seen} tokens; the budget is {limit}")

    def _over_cost(self, seen: int, session: str | None) -> None:
        limit = micros_of(self.plan.source.case.budget.cost_usd or "0")
        body = {"what": "cost_usd_micros", "limit": limit, "seen": seen}
        self.journal.record("budget.exceeded", body, session=session)
        told = f"the model cost {seen / 1e6:.6f} USD; the budget is {self.plan.source.case.budget.cost_usd}"
        self.fault("engine", "budget_exceeded", told)

    async def _sweep(self) -> None:
        """End whatever outlived its own tree; it stays on record by pid and name."""
        if self.rundir is None:
            return
        killed, left = await sweep_run(str(self.rundir.root))
        for survivor in killed:
            body = {"role": "left-behind", "pid": survivor.pid, "code": None, "signal": 9, "survivors": []}
            self.journal.record("process.exited", body, payloads={"stderr": survivor.name.encode()})
        for survivor in left:
            self.fault("host", "harness", f"process {survivor.pid} ({survivor.name}) could not be ended")

    async def _validate(self, rundir: RunDir) -> None:
        """Ask the hidden checks about a world that a whole trial left behind; of another they could say nothing."""
        if self.faults.first is None and not self.interrupted:
            source = self.plan.source
            await run_validators(source.case, self.journal, rundir, self.placement.values, source.base, self.fault)

    async def _remove(self, rundir: RunDir) -> None:
        undeleted = await to_the_end(asyncio.to_thread(rundir.remove))
        if undeleted:
            self.fault("host", "harness", f"{len(undeleted)} paths of the run could not be removed")
