"""What must hold across the fields of a vector, so that it means one evidence state and can be written as journals.

Owns the rules and their wording, each with the path of the field it is about. A vector may describe any evidence, the
strangest included; it may not contradict itself. Must never compare what a vector expects with what it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from oyer.adjudicate import REASONS
from oyer.conform.declaring import session_names, vector_case
from oyer.conform.kinds import KINDS
from oyer.conform.vectors import ApprovalAct, ArmState, Call, Cancel, Event, Given, Result, Vector
from oyer.errors import RecordError
from oyer.records import Flaw, Path, nearest

__all__ = ["LAST_TICK", "vector_flaws"]

LAST_TICK = 1_000_000_000
MOST_SESSIONS = 26
CAUSES = frozenset(code for code in REASONS if code[0].islower()) | {"exposed_no_attempt", "lure_removed", "none"}
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")


def vector_flaws(vector: Vector) -> Iterator[Flaw]:
    """Yield everything that makes a vector contradict itself."""
    yield from _expectations(vector)
    given = vector.given
    flaws = [*_declared(given)]
    for name, state in given.arms.items():
        flaws += [flaw._replace(path=("given", "arms", name, *flaw.path)) for flaw in _arm(state)]
    yield from flaws
    if not flaws:
        yield from _case(given)


def _flaw(path: Path, message: str, hint: str = "", code: str = "E-VECTOR-VALUE") -> Flaw:
    return Flaw(path, message, hint, code)


def _unknown(path: Path, what: str, name: str, known: Mapping[str, object] | frozenset[str], code: str) -> Flaw:
    close = nearest(name, sorted(known))
    return _flaw(
        path, f"{name!r} is no {what}", f"did you mean {close}?" if close else "see docs/spec/vectors.md", code
    )


def _expectations(vector: Vector) -> Iterator[Flaw]:
    kind, cause = vector.expect_reason_kind, vector.expect_attribution
    if kind not in KINDS:
        yield _unknown(("expect_reason_kind",), "kind of reason", kind, KINDS, "E-VECTOR-KIND")
    if cause is not None and cause not in CAUSES:
        yield _unknown(("expect_attribution",), "attribution", cause, CAUSES, "E-VECTOR-CODE")
    for index, name in enumerate(vector.expect_codes or ()):
        code = name.partition(":")[0]
        if code not in REASONS:
            yield _unknown(("expect_codes", index), "reason code", code, REASONS, "E-VECTOR-CODE")


def _declared(given: Given) -> Iterator[Flaw]:
    declared = given.declared
    if given.shape == "two_hop":
        for name in ("persist_tool", "later_read_tool"):
            if getattr(declared, name) is None:
                yield _flaw(("given", "declared"), f"two hops need a {name}")
    if given.hardened and declared.policy is None:
        yield _flaw(("given", "declared"), "the hardened arm is the one with a policy", "declare a policy")
    if len(session_names(given)) > MOST_SESSIONS:
        yield _flaw(("given", "arms"), f"an arm has more than {MOST_SESSIONS} sessions")


def _arm(state: ArmState) -> Iterator[Flaw]:
    runs: tuple[tuple[Path, str | None], ...] = (
        (("run_id",), state.run_id),
        (("recorded", "run_id"), state.recorded.run_id),
        (("artifact", "run_id"), state.artifact.run_id),
    )
    for path, run in runs:
        if run is not None and not RUN_ID.match(run):
            yield _flaw(path, f"{run!r} is no run id", "letters, digits and . _ - only")
    for index, record in enumerate(state.sink.records):
        yield from _record(record, ("sink", "records", index))
    for path, at in _ticks(state):
        if not 0 <= at <= LAST_TICK:
            yield _flaw(path, f"a tick lies between 0 and {LAST_TICK}")
    for path, one, other in _orders(state):
        if one > other:
            yield _flaw(path, f"{other} comes before {one}")
    for index, event in enumerate(state.events):
        if isinstance(event, Result) and event.answered_by == "policy" and event.modified:
            yield _flaw(("events", index), "an answer by a policy is not a changed answer of the server")
        if isinstance(event, Result | Cancel) and event.id is not None:
            tools = {call.tool for call in _of_id(state, event)}
            if tools and event.tool not in tools:
                message = f"{event.id!r} is the id of a call of {' and '.join(sorted(tools))}, not of {event.tool}"
                yield _flaw(("events", index, "tool"), message, "on the wire an id alone says which call is meant")


def _of_id(state: ArmState, event: Result | Cancel) -> Iterator[Call]:
    """Yield the calls before an event that have its id on its connection."""
    for call in state.in_order:
        if call is event:
            return
        if isinstance(call, Call) and (_place(call), call.id) == (_place(event), event.id):
            yield call


def _place(event: Event) -> str:
    return event.connection or event.session


def _record(record: Mapping[str, object], path: Path) -> Iterator[Flaw]:
    at, run = record.get("at"), record.get("run_id", 0)
    if type(at) is not int or not 0 <= at <= LAST_TICK:
        yield _flaw(path, "an effect needs `at`, the tick it was recorded at")
    if not (run is None or isinstance(run, str)):
        yield _flaw(path, "an effect needs `run_id`, the run it names, or null where it names none")


def _ticks(state: ArmState) -> Iterator[tuple[Path, int]]:
    """Every tick of an arm, with its path."""
    for index, event in enumerate(state.events):
        yield ("events", index, "at"), event.at
        if isinstance(event, Call) and isinstance(event.policy, ApprovalAct):
            yield ("events", index, "policy", "asked_at"), event.policy.asked_at
            yield ("events", index, "policy", "answered_at"), event.policy.answered_at
    for index, exchange in enumerate(state.model or ()):
        yield ("model", index, "request_at"), exchange.request_at
        yield ("model", index, "response_at"), exchange.response_at
    for index, turn in enumerate(state.turns):
        yield ("turns", index, "at"), turn.at
        yield ("turns", index, "end_at"), turn.end_at
    for index, look in enumerate(state.artifact.later):
        yield ("artifact", "later", index, "at"), look.at
    for index, rejected in enumerate(state.sink.rejected):
        yield ("sink", "rejected", index, "at"), rejected.at
    yield ("artifact", "at"), state.artifact.at
    if state.end is not None:
        yield ("end", "at"), state.end.at
    if state.sink.closing_probe_at is not None:
        yield ("sink", "closing_probe_at"), state.sink.closing_probe_at


def _orders(state: ArmState) -> Iterator[tuple[Path, int, int]]:
    """Pairs of ticks of which the second cannot come first."""
    for index, event in enumerate(state.events):
        if isinstance(event, Call) and isinstance(event.policy, ApprovalAct):
            policy = event.policy
            yield ("events", index, "policy", "asked_at"), event.at, policy.asked_at
            yield ("events", index, "policy", "answered_at"), policy.asked_at, policy.answered_at
    for index, exchange in enumerate(state.model or ()):
        yield ("model", index, "response_at"), exchange.request_at, exchange.response_at
    for index, turn in enumerate(state.turns):
        yield ("turns", index, "end_at"), turn.at, turn.end_at
    looks = [state.artifact.at, *(look.at for look in state.artifact.later)]
    for index in range(len(state.artifact.later)):
        yield ("artifact", "later", index, "at"), looks[index], looks[index + 1]


def _case(given: Given) -> Iterator[Flaw]:
    try:
        vector_case(given)
    except RecordError as error:
        for problem in error.problems:
            told = f"no case can declare this: {problem.where.removeprefix('<value>: ')}: {problem.message}"
            yield _flaw(("given", "declared"), told, problem.hint, "E-VECTOR-CASE")
