"""The bench of one attempt: everything that watches and intervenes, brought up, probed, and taken down in order.

Owns which instruments there are and the order of their ends, as steps of which each is taken whatever became of the
others. Must never let a step stand for another: what could not be probed, looked at or sealed is that step's failure.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import oyer
from oyer.engine.admitting import NOT_ADMITTED, seen_beyond
from oyer.engine.context import AttemptPlan, SeriesContext
from oyer.engine.faults import STATE_CONTRACT, FaultLog
from oyer.engine.place import ENDINGS, Placement, bridge_to, place_tapped
from oyer.engine.tokens import CostCount, TokenCount
from oyer.errors import HarnessError
from oyer.host import Patience, RunDir, base_environment, neutral_name
from oyer.instruments import (
    CallsInFlight,
    DeclaredApproval,
    DeclaredBlock,
    DeclaredEdit,
    DeclaredLabel,
    DeclaredStrip,
    Gateway,
    GatewayLimits,
    GatewayRules,
    HttpSink,
    OnFault,
    Recorder,
    Replay,
    ScriptedModel,
    ServerTap,
    SubjectMeter,
    Tap,
    TapLimits,
    TappedServer,
    TapRules,
    Upstream,
    WorldSink,
    WorldWatch,
    make_gateway,
    make_http_tap,
)
from oyer.observe import protocol_approver, protocol_block, protocol_edit, protocol_selector
from oyer.protocol import REFUSAL_TEXT, Selector
from oyer.records import Case, Hardened, LabelPolicy, Session, StripPolicy, micros_of, parse_model_fault, plain_price
from oyer.store import AttemptStore, JournalWriter
from oyer.subjects import Given, ModelAccess, ServerCommand, scripted_double

__all__ = ["Bench", "Step", "tap_rules"]

RELAY = "link"
"""The neutral name under which each run keeps its own copy of the relay."""

Step = Coroutine[Any, Any, None]


def tap_rules(case: Case, condition: str, server: str) -> TapRules:
    """Return what the tap of one server may change in one condition: nothing, in a baseline."""
    if condition not in ("manipulated", "hardened") or case.intervention is None:
        return TapRules()
    change = case.intervention
    edit = None
    if not change.at.gateway and change.at.server == server:
        edit = DeclaredEdit(change.id, protocol_selector(change.at), protocol_edit(change))
    if condition == "manipulated" or case.hardened is None:
        return TapRules(edit=edit)
    policy = case.hardened
    block = None
    rule = protocol_block(policy)
    if policy.block is not None and rule is not None and policy.block.server == server:
        block = DeclaredBlock(policy.id, server, rule, policy.block.text or REFUSAL_TEXT)
    asking = policy.reapproval
    approval = None
    if asking is not None and asking.server == server:
        told = asking.text or REFUSAL_TEXT
        approval = DeclaredApproval(policy.id, server, asking.tool, protocol_approver(asking), told)
    return TapRules(edit=edit, treatment=_treatment(policy, server), block=block, approval=approval)


def gateway_rules(case: Case, condition: str) -> GatewayRules | None:
    """Return what the gateway looks for in requests to the model, and changes in one condition: nothing, in a baseline.

    None where no change is declared there.
    """
    change = case.intervention
    if change is None or not change.at.gateway:
        return None
    selector = protocol_selector(change.at)
    changes = condition in ("manipulated", "hardened")
    return GatewayRules(selector, DeclaredEdit(change.id, selector, protocol_edit(change)) if changes else None)


def _treatment(policy: Hardened, server: str) -> DeclaredLabel | DeclaredStrip | None:
    """What a policy does to the answers of one server, None where it does nothing to them."""
    if policy.label is not None and policy.label.server == server:
        return DeclaredLabel(policy.id, _every(policy.label), policy.label.text)
    if policy.strip is not None and policy.strip.server == server:
        return DeclaredStrip(policy.id, _every(policy.strip), policy.strip.fields)
    return None


def _every(policy: LabelPolicy | StripPolicy) -> Selector:
    return Selector(policy.server, tool=policy.tool, occurrence="every")


class Bench:
    """The instruments of one attempt: `up`, then sessions between `enter` and `leave`, then the steps of the end.

    `report` records a fault that an instrument cannot record itself; `over_tokens(seen, session)` hears once that the
    model used more than the Case allows, `over_cost` that it cost more (in millionths of a dollar); `sweep` ends what
    the run left behind.
    """

    def __init__(
        self,
        context: SeriesContext,
        plan: AttemptPlan,
        store: AttemptStore,
        rundir: RunDir,
        placement: Placement,
        faults: FaultLog,
        *,
        report: OnFault,
        over_tokens: Callable[[int, str | None], None],
        over_cost: Callable[[int, str | None], None],
        sweep: Callable[[], Step],
    ) -> None:
        self._context = context
        self._plan = plan
        self._case: Case = plan.source.case
        self._store = store
        self._rundir = rundir
        self._placement = placement
        self._faults = faults
        self._report = report
        self._over_tokens = over_tokens
        self._over_cost = over_cost
        self._sweep = sweep
        self._writers: dict[str, JournalWriter] = {}
        self._world: WorldWatch | None = None
        self._world_sinks: dict[str, WorldSink] = {}
        self._http_sinks: dict[str, HttpSink] = {}
        self._taps: dict[str, ServerTap] = {}
        self._commands: dict[str, ServerCommand] = {}
        self._gateway: Gateway | None = None
        self._model: ModelAccess | None = None
        self.heads: dict[str, dict[str, Any]] = {}
        self.meter = SubjectMeter(self._writer("meter"))

    async def up(self) -> None:
        """World looked at, sinks up and probed, gateway and taps listening."""
        await self._open_world()
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
        self._stamp(session)

    async def leave(self, session: str, *, last: bool) -> None:
        """A session has ended: its servers go down, what it left behind is ended, and the world is looked at."""
        await asyncio.gather(*(self._end_server(name, tap) for name, tap in self._taps.items()))
        await self._sweep()
        self._stamp(None)
        if self._world is not None and not last:
            await self._world.between(session)

    async def after_turn(self, session: str, turn: int) -> None:
        """A turn has ended that is followed by a look: the world is looked at, with servers up and nobody asked."""
        if self._world is not None:
            await self._world.after_turn(session, turn)

    @property
    def endpoint_failed(self) -> bool:
        """Whether the gateway knows that the model's endpoint failed, and says so once the session ends."""
        return self._gateway is not None and self._gateway.owes

    def given(self, session: Session, *, cwd: str, env: Mapping[str, str]) -> Given:
        """Return everything the subject gets for one session; of its turns, those before any pressure."""
        return Given(servers=self._commands, cwd=cwd, env=env, world=cwd, model=self._model, turns=len(session.turns))

    def ends(self) -> Iterator[Step]:
        """The steps of the end, in order: connections, what was left behind, closing probes, the last look, seals."""
        for tap in self._taps.values():
            yield tap.close()
        if self._gateway is not None:
            yield self._gateway.stop()
        yield self._sweep()
        for http_sink in self._http_sinks.values():
            yield self._close_http_sink(http_sink)
        for world_sink in self._world_sinks.values():
            yield world_sink.close()
        if self._world is not None:
            yield self._last_look(self._world)
        for name, http_sink in self._http_sinks.items():
            yield self._seal_http_sink(name, http_sink)
        yield self._require_admitted()
        for name, writer in self._writers.items():
            yield self._seal(name, writer)

    def close(self) -> None:
        """Give every descriptor back; what is not sealed stays as it is."""
        for writer in self._writers.values():
            writer.close()

    def _stamp(self, session: str | None) -> None:
        for tap in self._taps.values():
            tap.session = session
        if self._gateway is not None:
            self._gateway.session = session

    async def _end_server(self, name: str, tap: ServerTap) -> None:
        await tap.settle(self._case.servers[name].settle_s)
        await tap.end_connections()

    async def _close_http_sink(self, sink: HttpSink) -> None:
        await sink.probe("closing")

    async def _last_look(self, world: WorldWatch) -> None:
        await world.closing()

    async def _seal_http_sink(self, name: str, sink: HttpSink) -> None:
        """Seal a sink's journal. One that cannot be sealed stays unlisted, which is what its evidence then shows."""
        head = await sink.seal()
        self.heads[f"sink:{name}"] = {"length": head.length, "head": head.head}

    async def _require_admitted(self) -> None:
        """Report what happened that the Environment does not admit."""
        admits = self._plan.admits
        if admits is None:
            return
        effects = {}
        for name in self._http_sinks:
            events = self._store.foreign(f"sink:{name}").events
            effects[name] = sum(event.kind == "sink.effect" and not event.body.get("probe") for event in events)
        changed = self._world is not None and self._world.changed
        for told in seen_beyond(admits, world_changed=changed, effects=effects):
            self._report("engine", NOT_ADMITTED, told)

    async def _seal(self, name: str, writer: JournalWriter) -> None:
        # Packing reads it whole and flushes the packed file before the ledger counts it.
        head = writer.seal(sync=False)
        self.heads[name] = {"length": head.length, "head": head.head}

    def _writer(self, name: str) -> JournalWriter:
        self._writers[name] = self._store.writer(name)
        return self._writers[name]

    async def _open_world(self) -> None:
        running = ("subject", *(f"server:{name}" for name in self._case.servers))
        self._world = WorldWatch(self._rundir.world, self._writer("world"), running=running, named=self._plan.retained)
        opening = await self._world.opening()
        pinned = self._plan.pinned.world
        if pinned is not None and opening.digest != pinned:
            raise HarnessError(
                STATE_CONTRACT,
                f"the world opened as {opening.digest} and was pinned as {pinned}",
                hint="the fixture was changed while the series ran",
            )

    async def _open_http_sink(self, name: str) -> None:
        host = await self._context.sinks.host()
        journal = self._store.journal_path(f"sink:{name}")
        sink = await host.open_sink(name, self._store.envelope, journal, on_fault=self._report)
        self._http_sinks[name] = sink
        self._placement.add(f"sink.{name}.url", sink.url)
        self._placement.add(f"sink.{name}.token", sink.token)
        await sink.probe("opening")

    async def _open_gateway(self) -> None:
        spec = self._plan.spec
        if spec.model is None:
            return
        budget = self._case.budget
        upstream: Upstream | ScriptedModel = (
            self._context.scripted_model(self._plan)
            if scripted_double(spec.model.base_url) is not None
            else Upstream(
                spec.model.base_url,
                spec.key,
                answer_s=float(budget.answer_s),
                max_bytes=budget.message_bytes,
                stream_bytes=budget.stream_bytes,
                idle_s=budget.idle_s,
            )
        )
        recorder: Recorder = self._writer("gateway")
        if budget.tokens is not None:
            recorder = TokenCount(recorder, budget.tokens, self._spent)
        if budget.cost_usd is not None and spec.model.prices:
            prices = {name: plain_price(price) for name, price in spec.model.prices.items()}
            limit, name = micros_of(budget.cost_usd), spec.model.name
            recorder = CostCount(recorder, limit, prices, name, self._spent_cost, self._cost_unknown)
        replay = None
        if self._context.recording is not None:
            recorded = self._context.recording.of(self._plan.planned)
            replay = Replay(recorded.exchanges, recorded.masks, lambda: self._placement.masks)
        faults = [parse_model_fault(text) for text in spec.model.faults]
        rules = gateway_rules(self._case, self._plan.planned.condition)
        limits = GatewayLimits(budget.message_bytes, budget.total_bytes, budget.messages)
        self._gateway = make_gateway(
            recorder,
            upstream,
            replay=replay,
            faults=faults,
            rules=rules,
            limits=limits,
            on_fault=self._faults.hear,
        )
        door = await self._gateway.start()
        self._placement.add("model.url", door.base_url)
        self._placement.add("model.key", door.key)
        self._model = ModelAccess(base_url=door.base_url, key=door.key)

    def _spent_cost(self, seen: int) -> None:
        self._over_cost(seen, self._gateway.session if self._gateway is not None else None)

    def _cost_unknown(self, why: str, is_endpoints: bool) -> None:
        told = f"{why}: what this answer cost is not known, and the budget cost_usd cannot be held to"
        self._report("gateway", "dependency_unavailable" if is_endpoints else "subject_not_excluded", told)

    def _spent(self, seen: int) -> None:
        self._over_tokens(seen, self._gateway.session if self._gateway is not None else None)

    def _install_relay(self) -> Path:
        path = self._rundir.root / RELAY
        shutil.copyfile(relay_source(), path)
        return path

    async def _open_tap(self, name: str, relay: Path, calls: CallsInFlight) -> None:
        server, case = self._case.servers[name], self._case
        # A temporary directory of its own tells the processes of this server from those of the others.
        own_temp = self._rundir.temp / neutral_name()
        own_temp.mkdir(mode=0o700)
        base, values = base_environment(self._rundir.home, own_temp, os.environ), self._placement.values
        placed = place_tapped(server, values, self._plan.source.base, message_bytes=case.budget.message_bytes)
        env = {**base, **placed.env}
        cwd, served = self._rundir.world, (placed.url, placed.port_mark, placed.ends_with_input, placed.is_bridged)
        tapped = TappedServer(name, placed.command, env, cwd, str(own_temp), *served)
        socket = self._rundir.new_socket_path()
        make: Callable[..., Any] = partial(make_http_tap, ending=ENDINGS.get(server.given_as, ""))
        if placed.url is None:
            self._placement.masks[str(socket)] = f"{{server.{name}}}"
            make = partial(Tap, socket_path=socket)
        tap = make(
            server=tapped,
            recorder=self._writer(f"tap:{name}"),
            rules=tap_rules(case, self._plan.planned.condition, name),
            declared=tap_rules(case, "hardened", name),
            limits=TapLimits(
                max_frame_bytes=case.budget.message_bytes,
                max_frames=case.budget.messages,
                max_total_bytes=case.budget.total_bytes,
                max_stream_bytes=case.budget.stream_bytes,
                answer_timeout_s=case.budget.answer_s,
                idle_s=case.budget.idle_s,
                patience=Patience(settle_s=server.settle_s),
            ),
            watchers=[*self._world_sinks.values()],
            calls=calls,
            on_fault=self._faults.hear,
        )
        self._taps[name] = tap
        await tap.open()
        if placed.url is None:
            self._commands[name] = ServerCommand((sys.executable, "-I", "-S", str(relay), str(socket)))
        else:
            self._placement.masks[tap.url] = f"{{server.{name}}}"
            spoken: Literal["sse", "auto"] = "sse" if server.given_as == "sse" else "auto"
            bridge = bridge_to(tap.url, case.budget.message_bytes, spoken)
            self._commands[name] = ServerCommand(bridge, url=tap.url, transport=spoken)


def relay_source() -> Path:
    """Return where the relay's program stands. It is copied as a file: nothing imports it."""
    return Path(oyer.__file__).parent / "programs" / "relay.py"
