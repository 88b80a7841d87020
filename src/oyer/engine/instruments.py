"""The bench of one attempt: everything that watches and intervenes, brought up, probed, and taken down in order."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import Any

import oyer
from oyer.engine.context import AttemptPlan, SeriesContext
from oyer.engine.faults import FaultLog
from oyer.engine.place import Placement, place_server
from oyer.errors import HarnessError, OyerError
from oyer.host import RunDir, base_environment
from oyer.instruments import (
    CallsInFlight,
    CallWatcher,
    DeclaredBlock,
    DeclaredEdit,
    DeclaredLabel,
    Gateway,
    HttpSink,
    Tap,
    TapLimits,
    TappedServer,
    TapRules,
    Upstream,
    WorldSink,
    WorldWatch,
    make_gateway,
)
from oyer.observe import protocol_block, protocol_edit, protocol_selector
from oyer.protocol import REFUSAL_TEXT, Selector
from oyer.records import Case, Session
from oyer.store import AttemptStore, JournalWriter
from oyer.subjects import Given, ModelAccess, ServerCommand

__all__ = ["Bench", "open_bench", "tap_rules"]

RELAY = "link"
"""The neutral name under which each run keeps its own copy of the relay."""


def tap_rules(case: Case, condition: str, server: str) -> TapRules:
    """Return what the tap of one server may change in one condition: nothing, in a baseline."""
    if condition not in ("manipulated", "hardened") or case.intervention is None:
        return TapRules()
    change = case.intervention
    edit = None
    if change.at.server == server:
        edit = DeclaredEdit(change.id, protocol_selector(change.at), protocol_edit(change))
    if condition == "manipulated" or case.hardened is None:
        return TapRules(edit=edit)
    policy = case.hardened
    label = block = None
    if policy.label is not None and policy.label.server == server:
        label = DeclaredLabel(
            policy.id, Selector(server, tool=policy.label.tool, occurrence="every"), policy.label.text
        )
    rule = protocol_block(policy)
    if policy.block is not None and rule is not None and policy.block.server == server:
        block = DeclaredBlock(policy.id, server, rule, policy.block.text or REFUSAL_TEXT)
    return TapRules(edit=edit, label=label, block=block)


class Bench:
    """The instruments of one attempt. Use `up`, then sessions between `enter` and `leave`, then `down` and `seal`."""

    def __init__(
        self,
        context: SeriesContext,
        plan: AttemptPlan,
        store: AttemptStore,
        rundir: RunDir,
        placement: Placement,
        faults: FaultLog,
    ) -> None:
        self._context = context
        self._plan = plan
        self._case: Case = plan.source.case
        self._store = store
        self._rundir = rundir
        self._placement = placement
        self._faults = faults
        self._writers: dict[str, JournalWriter] = {}
        self._world: WorldWatch | None = None
        self._world_sinks: dict[str, WorldSink] = {}
        self._http_sinks: dict[str, HttpSink] = {}
        self._taps: dict[str, Tap] = {}
        self._commands: dict[str, ServerCommand] = {}
        self._gateway: Gateway | None = None
        self._model: ModelAccess | None = None
        self._sealed_elsewhere: dict[str, dict[str, Any]] = {}

    async def up(self) -> None:
        """World looked at, sinks up and probed, gateway and taps listening."""
        self._world = WorldWatch(
            self._rundir.world,
            self._writer("world"),
            running=("subject", *(f"server:{name}" for name in self._case.servers)),
        )
        await self._world.opening()
        for name, sink in self._case.sinks.items():
            if sink.kind == "world":
                world_sink = WorldSink(name, self._rundir.world, sink.paths, self._writer(f"sink:{name}"))
                self._world_sinks[name] = world_sink
                await world_sink.open()
            else:
                await self._open_http_sink(name)
        if self._plan.spec.model is not None:
            await self._open_gateway()
        relay = self._install_relay()
        calls = CallsInFlight()
        for name in self._case.servers:
            await self._open_tap(name, relay, calls)

    def enter(self, session: str) -> None:
        """A session begins: every instrument stamps it on what it records from here on."""
        for tap in self._taps.values():
            tap.session = session
        if self._gateway is not None:
            self._gateway.session = session

    async def leave(self, session: str, *, last: bool) -> None:
        """A session has ended: its servers go down, and the world is looked at."""
        for name, tap in self._taps.items():
            await tap.settle(self._case.servers[name].settle_s)
            await tap.end_connections()
            tap.session = None
        if self._gateway is not None:
            self._gateway.session = None
        if self._world is not None and not last:
            await self._world.between(session)

    def given(self, session: Session, *, cwd: str, env: Mapping[str, str]) -> Given:
        """Return everything the subject gets for one session."""
        return Given(servers=self._commands, cwd=cwd, env=env, world=cwd, model=self._model, turns=len(session.turns))

    async def down(self) -> None:
        """Everything down, in order: taps, gateway, then the closing looks and probes. Each step is tried."""
        await _each(tap.close() for tap in self._taps.values())
        if self._gateway is not None:
            await _each([self._gateway.stop()])
        if self._world is not None:
            await _each([self._world.closing()])
        await _each(sink.close() for sink in self._world_sinks.values())
        await _each(sink.probe("closing") for sink in self._http_sinks.values())

    async def seal(self) -> dict[str, dict[str, Any]]:
        """Seal every journal but the harness's own; return their lengths and heads by writer."""
        heads: dict[str, dict[str, Any]] = {}
        for name, sink in self._http_sinks.items():
            head = await sink.seal()
            heads[f"sink:{name}"] = {"length": head.length, "head": head.head}
        for name, writer in self._writers.items():
            head = writer.seal()
            heads[name] = {"length": head.length, "head": head.head}
        return heads

    def _writer(self, name: str) -> JournalWriter:
        self._writers[name] = self._store.writer(name)
        return self._writers[name]

    async def _open_http_sink(self, name: str) -> None:
        host = self._context.sinks
        if host is None:
            raise HarnessError("E-SINK-HOST", "no process hosts the http sinks of this series", where=name)
        sink = await host.open_sink(name, self._store.envelope, self._store.journal_path(f"sink:{name}"))
        self._http_sinks[name] = sink
        self._placement.add(f"sink.{name}.url", sink.url)
        self._placement.add(f"sink.{name}.token", sink.token)
        await sink.probe("opening")

    async def _open_gateway(self) -> None:
        spec = self._plan.spec
        if spec.model is None:
            return
        upstream = Upstream(
            spec.model.base_url,
            spec.key,
            answer_s=float(self._case.budget.answer_s),
            max_bytes=self._case.budget.message_bytes,
        )
        self._gateway = make_gateway(self._writer("gateway"), upstream, on_fault=self._faults.hear)
        door = await self._gateway.start()
        self._placement.add("model.url", door.base_url)
        self._placement.add("model.key", door.key)
        self._model = ModelAccess(base_url=door.base_url, key=door.key)

    def _install_relay(self) -> Path:
        path = self._rundir.root / RELAY
        shutil.copyfile(relay_source(), path)
        return path

    async def _open_tap(self, name: str, relay: Path, calls: CallsInFlight) -> None:
        server, case = self._case.servers[name], self._case
        command, env = place_server(server, self._placement.values, self._plan.source.base)
        base = base_environment(self._rundir.home, self._rundir.temp, os.environ)
        socket = self._rundir.new_socket_path()
        self._placement.masks[str(socket)] = f"{{server.{name}}}"
        tap = Tap(
            TappedServer(name, command, {**base, **env}, self._rundir.world, None),
            socket,
            self._writer(f"tap:{name}"),
            rules=tap_rules(case, self._plan.planned.condition, name),
            limits=TapLimits(max_frame_bytes=case.budget.message_bytes, answer_timeout_s=case.budget.answer_s),
            watchers=self._watchers(),
            calls=calls,
            on_fault=self._faults.hear,
        )
        self._taps[name] = tap
        await tap.open()
        self._commands[name] = ServerCommand((sys.executable, "-I", "-S", str(relay), str(socket)))

    def _watchers(self) -> list[CallWatcher]:
        return list(self._world_sinks.values())


async def _each(steps: Iterable[Awaitable[object]]) -> None:
    """Take every step, whatever becomes of the others; raise the first failure at the end."""
    failures: list[BaseException] = []
    for step in steps:
        try:
            await step
        except (OyerError, OSError, asyncio.CancelledError) as error:
            failures.append(error)
    if failures:
        raise failures[0]


def relay_source() -> Path:
    """Return where the relay's program stands. It is copied as a file: nothing imports it."""
    return Path(oyer.__file__).parent / "programs" / "relay.py"


def open_bench(
    context: SeriesContext,
    plan: AttemptPlan,
    store: AttemptStore,
    rundir: RunDir,
    placement: Placement,
    faults: FaultLog,
) -> Bench:
    """Make the bench of one attempt; nothing is up yet."""
    return Bench(context, plan, store, rundir, placement, faults)
