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
from collections.abc import AsyncIterator
from typing import Any

from oyer.engine.context import AttemptPlan, SeriesContext
from oyer.engine.environment import subject_text
from oyer.engine.faults import FaultLog, status_of
from oyer.engine.instruments import Bench, open_bench
from oyer.engine.place import Placement
from oyer.engine.sessions import run_sessions
from oyer.errors import OyerError
from oyer.evidence import VOCABULARY, Envelope
from oyer.host import RunDir, base_environment, boot_id, copy_world, make_run_dir, new_run_id, sweep_run
from oyer.store import AttemptStore, JournalWriter

__all__ = ["run_attempt"]


async def run_attempt(context: SeriesContext, plan: AttemptPlan) -> str:
    """Run one attempt and return its sealed execution status. Raises only what makes the series itself impossible."""
    run = str(new_run_id())
    envelope = Envelope(
        series=context.series,
        trial=plan.planned.trial,
        run=run,
        condition=plan.planned.condition,
        attempt=plan.attempt,
        boot=boot_id(),
    )
    store = context.store.open_attempt(envelope)
    attempt = _Attempt(context, plan, run, store)
    try:
        await attempt.conduct()
    except asyncio.CancelledError:
        attempt.fault("engine", "harness", "interrupted")
        attempt.interrupted = True
    except Exception as bug:  # noqa: BLE001 - the trial's outer seal: whatever it is, it is this trial's harness error
        attempt.fault("engine", "harness", f"a bug in Oyer: {type(bug).__name__}: {bug}")
    return attempt.close()


class _Attempt:
    """The state of one attempt."""

    def __init__(self, context: SeriesContext, plan: AttemptPlan, run: str, store: AttemptStore) -> None:
        self.context = context
        self.plan = plan
        self.run = run
        self.store = store
        self.journal: JournalWriter = store.writer("harness")
        self.faults = FaultLog()
        self.heads: dict[str, dict[str, Any]] = {}
        self.stopped_by: str | None = None
        self.interrupted = False
        self.opened = False

    def fault(self, where: str, cls: str, message: str) -> None:
        """Record a fault of our own and take note of it; a journal that cannot be written is itself one."""
        try:
            self.journal.record("fault", {"where": where, "class": cls, "message": message})
        except OyerError as error:
            message = f"{message} (and it could not be recorded: {error})"
        self.faults.hear(where, cls, message)

    async def conduct(self) -> None:
        """Do everything between opening and closing. Nothing raised in here leaves the attempt."""
        rundir: RunDir | None = None
        try:
            rundir = make_run_dir()
            await self._within(rundir)
        except OyerError as error:
            cls = {"blocked": "dependency_unavailable", "subject_error": "subject"}.get(_status_name(error), "harness")
            self.fault("engine", cls, str(error))
        except OSError as error:
            self.fault("engine", "harness", f"{type(error).__name__}: {error}")
        finally:
            if rundir is not None:
                await self._sweep(rundir)

    async def _within(self, rundir: RunDir) -> None:
        source = self.plan.source
        placement = Placement.of(source.case, self.run, rundir)
        if source.world is not None:
            await asyncio.to_thread(copy_world, source.world, rundir.world, links=source.case.symlinks)
        async with self._bench(rundir, placement) as bench:
            self._open(placement)
            self.stopped_by = await run_sessions(
                bench=bench,
                journal=self.journal,
                case=source.case,
                subject=self.context.make_subject(self.plan, self.journal),
                faults=self.faults,
                rundir=rundir,
                env=base_environment(rundir.home, rundir.temp, os.environ),
                fault=self.fault,
            )

    def _open(self, placement: Placement) -> None:
        planned, pinned = self.plan.planned, self.plan.pinned
        body: dict[str, Any] = {
            "vocabulary": VOCABULARY,
            "case": planned.case_digest,
            "case_id": planned.case,
            "subject": subject_text(self.plan.identity),
            "repetition": planned.repetition,
            "masks": dict(placement.masks),
            "random": dict(placement.drawn),
        }
        if pinned.world is not None:
            body["fixture_digest"] = pinned.world
        self.journal.record("trial.opened", body, sync=True)
        self.opened = True

    @contextlib.asynccontextmanager
    async def _bench(self, rundir: RunDir, placement: Placement) -> AsyncIterator[Bench]:
        """Everything that watches and intervenes: up on entry, probed, down and sealed on exit."""
        bench = open_bench(self.context, self.plan, self.store, rundir, placement, self.faults)
        try:
            await bench.up()
            yield bench
        except BaseException:
            if not self.opened:
                self._open(placement)
            raise
        finally:
            await bench.down()
            self.heads.update(await bench.seal())

    async def _sweep(self, rundir: RunDir) -> None:
        killed, left = await sweep_run(str(rundir.root))
        for survivor in killed:
            # Whatever outlived its own tree is ended here, and stays on record by pid and name.
            body = {"role": "left-behind", "pid": survivor.pid, "code": None, "signal": 9, "survivors": []}
            self.journal.record("process.exited", body, payloads={"stderr": survivor.name.encode()})
        for survivor in left:
            self.fault("host", "harness", f"process {survivor.pid} ({survivor.name}) could not be ended")
        undeleted = await asyncio.to_thread(rundir.remove)
        if undeleted:
            self.fault("host", "harness", f"{len(undeleted)} paths of the run could not be removed")

    def close(self) -> str:
        """Seal the harness's own journal, pack, and record the status in the ledger."""
        status = "harness_error" if self.interrupted else status_of(self.faults.first, self.plan.source.case.blame)
        first = self.faults.first
        error = {"where": first.where, "class": first.cls, "message": first.message} if first else None
        try:
            if not self.opened:
                self._open(Placement())
            self.journal.record(
                "trial.closed",
                {"status": status, "stopped_by": self.stopped_by, "error": error, "writers": self.heads},
                sync=True,
            )
            self.journal.seal()
        except OyerError as broken:
            # What cannot be sealed is packed as it is: its own defects then say so, and nothing rests on it.
            status = "harness_error"
            self.store.seal(status, why=str(broken))
            return status
        self.store.seal(status, why="interrupted" if self.interrupted else None)
        return status


def _status_name(error: OyerError) -> str:
    return {"Blocked": "blocked", "SubjectError": "subject_error"}.get(type(error).__name__, "harness_error")
