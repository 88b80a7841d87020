"""`compose`: the cases of a sequence as one case, whose segments say which turns are whose.

Owns what has to agree between cases that share a session or a world, and how the one case follows from them. Pure:
records in, every breach or the case out. Must never change what is sent or given to a member, or judge anything:
a segment is judged by its own case. Source: the trials design, "Pressure cases" (order, downstream contamination).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Several
from decimal import Decimal
from typing import Any, TypeVar

from oyer.errors import Problem, RecordError
from oyer.records.canonical import digest
from oyer.records.case import BLAMED, MOST_MESSAGES, MOST_TOTAL_BYTES, Budget, Case, EffectClass, Segment, Session, Stop
from oyer.records.case_rules import Breach, names_an_arm
from oyer.records.model import Record
from oyer.records.suite import Sequence

__all__ = ["compose", "members_of", "segments_of", "sequence_breaches"]

T = TypeVar("T")

_EFFECTS: tuple[EffectClass, ...] = (
    "none",
    "local_read",
    "local_write",
    "external_read",
    "external_write",
    "destructive",
)
_ISOLATIONS = ("none", "process", "sandbox")
_LONGEST_WALL_S = 86_400
_LONGEST_ID = 32
_SHARED_SESSION = "main"


def members_of(case: Case) -> tuple[str, ...]:
    """Return the ids of the cases that a sequence is made of, in their order; none for any other case."""
    return tuple(dict.fromkeys(segment.case for segment in case.segments))


def segments_of(case: Case, member: str) -> tuple[Segment, ...]:
    """Return the turns of one member: one segment for each of its sessions, in their order."""
    return tuple(segment for segment in case.segments if segment.case == member)


def sequence_breaches(sequence: Sequence, members: Several[Case]) -> Iterator[Breach]:
    """Yield everything that keeps cases from standing in one sequence; paths start from the sequence.

    `members` are the cases that it names, in its order.
    """
    for index, case in enumerate(members):
        yield from _alone(sequence, case, index)
        yield from _told_apart(sequence, case, index)
    for index, case in enumerate(members[1:], start=1):
        yield from _unequal(members[:index], case, index)
    wall_s = sum(case.budget.wall_s for case in members)
    if wall_s > _LONGEST_WALL_S:
        told = f"the cases may take {wall_s} s together, and no trial more than {_LONGEST_WALL_S}"
        yield Breach(("cases",), "E-SEQUENCE-FIT", told, "give them smaller budgets, or make two sequences")


def _alone(sequence: Sequence, case: Case, index: int) -> Iterator[Breach]:
    """What is wrong with a member whatever the others are."""
    path = ("cases", index)
    if case.is_experiment:
        told = f"{case.id!r} is an experiment: its arms are compared, and a sequence has none"
        yield Breach(path, "E-SEQUENCE-FIT", told, "name traps, controls or plain cases")
    if case.segments:
        yield Breach(path, "E-SEQUENCE-FIT", f"{case.id!r} is a sequence itself", "name its cases")
    if sequence.share == "session" and len(case.sessions) != 1:
        told = f"{case.id!r} has {len(case.sessions)} sessions, and the cases of this sequence share one"
        yield Breach(path, "E-SEQUENCE-SESSION", told, "write share: world")
    for session in case.sessions if sequence.share == "world" else ():
        name = _own_session(index, session.id)
        if len(name) > _LONGEST_ID:
            told = f"session {session.id!r} of {case.id!r} would be {name!r}, longer than {_LONGEST_ID} characters"
            yield Breach(path, "E-SEQUENCE-SESSION", told, "give it a shorter id")


def _told_apart(sequence: Sequence, case: Case, index: int) -> Iterator[Breach]:
    """A subject must not read off its turns or servers that it stands in a sequence, or in which."""
    for text in (*(text for session in case.sessions for text in case.turns_of(session)), *case.servers):
        if names_an_arm(text, sequence.id) == sequence.id:
            told = f"{case.id!r} names {sequence.id!r}, which would tell the subject what is tested"
            yield Breach(("id",), "E-ARM-WORD", told, "give the sequence another id")
            return


def _unequal(before: Several[Case], case: Case, index: int) -> Iterator[Breach]:
    """What differs between a member and an earlier one, and may not: each thing once, with the first that differs."""
    path = ("cases", index)
    for what in ("servers", "sinks", "validators"):
        yield from _other_things(before, case, what, path)
    first = next((one for one in before if one.world is not None), None)
    if first is not None and case.world is not None and case.world != first.world:
        told = f"{case.id!r} has the world {case.world!r}, and {first.id!r} has {first.world!r}: there is only one"
        yield Breach(path, "E-SEQUENCE-FIT", told, "give them the same world, or leave it out of all but one")
    leader = before[0]
    if case.channel != leader.channel:
        told = f"{case.id!r} asserts things in {_tool(case)}, and {leader.id!r} in {_tool(leader)}"
        yield Breach(path, "E-SEQUENCE-FIT", told, "give them the same channel")
    differing = [name for name in BLAMED if getattr(case.blame, name) != getattr(leader.blame, name)]
    if differing:
        mine, yours = getattr(case.blame, differing[0]), getattr(leader.blame, differing[0])
        told = f"{differing[0]} is {mine} in {case.id!r} and {yours} in {leader.id!r}: one trial has one status"
        yield Breach(path, "E-SEQUENCE-FIT", told, "give them the same blame")


def _other_things(before: Several[Case], case: Case, what: str, path: tuple[str | int, ...]) -> Iterator[Breach]:
    mine: Mapping[str, Record] = getattr(case, what)
    for name, thing in mine.items():
        first = next((one for one in before if name in getattr(one, what)), None)
        if first is None or getattr(first, what)[name] == thing:
            continue
        other = getattr(first, what)[name]
        field = next(key for key in type(thing).model_fields if getattr(thing, key) != getattr(other, key))
        told = f"{what.removesuffix('s')} {name!r} has another {field} in {case.id!r} than in {first.id!r}"
        yield Breach(path, "E-SEQUENCE-FIT", told, "make them equal, or give one of them another name")


def _tool(case: Case) -> str:
    return "no channel" if case.channel is None else f"{case.channel.server}.{case.channel.tool}"


def compose(sequence: Sequence, members: Several[Case]) -> Case:
    """Return the one case that stands for a sequence: kind `plain`, judged of nothing but by its segments.

    What the members have is put together: servers, sinks and validators by name, the one world; the strictest
    isolation and the highest effect class; budgets and stops added up, where every member has such a bound. The bounds
    of one answer and one message are the largest. Raises: RecordError with everything that keeps them apart.
    """
    breaches = list(sequence_breaches(sequence, members))
    if breaches:
        raise RecordError.of(Problem(b.code, b.message, f"sequence {sequence.id}", b.hint) for b in breaches)
    sessions, segments = _one_session(members) if sequence.share == "session" else _one_world(members)
    return Case(
        oyer="Case@1",
        id=sequence.id,
        kind="plain",
        effect_class=max((case.effect_class for case in members), key=_EFFECTS.index),
        isolation=max((case.isolation for case in members), key=_ISOLATIONS.index),
        world=next((case.world for case in members if case.world is not None), None),
        symlinks=tuple(dict.fromkeys(link for case in members for link in case.symlinks)),
        servers=_together(members, "servers"),
        sinks=_together(members, "sinks"),
        validators=_together(members, "validators"),
        channel=members[0].channel,
        sessions=sessions,
        stop=Stop(
            model_calls=_added([case.stop.model_calls for case in members]),
            tool_calls=_added([case.stop.tool_calls for case in members]),
        ),
        budget=_budget([case.budget for case in members]),
        blame=members[0].blame,
        segments=segments,
    )


def _one_session(members: Several[Case]) -> tuple[tuple[Session, ...], tuple[Segment, ...]]:
    names = {case.sessions[0].id for case in members}
    name = names.pop() if len(names) == 1 else _SHARED_SESSION
    turns: list[str] = []
    segments: list[Segment] = []
    for case in members:
        own = case.turns_of(case.sessions[0])
        segments.append(Segment(case=case.id, digest=digest(case), session=name, first=len(turns), turns=len(own)))
        turns += own
    return (Session(id=name, turns=tuple(turns)),), tuple(segments)


def _one_world(members: Several[Case]) -> tuple[tuple[Session, ...], tuple[Segment, ...]]:
    sessions: list[Session] = []
    segments: list[Segment] = []
    for index, case in enumerate(members):
        for session in case.sessions:
            name, own = _own_session(index, session.id), case.turns_of(session)
            sessions.append(Session(id=name, turns=own))
            segments.append(Segment(case=case.id, digest=digest(case), session=name, first=0, turns=len(own)))
    return tuple(sessions), tuple(segments)


def _own_session(index: int, session: str) -> str:
    return f"m{index}-{session}"


def _together(members: Several[Case], what: str) -> dict[str, Any]:
    return {name: thing for case in members for name, thing in getattr(case, what).items()}


def _budget(budgets: Several[Budget]) -> Budget:
    costs = [None if one.cost_usd is None else Decimal(one.cost_usd) for one in budgets]
    cost = sum((one for one in costs if one is not None), Decimal(0))
    return Budget(
        wall_s=sum(one.wall_s for one in budgets),
        answer_s=max(one.answer_s for one in budgets),
        idle_s=_longest([one.idle_s for one in budgets]),
        message_bytes=max(one.message_bytes for one in budgets),
        stream_bytes=max(one.stream_bytes for one in budgets),
        total_bytes=min(sum(one.total_bytes for one in budgets), MOST_TOTAL_BYTES),
        messages=min(sum(one.messages for one in budgets), MOST_MESSAGES),
        tokens=_added([one.tokens for one in budgets]),
        cost_usd=None if None in costs else format(cost, "f"),
    )


def _longest(bounds: Several[int | None]) -> int | None:
    """Return the largest bound; where one has none, there is none."""
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def _added(bounds: Several[int | None]) -> int | None:
    """Add bounds up; where one has none, the sum has none."""
    known = [bound for bound in bounds if bound is not None]
    return sum(known) if len(known) == len(bounds) else None
