"""The suite's side of what is pinned, as it is now: every world hashed, every server started once and asked.

Owns the looking. Must never keep a server running, and never take a server that did not answer for one that changed
nothing: its problem stands in the lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from oyer.engine.looking import look_at_all
from oyer.engine.opening import list_server
from oyer.engine.place import Placement
from oyer.engine.request import CaseSource
from oyer.engine.stopping import to_the_end
from oyer.engine.withholding import require_secrets
from oyer.errors import Blocked, ProtocolError
from oyer.evidence import Redactor
from oyer.host import RunDir, copy_world, make_run_dir, sweep_run, take_snapshot
from oyer.instruments import Listing
from oyer.plan import outcome_form
from oyer.protocol import Span, find_span, listing_digest
from oyer.records import Case, Evaluator, LockedCase, LockedServer, Rubric, SuiteLock, TrialSuite, digest

__all__ = ["lock_suite", "look_at_server"]


def lock_suite(
    suite: TrialSuite,
    sources: Sequence[CaseSource],
    rubrics: Mapping[str, Rubric],
    evaluators: Mapping[str, Evaluator],
    plugins: Mapping[str, str],
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> SuiteLock:
    """Look at everything a suite is made of, and return it as a lock, in which no secret stands.

    Raises: OyerError where a world is unreadable; UsageError where a case wants a secret that is not there.
    """
    require_secrets(sources, secrets)
    cases = asyncio.run(_lock_cases(sources, rubrics, secrets))
    return SuiteLock(
        oyer="SuiteLock@1",
        suite=suite,
        suite_digest=digest(suite),
        cases=cases,
        rubrics=rubrics,
        evaluators=evaluators,
        plugins=plugins,
    )


def look_at_server(source: CaseSource, name: str) -> tuple[str, list[Mapping[str, Any]]]:
    """Start one server once; return what it calls itself, and its tools as it lists them. Raises: Blocked."""
    return asyncio.run(_look_at_server(source, name))


async def _look_at_server(source: CaseSource, name: str) -> tuple[str, list[Mapping[str, Any]]]:
    rundir = make_run_dir()
    try:
        listing, _ = await list_server(source, name, rundir)
    finally:
        await sweep_run(str(rundir.root))
        await to_the_end(asyncio.to_thread(rundir.remove))
    opening = listing.opening if isinstance(listing.opening, dict) else {}
    info = opening.get("serverInfo")
    return str(info.get("name") or name) if isinstance(info, dict) else name, list(listing.tools)


async def _lock_cases(
    sources: Sequence[CaseSource], rubrics: Mapping[str, Rubric], secrets: Mapping[str, str]
) -> dict[str, LockedCase]:
    cases = {source.case.id: source.case for source in sources}
    return await look_at_all(sources, lambda source: _lock_case(source, rubrics, cases, secrets))


async def _lock_case(
    source: CaseSource, rubrics: Mapping[str, Rubric], cases: Mapping[str, Case], secrets: Mapping[str, str]
) -> LockedCase:
    rundir = make_run_dir()
    try:
        if source.world is not None:
            copying = asyncio.to_thread(copy_world, source.world, rundir.world, links=source.case.symlinks)
            await to_the_end(copying)
        world = await asyncio.to_thread(take_snapshot, rundir.world)
        servers = {name: await _lock_server(source, name, rundir, secrets) for name in source.case.servers}
    finally:
        await sweep_run(str(rundir.root))
        await to_the_end(asyncio.to_thread(rundir.remove))
    return LockedCase(
        digest=source.loaded.digest,
        record=source.case,
        world=None if source.world is None else world.digest,
        world_files={entry.path: f"sha256:{entry.sha256}" for entry in world.entries},
        servers=servers,
        form=digest(outcome_form(source.case, rubrics, cases)),
    )


async def _lock_server(source: CaseSource, name: str, rundir: RunDir, secrets: Mapping[str, str]) -> LockedServer:
    server = source.case.servers[name]
    redactor = Redactor({name: value.encode() for name, value in secrets.items()})
    try:
        listing, placement = await list_server(source, name, rundir, further=True, secrets=secrets)
    except Blocked as problem:
        told = redactor.apply_value(problem.problems[0].message).replace(str(rundir.root), "{run.dir}")
        return LockedServer(command=server.command, url=server.url, problem=told)
    listing = _without_secrets(listing, redactor)
    tools = _tools(listing, placement)
    return LockedServer(
        command=server.command,
        url=server.url,
        initialize=_digest((listing.greeting,), placement),
        tools=_digest(listing.answers, placement),
        prompts=None if listing.prompts is None else _digest(listing.prompts, placement),
        resources=None if listing.resources is None else _digest(listing.resources, placement),
        tool_names=tuple(tools),
        tool_digests={tool: f"raw:{sha256(text).hexdigest()}" for tool, text in tools.items()},
        tool_texts={tool: text.decode("utf-8", "replace") for tool, text in tools.items()},
        problem=None if listing.complete else "the listing did not end within its bound",
    )


def _without_secrets(listing: Listing, redactor: Redactor) -> Listing:
    def kept(frames: tuple[bytes, ...] | None) -> tuple[bytes, ...] | None:
        return None if frames is None else tuple(redactor.apply(frame)[0] for frame in frames)

    return listing._replace(
        greeting=redactor.apply(listing.greeting)[0],
        answers=kept(listing.answers) or (),
        tools=tuple(redactor.apply_value(listing.tools)),
        prompts=kept(listing.prompts),
        resources=kept(listing.resources),
    )


def _digest(answers: Sequence[bytes], placement: Placement) -> str:
    return listing_digest([_masked(answer, placement) for answer in answers])


def _masked(data: bytes, placement: Placement) -> bytes:
    for token, name in placement.masks.items():
        if name.endswith(".token}"):
            continue  # no sink is up, so this is no token but a word that anybody may use
        data = data.replace(token.encode(), name.encode())
    return data


def _tools(listing: Listing, placement: Placement) -> dict[str, bytes]:
    """Every tool's definition in the bytes in which it was sent, by name."""
    found: dict[str, bytes] = {}
    names = iter([str(tool.get("name")) for tool in listing.tools])
    for answer in listing.answers:
        place = 0
        while (span := _span(answer, place)) is not None:
            found[next(names, f"#{len(found)}")] = _masked(answer[span.start : span.end], placement)
            place += 1
    return found


def _span(answer: bytes, place: int) -> Span | None:
    try:
        return find_span(answer, f"/result/tools/{place}")
    except ProtocolError:
        return None
