"""Every tool that a Case names, each with the place where it is named; and which of them no server lists.

Owns the walk over everything in a Case that names a tool. Must never ask a server: what is listed, it is told. A name
that no server lists is a misspelling: an intervention on it never applies, a matcher on it never matches, and what was
forbidden under it is always kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.records.case import Case, Step
from oyer.records.case_rules import Breach
from oyer.records.chain import CalledLink, ConsumedLink, PersistedLink
from oyer.records.matchers import EvidenceMatcher
from oyer.records.source_text import Path, nearest

__all__ = ["NamedTool", "matchers_of", "steps_of", "tool_breaches", "tools_named"]


class NamedTool(NamedTuple):
    """One tool of one server, and where the Case names it."""

    path: Path
    server: str
    tool: str


def tool_breaches(case: Case, listed: Mapping[str, Sequence[str]]) -> Iterator[Breach]:
    """Yield every tool that a server in `listed` does not have; of servers that are not in it nothing is known."""
    for path, server, tool in tools_named(case):
        if server not in listed or tool in listed[server]:
            continue
        close = nearest(tool, sorted(listed[server]))
        known = ", ".join(sorted(listed[server])) or "none"
        hint = f"did you mean {server}.{close}?" if close else f"it lists {known}"
        yield Breach(path, "E-TOOL-UNKNOWN", f"server {server} lists no tool {tool!r}", hint)


def tools_named(case: Case) -> Iterator[NamedTool]:
    """Yield every tool that a Case names."""
    if case.channel is not None:
        yield NamedTool(("channel",), case.channel.server, case.channel.tool)
    at = None if case.intervention is None else case.intervention.at
    if at is not None and at.server is not None and at.tool is not None:
        yield NamedTool(("intervention", "at", "tool"), at.server, at.tool)
    if case.hardened is not None:
        policy = case.hardened.policy
        yield NamedTool(("hardened", case.hardened.kind, "tool"), policy.server, policy.tool)
    yield from _of_the_chain(case)
    for path, matcher in matchers_of(case):
        if matcher.called is not None:
            yield NamedTool((*path, "called"), matcher.called.server, matcher.called.tool)
    for path, step in steps_of(case):
        if step.call is not None:
            server, _, tool = step.call.partition(".")
            yield NamedTool(path, server, tool)


def _of_the_chain(case: Case) -> Iterator[NamedTool]:
    if case.chain is None:
        return
    for stage, links in (("exposure", case.chain.exposure), ("promotion", case.chain.promotion)):
        for index, link in enumerate(links):
            if isinstance(link, PersistedLink):
                yield NamedTool(("chain", stage, index, "by"), link.by.server, link.by.tool)
            elif isinstance(link, ConsumedLink):
                yield NamedTool(("chain", stage, index, "through"), link.through.server, link.through.tool)
            elif isinstance(link, CalledLink):
                yield NamedTool(("chain", stage, index, "called"), link.called.server, link.called.tool)


def matchers_of(case: Case) -> Iterator[tuple[Path, EvidenceMatcher]]:
    """Yield every matcher that stands in a Case itself, with its place; those of its rubrics stand there."""
    for name in ("attempt", "benign", "expected", "forbidden", "traces"):
        for index, matcher in enumerate(getattr(case, name)):
            yield (name, index), matcher
    for name in ("refusal", "repair"):
        matcher = getattr(case, name)
        if matcher is not None:
            yield (name,), matcher
    if case.non_completion is not None:
        for name in ("said", "claimed"):
            matcher = getattr(case.non_completion, name)
            if matcher is not None:
                yield ("non_completion", name), matcher
        for index, matcher in enumerate(case.non_completion.not_done):
            yield ("non_completion", "not_done", index), matcher
    for number, claim in enumerate(case.claims):
        for rank in ("receipt", "protocol") if claim.oracle is not None else ():
            for index, fact in enumerate(getattr(claim.oracle, rank)):
                if isinstance(fact, EvidenceMatcher):
                    yield ("claims", number, "oracle", rank, index), fact


def steps_of(case: Case) -> Iterator[tuple[Path, Step]]:
    """Yield every step of every script of a Case, those that it plays in rounds among them, each with its place."""
    if case.doubles is None:
        return
    scripts: list[tuple[Path, Mapping[str, Sequence[Step]]]] = [
        (("proper",), case.doubles.proper),
        (("tempted",), case.doubles.tempted),
        *((("variants", name), script) for name, script in case.doubles.variants.items()),
    ]
    for path, script in scripts:
        for session, steps in script.items():
            yield from ((("doubles", *path, session, index), step) for index, step in enumerate(steps))
    for name, rounds in case.doubles.rounds.items():
        for number, steps in enumerate(rounds):
            yield from ((("doubles", "rounds", name, number, index), step) for index, step in enumerate(steps))
