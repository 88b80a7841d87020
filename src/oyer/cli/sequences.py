"""The sequences of a suite as cases that can be planned: composed, and placed where their members' paths start.

Owns the place of a sequence: which directory its one case starts its paths from. What fits together is
`oyer.records`'; nothing is started and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from oyer.cli.loading import PlacedCase
from oyer.errors import Problem
from oyer.records import (
    Case,
    EvidenceMatcher,
    LoadedCase,
    LoadedRecord,
    TrialSuite,
    compose,
    digest,
    members_of,
    sequence_breaches,
)

__all__ = ["place_problems", "placed_sequences", "trace_notes", "with_members"]

_UNREAD = (
    "asks only whether the world changed, and a later case that no more than reads what was left changes nothing: "
    "add a call (`called`), an effect, or what a file of the later case would hold (`contains`, `json`)"
)


def placed_sequences(loaded: LoadedRecord[TrialSuite], cases: Mapping[str, PlacedCase]) -> tuple[PlacedCase, ...]:
    """Return every sequence of a suite as a case, in order; one that is not sound is left out, and told elsewhere."""
    found: list[PlacedCase] = []
    for sequence in loaded.record.sequences:
        members = [cases[name] for name in sequence.cases if name in cases]
        whole = len(members) == len(sequence.cases)
        if not whole or any(sequence_breaches(sequence, [one.loaded.case for one in members])):
            continue
        case = compose(sequence, [one.loaded.case for one in members])
        leaning = [one for one in members if _leans(one)]
        placed = (leaning or members)[0]
        world = next((one for one in members if one.world is not None), placed)
        composed = LoadedCase(case, digest(case), loaded.document, loaded.document)
        found.append(PlacedCase(composed, placed.base, world.world, world.world_digest))
    return tuple(found)


def place_problems(loaded: LoadedRecord[TrialSuite], cases: Mapping[str, PlacedCase]) -> Iterator[Problem]:
    """Yield every member whose paths start from another directory than an earlier member's: both cannot hold."""
    for index, sequence in enumerate(loaded.record.sequences):
        leaning = [(number, cases[name]) for number, name in enumerate(sequence.cases) if name in cases]
        leaning = [(number, placed) for number, placed in leaning if _leans(placed)]
        for number, placed in leaning[1:]:
            first = leaning[0][1]
            if placed.base != first.base:
                told = f"the paths of {placed.loaded.case.id!r} start from {placed.base}, and those of "
                told += f"{first.loaded.case.id!r} from {first.base}"
                hint = "put their files beside each other"
                yield loaded.document.problem("E-SEQUENCE-PLACE", ("sequences", index, "cases", number), told, hint)


def trace_notes(case: Case, members: Sequence[Case]) -> list[str]:
    """Say of each member but the last whether no reading of a later one could ever hit a trace of it."""
    if case.world is None:
        return []
    return [
        f"traces of {one.id}: each {_UNREAD}"
        for one in members[:-1]
        if one.traces and all(map(_only_changed, one.traces))
    ]


def _only_changed(trace: EvidenceMatcher) -> bool:
    told = (trace.contains, trace.equals, trace.json_value, trace.where)
    return trace.changed is True and all(value is None for value in told)


def with_members(
    alone: Sequence[PlacedCase], chosen: Sequence[PlacedCase], cases: Mapping[str, PlacedCase]
) -> tuple[PlacedCase, ...]:
    """Return the cases that run alone, then what the chosen sequences are made of and is not there yet, then these."""
    sequences = tuple(placed for placed in chosen if placed.loaded.case.segments)
    ordered = {placed.loaded.case.id: placed for placed in alone}
    for name in (name for placed in sequences for name in members_of(placed.loaded.case)):
        ordered.setdefault(name, cases[name])
    return (*ordered.values(), *sequences)


def _leans(placed: PlacedCase) -> bool:
    """Whether a case names a file by a path that starts from its own: a world, or a word of a command."""
    case = placed.loaded.case
    commands: Sequence[tuple[str, ...]] = [
        *(server.command for server in case.servers.values()),
        *(validator.command for validator in case.validators.values()),
    ]
    words = [word for command in commands for word in command if "/" in word and not word.startswith(("/", "-"))]
    return case.world is not None or any((placed.base / word).exists() for word in words)
