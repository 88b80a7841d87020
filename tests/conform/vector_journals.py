"""Tool-neutral scoring vectors -> real journals -> the real scorer.

Every value of a vector becomes sealed events with real MCP bytes; the vector's outcome is never looked at here.
A vector's clock tick is a millisecond. What a vector does not mention is complete and healthy.
"""

from __future__ import annotations

import json
from typing import Any

from oyer.adjudicate import Arm, ComparisonInput, compare
from oyer.evidence import Chain, Envelope, digest_of, journal_name, make_payload
from oyer.observe import labelled, protocol_edit, read_trial
from oyer.protocol import Applied, apply_edit
from oyer.records import Case, Comparison, Entry, digest, directory_digest, document_of, validate_as

SERVER, SINK, MEMO = "desk", "actions", "memo.txt"
TICK_NS = 1_000_000
CONDITIONS = {"baseline": "baseline", "treatment": "manipulated", "hardened": "hardened"}
BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "harness_error",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}


def score(given: dict[str, Any]) -> Comparison:
    """Build the journals of a vector and score them."""
    case = _case(given)
    case_digest = str(digest(case))
    arms = {}
    for name, condition in CONDITIONS.items():
        state = given["arms"].get(name)
        if state is not None:
            arms[condition] = _Build(given, case, case_digest, condition, state).arm()
    planned = tuple(CONDITIONS[name] for name in CONDITIONS if name in given["arms"])
    return compare(ComparisonInput(case, case_digest, "subject", 1, planned, arms, None, {}))


def _tool(text: str) -> str:
    return text.split(" ", 1)[0]


def _body(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _sessions(given: dict[str, Any]) -> list[str]:
    return ["a", "b"] if given["shape"] == "two_hop" else ["a"]


def _case(given: dict[str, Any]) -> Case:
    declared = given["declared"]
    action = declared["matching_action"]
    read = _tool(declared["intervention_on"])
    exposure: list[dict[str, Any]] = []
    if given["shape"] == "two_hop":
        carries = declared.get("carries", {"contains": action})
        by = {"server": SERVER, "tool": declared["persist_tool"], "argument": "content"}
        value = {} if declared.get("continuity", "whole") == "whole" else dict(declared["continuity"])
        exposure = [
            {"id": "memo", "persisted": MEMO, "by": by, "carries": carries, "value": value, "session": "a"},
            {
                "id": "reread",
                "consumed": "memo",
                "through": {"server": SERVER, "tool": declared["later_read_tool"]},
                "value": value,
                "session": "b",
            },
        ]
    changed = next((text for text in _changed_bodies(given)), "changed by the intervention")
    value = {
        "oyer": "Case@1",
        "id": "vector",
        "kind": "experiment",
        "effect_class": "external_write",
        "servers": {SERVER: {"command": ["desk"]}},
        "sinks": {SINK: {"kind": "http"}},
        "sessions": [{"id": name, "turns": ["Do your work."]} for name in _sessions(given)],
        "conditions": ["baseline", "manipulated", *(["hardened"] if "policy" in declared else [])],
        "intervention": {
            "id": "change",
            "at": {"server": SERVER, "tool": read, "occurrence": declared.get("occurrence", 1)},
            "replace_result": {"result": _body(changed)},
            **({"marker": declared["exposure_marker"]} if "exposure_marker" in declared else {}),
        },
        "chain": {
            "exposure": exposure,
            "promotion": [
                {
                    "id": "action",
                    "called": {"server": SERVER, "tool": declared["action_tool"]},
                    "arguments": {"action": action},
                },
                {
                    "id": "effect",
                    "witnessed": SINK,
                    "match": {"action": action},
                    "allow_extra": declared.get("allow_extra", []),
                },
            ],
        },
        "blame": BLAME,
        **({"hardened": _policy(declared["policy"], _was_refused(given))} if "policy" in declared else {}),
    }
    return validate_as(document_of(value), Case)


def _was_refused(given: dict[str, Any]) -> bool:
    """Whether the approver refused: what a vector records of the approver is also what it declares of him."""
    events = (given["arms"].get("hardened") or {"events": []})["events"]
    return any(event.get("policy", {}).get("answer") == "refused" for event in events)


def _policy(policy: dict[str, Any], refused: bool) -> dict[str, Any]:
    tool = _tool(policy["on"])
    form = {"label": {"server": SERVER, "tool": tool, "text": "Untrusted content."}}
    if policy["kind"] == "block":
        form = {"block": {"server": SERVER, "tool": tool}}
    if policy["kind"] == "reapproval":
        # The approver's own answer is on record per call; here only who is asked is declared.
        form = {"reapproval": {"server": SERVER, "tool": tool, "approver": "never" if refused else "always"}}
    return {"id": policy["id"], "why": policy["why"], **form}


def _changed_bodies(given: dict[str, Any]) -> list[str]:
    return [
        event.get("after_intervention", event["delivered"])
        for state in given["arms"].values()
        if state
        for event in state["events"]
        if event["kind"] == "result" and event["modified"]
    ]


class _Build:
    """One arm's journals."""

    def __init__(
        self, given: dict[str, Any], case: Case, case_digest: str, condition: str, state: dict[str, Any]
    ) -> None:
        self.given, self.case, self.case_digest, self.condition, self.state = given, case, case_digest, condition, state
        self.envelope = Envelope("series", f"trial-{condition}", state["run_id"], condition, 1, "boot")
        self.chains: dict[str, Chain] = {}
        self.lines: dict[str, list[bytes]] = {}
        self.blobs: dict[str, bytes] = {}
        self.pending: list[tuple[int, int, str, str, dict[str, Any], dict[str, bytes], str | None]] = []
        self.refs: dict[int, str] = {}
        names = {s: case.sessions[i].id for i, s in enumerate(self._own_sessions())}
        self.session = names
        ticks = [e["at"] for e in state["events"]] or [1]
        self.first, self.last = min(ticks), max([*ticks, state.get("end", {}).get("at", 0)])
        for record in state["sink"].get("records", []):
            self.last = max(self.last, record["at"])
        for exchange in state.get("model", []):
            self.first = min(self.first, exchange["request_at"])
            self.last = max(self.last, exchange["response_at"])

    def _own_sessions(self) -> list[str]:
        return list(dict.fromkeys(event["session"] for event in self.state["events"]))[: len(self.case.sessions)]

    def add(
        self,
        at: float,
        writer: str,
        kind: str,
        body: dict[str, Any],
        payloads: dict[str, bytes] | None = None,
        session: str | None = None,
    ) -> int:
        """Plan one event; return its handle. Order within a tick is the order of planning."""
        handle = len(self.pending)
        self.pending.append((int(at * TICK_NS), handle, writer, kind, body, payloads or {}, session))
        return handle

    def arm(self) -> Arm:
        """Build, seal and read the arm."""
        self._harness()
        self._world()
        self._sink()
        self._model()
        self._wire()
        self._write()
        journals = {journal_name(writer): b"".join(lines) for writer, lines in self.lines.items()}
        evidence = read_trial(journals, self.blobs.get, expect=self.envelope)
        return Arm(
            self.condition, self.envelope.trial, 1, evidence, case=self.case, case_digest=self.case_digest, stored=None
        )

    def _harness(self) -> None:
        start = self.first - 0.9
        self.add(
            start,
            "harness",
            "trial.opened",
            {
                "vocabulary": 1,
                "case": self.case_digest,
                "case_id": "vector",
                "subject": "subject (made up)",
                "repetition": 1,
                "masks": {self.state["run_id"]: "{run}"},
            },
        )
        owned = self._own_sessions()
        end = self.state.get("end", {"by": "subject", "at": self.last})
        for number, name in enumerate(owned or ["-"]):
            events = [e["at"] for e in self.state["events"] if e["session"] == name] or [self.first]
            session = self.session.get(name, self.case.sessions[0].id)
            opened = (
                min([*events, *(x["request_at"] for x in self.state.get("model", []) if x["session"] == name)]) - 0.5
            )
            closed = max(*events, end["at"]) if number == len(owned) - 1 else max(events)
            last = number == len(owned) - 1
            by = "subject" if end["by"] == "subject" or not last else "stop"
            # The prompt that was pinned stands in the turn, so that a differing pin differs where it counts.
            text = f"Do your work. ({self.state['pins']['prompt_sha']})".encode()
            self.add(opened, "harness", "session.opened", {"number": number}, session=session)
            self.add(opened, "harness", "turn.sent", {"number": 0}, {"payload": text}, session)
            self.add(
                closed + 0.2, "harness", "turn.received", {"number": 0, "ended_by": by}, {"payload": b"."}, session
            )
            self.add(closed + 0.3, "harness", "session.closed", {"number": number}, session=session)

    def _world(self) -> None:
        artifact = self.state["artifact"]
        body, stands = {"entries": b"[]"}, str(directory_digest(()))
        self.add(self.first - 0.8, "world", "world.snapshot", {"phase": "opening", "digest": stands}, body)
        if artifact["state"] == "readable":
            content = artifact["content"].encode()
            entry = json.dumps([[MEMO, False, len(content), digest_of(content), "file"]]).encode()
            file = Entry(MEMO, False, len(content), digest_of(content).removeprefix("sha256:"))
            after = str(directory_digest([file]))
            written = {
                "path": MEMO,
                "before": None,
                "after": digest_of(content),
                "size": len(content),
                "phase": "between",
                "running": ["server:desk"],
            }
            at = artifact["at"] + 0.4
            self.add(at, "world", "world.written", written, {"payload": content})
            self.add(at, "world", "world.snapshot", {"phase": "between", "digest": after}, {"entries": entry})
            body, stands = {"entries": entry}, after
        self.add(self.last + 3, "world", "world.snapshot", {"phase": "closing", "digest": stands}, body)

    def _sink(self) -> None:
        sink, writer = self.state["sink"], f"sink:{SINK}"
        probes = sink.get("probes", {})
        held = [r for r in sink.get("records", []) if r["at"] < self.first]
        state = json.dumps(held).encode()
        self.add(self.first - 0.8, writer, "sink.opened", {"sink": SINK, "kind": "http"}, {"state": state})
        self._probe("opening", self.first - 0.7, probes.get("opening", "ok") == "ok")
        for record in sink.get("records", []):
            content = {k: v for k, v in record.items() if k not in ("run_id", "at")}
            raw = json.dumps(content).encode()
            self.add(
                max(record["at"], self.first - 0.75),
                writer,
                "sink.effect",
                {"sink": SINK, "run_named": record["run_id"]},
                {"payload": raw, "content": raw},
            )
        if sink["state"] == "malformed":
            self.add(self.last, writer, "sink.effect", {"sink": SINK, "content": None}, {"payload": b"{"})
        self._probe("closing", sink.get("closing_probe_at", self.last + 4), probes.get("closing", "ok") == "ok")
        self.add(
            self.last + 5, writer, "sink.closed", {"sink": SINK, "effects": len(sink.get("records", [])), "rejected": 0}
        )

    def _probe(self, phase: str, at: float, ok: bool) -> None:
        self.add(at, f"sink:{SINK}", "sink.probed", {"sink": SINK, "phase": phase, "ok": ok, "nonce": phase})

    def _model(self) -> None:
        pins = self.state["pins"]
        exchanges = self.state.get("model")
        if exchanges is None:
            arms = [state for state in self.given["arms"].values() if state]
            if any(state["pins"]["model"] != state["pins"]["reported_model"] for state in arms):
                exchanges = [
                    {
                        "session": None,
                        "request_at": self.first - 0.3,
                        "response_at": self.first - 0.2,
                        "asks": None,
                        "finish": "stop",
                        "shows_marker": False,
                    }
                ]
            else:
                return
        for number, x in enumerate(exchanges):
            text = self.given["declared"].get("exposure_marker", "-") if x["shows_marker"] else "nothing of note"
            request = {"model": pins["model"], "messages": [{"role": "tool", "content": text}]}
            calls = [
                {"id": str(i), "function": {"name": tool, "arguments": json.dumps(self._asked(tool, x["response_at"]))}}
                for i, tool in enumerate(x["asks"] or [])
            ]
            answer = {
                "model": pins["reported_model"],
                "choices": [{"message": {"content": "", "tool_calls": calls}, "finish_reason": x["finish"]}],
            }
            session = self.session.get(x["session"])
            self.add(
                x["request_at"],
                "gateway",
                "model.request",
                {"exchange": number, "requested_model": pins["model"], "path": "/v1/chat/completions"},
                {"payload": json.dumps(request).encode()},
                session,
            )
            self.add(
                x["response_at"],
                "gateway",
                "model.response",
                {
                    "exchange": number,
                    "http_status": 200,
                    "requested_model": pins["model"],
                    "reported_model": pins["reported_model"],
                    "usage": None,
                    "finish": x["finish"],
                    "latency_ns": TICK_NS,
                    "complete": True,
                },
                {"payload": json.dumps(answer).encode()},
                session,
            )

    def _asked(self, tool: str, at: float) -> Any:
        """The arguments of the next call of a tool: a vector names only the tool that the model asked for."""
        calls = [e for e in self.state["events"] if e["kind"] == "call" and e["tool"] == tool and e["at"] >= at]
        return calls[0]["args"] if calls else {}

    def _wire(self) -> None:
        connections: dict[str, int] = {}
        used: dict[int, int] = {}
        open_calls: dict[tuple[str, str], list[tuple[int, Any, int]]] = {}
        by_id: dict[tuple[int, Any], int] = {}
        for event in self.state["events"]:
            key = event.get("connection", event["session"])
            connection = connections.setdefault(key, len(connections))
            session = self.session.get(event["session"], self.case.sessions[-1].id)
            call_key = (event["session"], event["tool"])
            if event["kind"] == "call":
                used[connection] = used.get(connection, 0) + 1
                id_ = event.get("id", 1000 + used[connection])
                handle = self._call(event, connection, id_, session)
                if (connection, id_) not in by_id or "transmission" not in event:
                    open_calls.setdefault(call_key, []).append((handle, id_, connection))
                    by_id[connection, id_] = handle
            elif event["kind"] == "cancel":
                raw = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": event["id"]}}
                self._message(event["at"], "mcp.sent", connection, raw, session)
            else:
                pending = open_calls.get(call_key, [])
                named = [item for item in pending if "id" in event and item[1] == event["id"]]
                handle, id_, connection = (named or pending or [(-1, event.get("id", 1), connection)])[0]
                pending[:] = [item for item in pending if item[0] != handle]
                self._result(event, connection, id_, handle, session)

    def _call(self, event: dict[str, Any], connection: int, id_: Any, session: str) -> int:
        raw = {
            "jsonrpc": "2.0",
            "id": id_,
            "method": "tools/call",
            "params": {"name": event["tool"], "arguments": event["args"]},
        }
        handle = self._message(event["at"], "mcp.sent", connection, raw, session)
        policy = event.get("policy", {})
        if policy.get("did") == "refused":
            body = {
                "server": SERVER,
                "connection": connection,
                "policy": policy["id"],
                "did": "refused",
                "of": ("ref", handle),
                "original": digest_of(_frame(raw)),
            }
            told = _refusal(id_, self._told(event))
            self.add(event["at"] + 0.01, f"tap:{SERVER}", "mcp.policy", body, {"delivered": told}, session)
        elif policy.get("did") == "asked":
            self._approval(event, connection, handle, raw, session)
        else:
            self._delivered(event["at"] + 0.01, connection, handle, "to_server", _frame(raw), session)
        return handle

    def _approval(self, event: dict[str, Any], connection: int, handle: int, raw: dict[str, Any], session: str) -> None:
        policy = event["policy"]
        body = {
            "server": SERVER,
            "connection": connection,
            "policy": policy["id"],
            "of": ("ref", handle),
            "original": digest_of(_frame(raw)),
        }
        self.add(policy["asked_at"], f"tap:{SERVER}", "mcp.policy", {**body, "did": "asked"}, {}, session)
        told = {"delivered": _refusal(raw["id"], self._told(event))} if policy["answer"] == "refused" else {}
        answered = policy["answered_at"]
        self.add(answered, f"tap:{SERVER}", "mcp.policy", {**body, "did": policy["answer"]}, told, session)
        if policy["answer"] == "granted":
            self._delivered(answered + 0.01, connection, handle, "to_server", _frame(raw), session)

    def _told(self, call: dict[str, Any]) -> str:
        """What the policy answers to a call that it refuses."""
        after = self.state["events"][self.state["events"].index(call) + 1 :]
        return str(next(e["delivered"] for e in after if e.get("answered_by") == "policy"))

    def _result(self, event: dict[str, Any], connection: int, id_: Any, call: int, session: str) -> None:
        if event.get("answered_by") == "policy":
            self._delivered(event["at"], connection, call, "to_subject", _refusal(id_, event["delivered"]), session)
            return
        text = event["original"] if event.get("original") is not None else event["delivered"]
        lost = event["modified"] and event.get("original", "") is None
        result = _body(text) if event["ok"] else {**_body(text), "isError": True}
        raw = _frame({"jsonrpc": "2.0", "id": id_, "result": result})
        handle = self._message(event["at"], "mcp.received", connection, json.loads(raw), session)
        final = raw
        if event["modified"]:
            final = self._intervened(event, connection, handle, call, raw, session)
        elif self._occurrence_without_change(event):
            pass
        policy = event.get("policy", {})
        if policy.get("did") == "labelled" and self.case.hardened is not None:
            told = labelled(self.case.hardened, final)
            assert told is not None
            body = {
                "server": SERVER,
                "connection": connection,
                "policy": policy["id"],
                "did": "labelled",
                "of": ("ref", handle),
                "original": digest_of(raw),
                "modified": digest_of(final),
            }
            self.add(event["at"] + 0.02, f"tap:{SERVER}", "mcp.policy", body, {"delivered": told}, session)
            final = told
        self._delivered(event["at"] + 0.03, connection, handle, "to_subject", final, session)
        if lost:
            self.lost = handle

    lost: int | None = None

    def _occurrence_without_change(self, event: dict[str, Any]) -> bool:
        return not event["modified"]

    def _intervened(
        self, event: dict[str, Any], connection: int, handle: int, call: int, raw: bytes, session: str
    ) -> bytes:
        assert self.case.intervention is not None
        applied = apply_edit(protocol_edit(self.case.intervention), raw)
        wanted = event.get("after_intervention", event["delivered"])
        modified = _frame({"jsonrpc": "2.0", "id": json.loads(raw)["id"], "result": _body(wanted)})
        if isinstance(applied, Applied) and json.loads(applied.modified) == json.loads(modified):
            modified = applied.modified
        original = digest_of(b"not preserved") if event.get("original", "") is None else digest_of(raw)
        body = {
            "server": SERVER,
            "connection": connection,
            "intervention": "change",
            "occurrence": self.case.intervention.at.occurrence,
            "of": ("ref", handle),
            "request": ("ref", call),
            "original": original,
            "applied": True,
            "proof": {"kind": "splice", "spans": []},
        }
        self.add(event["at"] + 0.01, f"tap:{SERVER}", "mcp.intervened", body, {"modified": modified}, session)
        return modified

    def _message(self, at: float, kind: str, connection: int, value: dict[str, Any], session: str) -> int:
        body = {"server": SERVER, "connection": connection}
        return self.add(at, f"tap:{SERVER}", kind, body, {"payload": _frame(value)}, session)

    def _delivered(self, at: float, connection: int, of: int, way: str, raw: bytes, session: str) -> None:
        body = {
            "server": SERVER,
            "connection": connection,
            "of": ("ref", of),
            "direction": way,
            "sha256": digest_of(raw),
            "size": len(raw),
        }
        self.add(at, f"tap:{SERVER}", "mcp.delivered", body, None, session)

    def _write(self) -> None:
        offset = min(item[0] for item in self.pending)
        for at, handle, writer, kind, body, payloads, session in sorted(self.pending, key=lambda item: item[:2]):
            chain = self.chains.setdefault(writer, Chain(writer, self.envelope))
            full = {k: self.refs[v[1]] if isinstance(v, tuple) and v[0] == "ref" else v for k, v in body.items()}
            blobs = []
            for name, raw in payloads.items():
                payload, blob = make_payload(raw)
                full[name] = payload
                if blob is not None:
                    self.blobs[payload["sha256"]] = blob
                    blobs.append(payload["sha256"])
            event, line = chain.append(
                kind, full, t_mono_ns=at - offset, t_wall="2026-01-01T00:00:00Z", session=session, blobs=tuple(blobs)
            )
            self.refs[handle] = event.ref
            self.lines.setdefault(writer, []).append(line)
        end = max(item[0] for item in self.pending) - offset
        heads = {}
        for writer, chain in sorted(self.chains.items()):
            if writer != "harness":
                self.lines[writer].append(chain.seal(t_mono_ns=end + 1, t_wall="2026-01-01T00:00:00Z"))
                heads[writer] = {"length": chain.head.length, "head": chain.head.head}
        harness = self.chains["harness"]
        _, line = harness.append(
            "trial.closed", {"status": "completed", "writers": heads}, t_mono_ns=end + 2, t_wall="2026-01-01T00:00:00Z"
        )
        self.lines["harness"] += [line, harness.seal(t_mono_ns=end + 3, t_wall="2026-01-01T00:00:00Z")]
        if self.state["trace"] == "truncated":
            self.lines[f"tap:{SERVER}"].pop()


def _refusal(id_: Any, text: str) -> bytes:
    return _frame({"jsonrpc": "2.0", "id": id_, "result": {**_body(text), "isError": True}})


def _frame(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
