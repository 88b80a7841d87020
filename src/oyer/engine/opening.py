"""Opening a series: look at the host, the servers and the worlds once, pin all of it, write it down, then begin."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from oyer.engine.blindness import require_blind
from oyer.engine.context import identity_of
from oyer.engine.environment import isolation_problem, observe_environment, pin_set
from oyer.engine.looking import look_at_all
from oyer.engine.place import Placement, place_server
from oyer.engine.planning import build_requested, plan_request, require_registered
from oyer.engine.request import CaseSource, RunRequest
from oyer.engine.stopping import to_the_end
from oyer.engine.withholding import require_secrets, secrets_of, without_secrets
from oyer.errors import Blocked, Problem, RecordError
from oyer.evidence import LEDGER_VERSION, VOCABULARY, Redactor
from oyer.host import (
    Patience,
    RunDir,
    base_environment,
    boot_id,
    copy_world,
    make_run_dir,
    new_run_id,
    reach,
    stamp,
    sweep_run,
    take_snapshot,
)
from oyer.instruments import Listing, TappedServer, discover
from oyer.plan import outcome_form
from oyer.records import (
    PinSet,
    Plan,
    Record,
    Series,
    ToolPin,
    argument_breaches,
    canonical_bytes,
    digest,
    tool_breaches,
)
from oyer.store import SeriesStore
from oyer.subjects import SubjectIdentity

__all__ = ["Opening", "list_server", "open_series"]

NOWHERE = "http://127.0.0.1:9/"
"""The discard port: while tools are only listed, no sink is up, and an effect must lead nowhere."""


OPENING_S = 30
"""How long a server may take to start and list its tools before the series opens without its listing."""


class Opening(NamedTuple):
    """An opened series: its id, its store, its plan, and pins and identities per subject and case."""

    series: str
    store: SeriesStore
    plan: Plan
    pinned: Mapping[tuple[str, str], PinSet]
    identities: Mapping[tuple[str, str], SubjectIdentity]


class _Seen(NamedTuple):
    """What servers listed: as it is pinned, and by server and tool the schemas of their arguments."""

    tools: Mapping[str, ToolPin]
    world_digest: str
    schemas: Mapping[str, Mapping[str, Any]]


async def open_series(request: RunRequest) -> Opening:
    """Pin and write everything that is fixed before the first trial. Raises: UsageError, RecordError, HarnessError."""
    await _require_runnable(request)
    redactor = Redactor(secrets_of(request))
    series = f"s{new_run_id()[1:]}"
    _require_tools(request.cases, seen := await _look_at_all(request, redactor))
    plan = build_requested(request, {case: found.world_digest for case, found in seen.items()})
    require_registered(request, plan)
    pins: dict[str, bytes] = {source.loaded.digest: canonical_bytes(source.case) for source in request.cases}
    for record in _fixed_records(request):
        _keep(pins, record)
    pinned: dict[tuple[str, str], PinSet] = {}
    identities: dict[tuple[str, str], SubjectIdentity] = {}
    cases = {source.case.id: source.case for source in request.cases}
    environments: dict[str, dict[str, str]] = {}
    pinsets: dict[str, dict[str, str]] = {}
    for spec in request.subjects:
        for source in request.cases:
            identity = identities[spec.name, source.case.id] = identity_of(spec, source.case, cases)
            found = seen[source.case.id]
            environment = observe_environment(
                source.case,
                identity,
                found.tools,
                world_digest=found.world_digest,
                model=spec.model,
                admits=request.admits,
            )
            pin = pin_set(source.loaded.digest, environment, identity, spec.model.reports if spec.model else {})
            pinned[spec.name, source.case.id] = pin
            environments.setdefault(spec.name, {})[source.case.id] = _keep(pins, environment)
            pinsets.setdefault(spec.name, {})[source.case.id] = _keep(pins, pin)
    manifest = Series(
        series=series,
        opened=stamp().t_wall,
        plan=digest(plan),
        cases={source.case.id: source.loaded.digest for source in request.cases},
        environments=environments,
        pinsets=pinsets,
        condition_order=tuple(dict.fromkeys(planned.condition for planned in plan.trials)),
        seed=request.seed,
        jobs=request.jobs,
        vocabulary=VOCABULARY,
        boot=boot_id(),
        arguments=tuple(redactor.apply_value(request.arguments)),
        extensions=request.extensions,
    )
    store = SeriesStore.create(
        request.out,
        canonical_bytes(manifest),
        canonical_bytes(plan),
        pins,
        clock=stamp,
        redactor=redactor,
        plan_signature=request.registered.envelope if request.registered is not None else None,
        fault_point=reach,
        ledger_version=LEDGER_VERSION if request.may_stop else 1,
    )
    return Opening(series, store, plan, pinned, identities)


async def _require_runnable(request: RunRequest) -> None:
    """Refuse what can be refused before anything starts. Raises: UsageError, RecordError."""
    if request.registered is not None:
        require_registered(request, await asyncio.to_thread(plan_request, request))
    build_requested(request, {})
    require_secrets(request.cases, request.secrets)


async def _look_at_all(request: RunRequest, redactor: Redactor) -> dict[str, _Seen]:
    return dict(await look_at_all(request.cases, lambda source: _look(source, request, redactor)))


def _keep(pins: dict[str, bytes], record: Record) -> str:
    data = canonical_bytes(record)
    name = digest(record)
    pins[name] = data
    return name


def _fixed_records(request: RunRequest) -> Iterator[Record]:
    """Whatever the plan names by its digest and is no case: how results will be read, fixed before there are any."""
    cases = {source.case.id: source.case for source in request.cases}
    yield from (outcome_form(case, request.rubrics, cases) for case in cases.values())
    yield from request.rubrics.values()
    yield from request.pinned_evaluators.values()
    yield from request.qualifications.values()
    if request.suite is not None:
        yield request.suite


def _require_tools(sources: Sequence[CaseSource], seen: Mapping[str, _Seen]) -> None:
    """Refuse every tool that a case names and its server does not list, and arguments that it cannot take.

    Raises: RecordError with all of them.

    A server that did not list its tools is left to the trials, which say what became of it.
    """
    problems: list[Problem] = []
    for source in sources:
        pins = seen[source.case.id].tools.items()
        listed = {name: pin.tools for name, pin in pins if pin.listing is not None and pin.problem is None}
        document, told = source.loaded.full, set[str]()
        schemas = {name: seen[source.case.id].schemas[name] for name in listed}
        breaches = (*tool_breaches(source.case, listed), *argument_breaches(source.case, schemas))
        for breach in breaches:
            derived = document.position(breach.path) == document.position(())  # its author wrote it elsewhere
            if not derived or breach.message not in told:
                problems.append(document.problem(breach.code, breach.path, breach.message, breach.hint))
            told.add(breach.message)
    if problems:
        raise RecordError.of(problems)


async def _look(source: CaseSource, request: RunRequest, redactor: Redactor) -> _Seen:
    """Start every server once in a scratch world and list its tools; look at the fixture world."""
    rundir = make_run_dir()
    try:
        require_blind(source, request.subjects, rundir)
        if source.world is not None:
            copying = asyncio.to_thread(copy_world, source.world, rundir.world, links=source.case.symlinks)
            await to_the_end(copying)
        world = await asyncio.to_thread(take_snapshot, rundir.world)
        found = {name: await _tool_pin(source, name, rundir, request.secrets) for name in source.case.servers}
        # What a server says of itself may be what it was given; a pin is kept, so it is redacted before it is one.
        tools = {name: without_secrets(pin, redactor) for name, (pin, _) in found.items()}
        return _Seen(tools, world.digest, {name: schemas for name, (_, schemas) in found.items()})
    finally:
        await sweep_run(str(rundir.root))
        await to_the_end(asyncio.to_thread(rundir.remove))


async def list_server(
    source: CaseSource,
    name: str,
    rundir: RunDir,
    *,
    further: bool = False,
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Listing, Placement]:
    """Start one server of a case where its world is a scratch copy, and return what it lists.

    Raises: Blocked; UsageError where it wants a secret that is not among `secrets`.
    """
    require_secrets((source,), secrets)
    case = source.case
    problem = isolation_problem(case)
    if problem is not None:
        raise Blocked("E-ISOLATION", problem)
    placement = Placement.of(case, str(new_run_id()), rundir, secrets=secrets)
    for sink in case.sinks:
        placement.add(f"sink.{sink}.url", NOWHERE)
        placement.add(f"sink.{sink}.token", "none")
    server = case.servers[name]
    command, env = place_server(server, placement.values, source.base, message_bytes=case.budget.message_bytes)
    tapped = TappedServer(
        name, command, {**base_environment(rundir.home, rundir.temp, os.environ), **env}, rundir.world, str(rundir.root)
    )
    limit_s = min(case.budget.answer_s, OPENING_S)
    patience = Patience(settle_s=server.settle_s)
    return await discover(tapped, limit_s=limit_s, patience=patience, further=further), placement


async def _tool_pin(
    source: CaseSource, name: str, rundir: RunDir, secrets: Mapping[str, str]
) -> tuple[ToolPin, dict[str, Any]]:
    server = source.case.servers[name]
    try:
        listing, _ = await list_server(source, name, rundir, secrets=secrets)
    except Blocked as problem:
        # Pinned as unobserved: the trials then meet the same server, and say what became of it.
        return ToolPin(command=server.command, url=server.url, listing=None, problem=str(problem)), {}
    names = tuple(str(tool.get("name")) for tool in listing.tools)
    incomplete = None if listing.complete else "the listing did not end within its bound"
    pin = ToolPin(command=server.command, url=server.url, listing=listing.digest, tools=names, problem=incomplete)
    return pin, {str(tool.get("name")): tool.get("inputSchema") for tool in listing.tools}
