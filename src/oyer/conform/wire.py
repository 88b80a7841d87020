"""The tap's journal of an arm: calls, answers, cancellations, and everything Oyer did to a message.

Owns real MCP bytes made of a vector's events. The declared change and the declared label are made by the same pure
transforms that the instruments use; where a vector's bytes are not what they make, its own bytes are delivered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from oyer.conform.declaring import SERVER, changed_result, result_body, tool_of
from oyer.conform.stage import Stage
from oyer.conform.timeline import Handle
from oyer.conform.vectors import ApprovalAct, ArmState, Call, Cancel, Event, RefusalAct, Result
from oyer.evidence import digest_of
from oyer.observe import answer_texts, json_or_none, left_by_policy, protocol_edit
from oyer.protocol import REFUSAL_TEXT, Applied, apply_edit

__all__ = ["write_wire"]

TAP = f"tap:{SERVER}"
LISTING_ID = 1000
"""The id of the listing; calls that name no id count on from it."""
NOT_PRESERVED = "not preserved"
Way = Literal["to_server", "to_subject"]


class _Lane(NamedTuple):
    """Where a message crossed."""

    connection: int
    session: str


class _Open(NamedTuple):
    """A call on record: what an answer to it needs to know."""

    event: Call
    handle: Handle
    lane: _Lane
    id: int | str


def write_wire(stage: Stage) -> None:
    """Plan everything that crossed between the subject and its server."""
    stage.timeline.open(TAP)
    wire = _Wire(stage)
    wire.listing()
    for event in stage.state.in_order:
        wire.take(event)


class _Wire:
    """The state while one arm's events are written."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.connections: dict[str, int] = {}
        self.sent: dict[int, int] = {}
        self.calls: list[_Open] = []
        self.answered: set[Handle] = set()

    def take(self, event: Event) -> None:
        """Write one event of the vector."""
        lane = self._lane(event)
        if isinstance(event, Call):
            self._call(event, lane)
        elif isinstance(event, Cancel):
            raw = _frame({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": event.id}})
            handle = self._message(event.at, 0, "mcp.sent", lane, raw)
            self._delivered(event.at, 1, lane, handle, "to_server", raw)
        else:
            self._result(event, lane)

    def _lane(self, event: Event) -> _Lane:
        connection = self.connections.setdefault(event.connection or event.session, len(self.connections))
        return _Lane(connection, self.stage.session(event.session))

    def listing(self) -> None:
        """Write a listing of the tools where the vector pins one, before everything else on the first connection."""
        stage = self.stage
        revision, schema = stage.state.pins.tools, stage.given.declared.output_schema
        if (revision is None and schema is None) or not stage.state.in_order:
            return
        lane = self._lane(stage.state.in_order[0])
        read = tool_of(stage.given.declared.intervention_on)
        tool: dict[str, object] = {
            "name": read,
            "description": f"revision {revision}",
            "inputSchema": {"type": "object"},
        }
        if schema is not None:
            tool["outputSchema"] = schema
        asked = _frame({"jsonrpc": "2.0", "id": LISTING_ID, "method": "tools/list", "params": {}})
        told = _frame({"jsonrpc": "2.0", "id": LISTING_ID, "result": {"tools": [tool]}})
        request = self._message(stage.first, -45, "mcp.sent", lane, asked)
        self._delivered(stage.first, -44, lane, request, "to_server", asked)
        answer = self._message(stage.first, -43, "mcp.received", lane, told)
        self._delivered(stage.first, -42, lane, answer, "to_subject", told)

    def _call(self, event: Call, lane: _Lane) -> None:
        number = self.sent[lane.connection] = self.sent.get(lane.connection, 0) + 1
        id_ = event.id if event.id is not None else LISTING_ID + number
        params = {"name": event.tool, "arguments": event.args}
        raw = _frame({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})
        call = _Open(event, self._message(event.at, 0, "mcp.sent", lane, raw), lane, id_)
        known = any((c.lane.connection, c.id) == (lane.connection, id_) for c in self.calls)
        if event.transmission is None or not known:
            self.calls.append(call)
        policy = event.policy
        if isinstance(policy, RefusalAct):
            told = _refusal(id_, self._told(event))
            self._acted((event.at, 1), policy.id, "refused", call.handle, raw, lane, {"delivered": told})
        elif isinstance(policy, ApprovalAct):
            self._approval(call, policy, raw)
        else:
            self._delivered(event.at, 1, lane, call.handle, "to_server", raw)

    def _approval(self, call: _Open, policy: ApprovalAct, raw: bytes) -> None:
        self._acted((policy.asked_at, 1), policy.id, "asked", call.handle, raw, call.lane)
        granted = policy.answer == "granted"
        told = {} if granted else {"delivered": _refusal(call.id, self._told(call.event))}
        self._acted((policy.answered_at, 2), policy.id, policy.answer, call.handle, raw, call.lane, told)
        if granted:
            self._delivered(policy.answered_at, 3, call.lane, call.handle, "to_server", raw)

    def _told(self, call: Call) -> str:
        """What the policy answers to a call that it refuses."""
        answers = [event for event in self.stage.state.in_order if isinstance(event, Result) and event.at >= call.at]
        for event in answers:
            same = (event.session, event.tool) == (call.session, call.tool) and event.id in (None, call.id)
            if same and event.answered_by == "policy" and event.delivered is not None:
                return event.delivered
        return REFUSAL_TEXT

    def _answers(self, event: Result, lane: _Lane) -> _Open | None:
        """The call that an answer is to: the one it names, else the first open one of its session and tool."""
        if event.id is not None:
            named = [c for c in self.calls if (c.id, c.event.tool) == (event.id, event.tool)]
            own = [c for c in named if c.lane.connection == lane.connection]
            return next(iter([c for c in own if c.handle not in self.answered] or own or named), None)
        key = (event.session, event.tool)
        mine = [c for c in self.calls if (c.event.session, c.event.tool) == key and c.handle not in self.answered]
        return mine[0] if mine else None

    def _result(self, event: Result, lane: _Lane) -> None:
        call = self._answers(event, lane)
        id_ = event.id if event.id is not None else "no call has this id"
        if call is not None:
            self.answered.add(call.handle)
            lane, id_ = call.lane, call.id
        if event.answered_by == "policy":
            if call is not None and event.delivered is not None:
                self._delivered(event.at, 3, lane, call.handle, "to_subject", _refusal(id_, event.delivered))
            return
        raw = _frame({"jsonrpc": "2.0", "id": id_, "result": self._original(event)})
        handle = self._message(event.at, 0, "mcp.received", lane, raw)
        left = self._changed(event, lane, handle, call, raw) if event.modified else raw
        final = self._crossed(event, id_, left)
        if event.policy is not None:
            final = self._by_policy(event.policy.did, left, final)
            payloads, modified = {"delivered": final}, {"modified": digest_of(left)}
            policy = event.policy
            self._acted((event.at, 2), policy.id, policy.did, handle, raw, lane, payloads, modified)
        if event.delivered is not None:
            self._delivered(event.at, 5, lane, handle, "to_subject", final)

    def _by_policy(self, did: str, left: bytes, final: bytes) -> bytes:
        """The bytes that the declared policy makes; a strip that shows something else keeps the vector's own."""
        policy = self.stage.case.hardened
        made = left_by_policy(policy, left) if policy is not None and final != left else None
        if not isinstance(made, bytes) or (did == "stripped" and not _says_the_same(made, final)):
            return final
        return made

    def _original(self, event: Result) -> dict[str, Any]:
        """The server's own result; where it was not preserved, what it says in another arm.

        A tap's journal cannot be without the bytes of a message. That these are not the ones that were changed shows in
        the record of the change, which cites bytes that are nowhere.
        """
        if event.lost:
            return next(self._known(event), result_body(NOT_PRESERVED))
        before_policy = None if event.modified else event.after_intervention
        text = next((t for t in (event.original, before_policy, event.delivered) if t is not None), None)
        apart = event.modified or "structured_original" in event.model_fields_set
        structured = event.structured_original if apart else event.structured
        made_an_error = event.modified and "error" in self.stage.given.declared.change
        return result_body(text or "", structured, ok=event.ok or made_an_error)

    def _known(self, event: Result) -> Iterator[dict[str, Any]]:
        """What the server says to the same tool in whichever arm its answer is on record, with this run's token.

        Its answer at the same place comes first: it may say something else every time.
        """
        own, place = self.stage.state, _results(self.stage.state, event.tool).index(event)
        arms = [(state, _results(state, event.tool)) for _name, state in self.stage.given.arms.items()]
        alike = [(state, results[place]) for state, results in arms if len(results) > place]
        for state, other in (*alike, *((state, other) for state, results in arms for other in results)):
            if not other.lost and other.answered_by == "server":
                yield json.loads(json.dumps(self._original(other)).replace(state.run_id, own.run_id))

    def _changed(self, event: Result, lane: _Lane, of: Handle, call: _Open | None, raw: bytes) -> bytes:
        """Write the record of a change, made by the declared edit where that makes what the vector shows."""
        modified = _frame({"jsonrpc": "2.0", "id": json.loads(raw)["id"], "result": changed_result(event)})
        intervention = self.stage.case.intervention
        again = apply_edit(protocol_edit(intervention), raw) if intervention is not None else None
        if isinstance(again, Applied) and _same(again.modified, modified):
            modified = again.modified
        body: dict[str, Any] = {
            "intervention": "change",
            "occurrence": self._occurrence(call),
            "of": of,
            "request": call.handle if call is not None else of,
            "original": digest_of(NOT_PRESERVED.encode() if event.lost else raw),
            "applied": True,
            "proof": {"kind": "splice", "spans": []},
        }
        if _same(modified, raw) and not event.lost:
            body |= {"applied": False, "why": "noop: the edit changes nothing"}
            self._add((event.at, 1), "mcp.intervened", lane, body)
            return raw
        self._add((event.at, 1), "mcp.intervened", lane, body, {"modified": modified})
        return modified

    def _occurrence(self, call: _Open | None) -> int:
        """Which of the declared reads a call is; of another tool's calls the first."""
        read = tool_of(self.stage.given.declared.intervention_on)
        reads = [known.handle for known in self.calls if known.event.tool == read]
        return reads.index(call.handle) + 1 if call is not None and call.handle in reads else 1

    def _crossed(self, event: Result, id_: int | str, left: bytes) -> bytes:
        """What a vector says was delivered: what change and server left, or other bytes with no record of why."""
        if event.delivered is None:
            return left
        result = result_body(event.delivered, event.structured, ok=event.ok)
        delivered = _frame({"jsonrpc": "2.0", "id": id_, "result": result})
        return left if _same(delivered, left) else delivered

    def _acted(
        self,
        at: tuple[int, int],
        policy: str,
        did: str,
        of: Handle,
        original: bytes,
        lane: _Lane,
        payloads: Mapping[str, bytes] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        body = {"policy": policy, "did": did, "of": of, "original": digest_of(original), **(more or {})}
        self._add(at, "mcp.policy", lane, body, payloads)

    def _message(self, at: int, part: int, kind: str, lane: _Lane, raw: bytes) -> Handle:
        return self._add((at, part), kind, lane, {}, {"payload": raw})

    def _delivered(self, at: int, part: int, lane: _Lane, of: Handle, way: Way, raw: bytes) -> None:
        body = {"of": of, "direction": way, "sha256": digest_of(raw), "size": len(raw)}
        self._add((at, part), "mcp.delivered", lane, body)

    def _add(
        self,
        at: tuple[int, int],
        kind: str,
        lane: _Lane,
        body: Mapping[str, Any],
        payloads: Mapping[str, bytes] | None = None,
    ) -> Handle:
        body = {"server": SERVER, "connection": lane.connection, **body}
        return self.stage.timeline.add(*at, TAP, kind, body, payloads, lane.session)


def _results(state: ArmState, tool: str) -> list[Result]:
    return [event for event in state.in_order if isinstance(event, Result) and event.tool == tool]


def _same(one: bytes, other: bytes) -> bool:
    return bool(json.loads(one) == json.loads(other))


def _says_the_same(one: bytes, other: bytes) -> bool:
    """Whether two answers have the same texts; those that are JSON by their values."""
    texts = [[json_or_none(text.encode()) or text for text in answer_texts(raw)] for raw in (one, other)]
    return texts[0] == texts[1]


def _refusal(id_: int | str, text: str) -> bytes:
    return _frame({"jsonrpc": "2.0", "id": id_, "result": result_body(text, ok=False)})


def _frame(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
