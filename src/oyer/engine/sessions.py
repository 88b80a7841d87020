"""Sessions in order, turns in order, with every bound kept from outside the thing it bounds.

Turns of pressure are turns like any other. Where a look follows a turn, it is taken before the next one is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence

from oyer.engine.faults import FaultLog
from oyer.engine.instruments import Bench
from oyer.engine.stopping import Stop
from oyer.host import RunDir, reach
from oyer.records import Case, Session, looked_after
from oyer.store import JournalWriter
from oyer.subjects import Subject, TurnEnd

__all__ = ["run_sessions"]

AFTER_FAULT_S = 1.0
"""How long a turn may still take to end by itself after a server or endpoint of the subject failed."""

AT_ONCE = frozenset({"budget_exceeded", "timeout", "harness", "state_contract_broken"})
"""Faults after which the subject gets no more time: a bound was passed, or what it does is no longer witnessed."""

INSTRUMENT_S = 4.0
"""How long the instrument beside a failed dependency may take to say so, before the subject's word is the first."""

OF_ENDPOINT = "model endpoint: "
"""How a subject of ours begins what it says of its model's failure; of a server's it says something else."""

FATAL = frozenset({"crash", "protocol", "budget", "harness"})

CLASS_OF_END = {"harness": "dependency_unavailable", "crash": "subject_crash", "protocol": "subject_protocol"}
"""The class of the fault that each way of ending a turn means; the driver records it, this says it again."""

Report = Callable[[str, str, str], None]


async def run_sessions(
    *,
    bench: Bench,
    journal: JournalWriter,
    case: Case,
    subject: Subject,
    faults: FaultLog,
    rundir: RunDir,
    env: Mapping[str, str],
    fault: Report,
    stop: Stop,
    neutral: bool = False,
) -> str | None:
    """Run every session until the end, a stop, or a fault. Return what declared stop ended it, if one did.

    `neutral`: rounds of pressure are sent as their content-free counterparts.

    Raises: CancelledError when the operator asked to stop; the session under way was closed in order then.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + case.budget.wall_s
    stopped_by: str | None = None
    for number, session in enumerate(case.sessions):
        if stop.asked:
            raise asyncio.CancelledError
        journal.record("session.opened", {"number": number}, session=session.id)
        bench.enter(session.id)
        try:
            given = bench.given(session, cwd=str(rundir.world), env=env)
            await subject.open_session(session.id, given)
            reach("engine.session")
            texts = case.turns_of(session, neutral=neutral)
            stopped_by = await _turns(session, texts, bench, journal, case, subject, faults, deadline, fault)
        finally:
            await stop.finish(subject.close_session())
            await stop.finish(bench.leave(session.id, last=number == len(case.sessions) - 1))
            journal.record("session.closed", {"number": number}, session=session.id)
        if faults.first is not None or stopped_by is not None:
            break
    return stopped_by


async def _turns(
    session: Session,
    texts: Sequence[str],
    bench: Bench,
    journal: JournalWriter,
    case: Case,
    subject: Subject,
    faults: FaultLog,
    deadline: float,
    fault: Report,
) -> str | None:
    loop = asyncio.get_running_loop()
    looked = looked_after(case)
    for number, text in enumerate(texts):
        left_s = max(0.001, deadline - loop.time())
        end = await _turn(subject, text, left_s, faults, journal, session.id, number)
        if end is None:
            return None
        if end.fault is not None:
            known = end.detail.startswith(OF_ENDPOINT) and bench.endpoint_failed
            if end.ended_by == "harness" and not known:
                # What failed the subject has an instrument of its own, which may be a moment behind: it is heard first.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(faults.heard.wait(), INSTRUMENT_S)
            faults.hear("subject", CLASS_OF_END.get(end.ended_by, "subject"), end.detail)
        elif end.ended_by == "budget":
            seen = int(case.budget.wall_s - (deadline - loop.time()))
            journal.record(
                "budget.exceeded", {"what": "wall_s", "limit": case.budget.wall_s, "seen": seen}, session=session.id
            )
            fault("engine", "budget_exceeded", f"the trial took longer than wall_s: {case.budget.wall_s}")
        elif end.ended_by in FATAL:
            fault("subject", CLASS_OF_END.get(end.ended_by, "subject"), end.detail or end.ended_by)
        if (session.id, number) in looked:
            await bench.after_turn(session.id, number)
        if end.ended_by == "stop":
            return end.detail or "stop"
        if faults.first is not None:
            return None
    return None


async def _turn(
    subject: Subject,
    text: str,
    left_s: float,
    faults: FaultLog,
    journal: JournalWriter,
    session: str,
    number: int,
) -> TurnEnd | None:
    """Send one turn; return None where an instrument's fault ended it before the subject did."""
    turn = asyncio.ensure_future(subject.turn(text, timeout_s=left_s))
    alarm = asyncio.ensure_future(faults.heard.wait())
    try:
        await asyncio.wait({turn, alarm}, return_when=asyncio.FIRST_COMPLETED)
        first = faults.first
        if not turn.done() and first is not None and first.cls not in AT_ONCE:
            await asyncio.wait({turn}, timeout=min(AFTER_FAULT_S, left_s))
        if turn.done():
            return turn.result()
        journal.record(
            "turn.received", {"number": number, "ended_by": "harness"}, payloads={"payload": b""}, session=session
        )
        return None
    finally:
        alarm.cancel()
        if not turn.done():
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
