"""The table of the vocabulary: which kinds of events exist, and what the body of each holds.

Owns the forms. What is checked against them, since which version each exists, and who may write it, is
`oyer.evidence.vocabulary`. A key that ends in "?" may be absent.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from oyer.evidence.canonical import DIGEST_PATTERN, MAX_SAFE_INT
from oyer.evidence.payloads import PayloadForm

__all__ = ["REF_PATTERN", "TABLE", "TURN", "WRITER_PATTERN"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_WRITER = rf"(?:harness|gateway|world|meter|(?:tap|sink):{_NAME})"
WRITER_PATTERN = rf"^{_WRITER}\Z"
REF_PATTERN = rf"^{_WRITER}:(?:0|[1-9][0-9]{{0,15}})\Z"

_Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
_Int = Annotated[int, Meta(ge=-MAX_SAFE_INT, le=MAX_SAFE_INT)]
_Digest = Annotated[str, Meta(pattern=DIGEST_PATTERN)]
_Ref = Annotated[str, Meta(pattern=REF_PATTERN)]
_Writer = Annotated[str, Meta(pattern=WRITER_PATTERN)]
_Strings = tuple[str, ...]
_StringMap = dict[str, str]
_Payload = PayloadForm


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of every body and of every object inside one."""


class _ErrorForm(_Form, frozen=True, rename={"class_": "class"}):
    where: str
    class_: str
    message: str


class _HeadForm(_Form, frozen=True):
    length: _Count
    head: _Digest


class _ProofForm(_Form, frozen=True):
    kind: str
    spans: tuple[tuple[_Count, _Count, _Digest, _Count], ...] | UnsetType = UNSET


class _UsageForm(_Form, frozen=True):
    input: _Count | UnsetType = UNSET
    output: _Count | UnsetType = UNSET
    total: _Count | UnsetType = UNSET
    cache_read: _Count | UnsetType = UNSET
    cache_write: _Count | UnsetType = UNSET


class _SurvivorForm(_Form, frozen=True):
    pid: _Count
    name: str


_STATUS = Literal["completed", "subject_error", "harness_error", "blocked"]
_FAULT_CLASS = Literal[
    "dependency_unavailable",
    "hidden_validator_unavailable",
    "state_contract_broken",
    "budget_exceeded",
    "timeout",
    "effect_not_admitted",
    "harness",
    "subject",
    "subject_crash",
    "subject_protocol",
    "subject_not_excluded",
]
_ENDED_BY = Literal["subject", "stop", "budget", "crash", "protocol", "harness"]
TURN = "turn"
"""The phase of a look at the end of a turn, while servers are up and the subject is silent."""

_SNAPSHOT_PHASE = Literal["opening", "between", "call", "turn", "closing"]
_RPC_ID = _Int | str | None

# kind -> key -> type; a key that ends in "?" may be absent.
TABLE: dict[str, dict[str, Any]] = {
    "trial.opened": {
        "vocabulary": _Count,
        "case": _Digest,
        "case_id": str,
        "subject": str,
        "repetition": _Count,
        "masks": _StringMap,
        "world_digest?": _Digest | None,
        "random?": dict[str, str | _Int],
        "fixture_digest?": _Digest,
        "reasoning_delimiters?": tuple[tuple[str, str], ...],
        "model_faults?": tuple[str, ...],
        "prices?": dict[str, _StringMap],
        "model_source?": Literal["endpoint", "replay", "scripted"],
    },
    "trial.closed": {
        "status": _STATUS,
        "stopped_by?": str | None,
        "error?": _ErrorForm | None,
        "writers": dict[_Writer, _HeadForm],
    },
    "session.opened": {"number": _Count},
    "session.closed": {"number": _Count},
    "turn.sent": {"number": _Count, "payload": _Payload},
    "turn.received": {"number": _Count, "payload": _Payload, "ended_by": _ENDED_BY, "calls?": _Count},
    "subject.given": {
        "argv": _Strings,
        "env": _StringMap,
        "cwd": str,
        "files": dict[str, _Payload],
        "configuration": _Payload,
    },
    "subject.output": {"stream": Literal["stdout", "stderr"], "payload": _Payload},
    "mcp.sent": {
        "server": str,
        "connection": _Count,
        "payload": _Payload,
        "id?": _RPC_ID,
        "method?": str,
        "tool?": str,
    },
    "mcp.received": {"server": str, "connection": _Count, "payload": _Payload, "id?": _RPC_ID, "method?": str},
    "mcp.delivered": {
        "server": str,
        "connection": _Count,
        "of": _Ref,
        "direction": Literal["to_server", "to_subject"],
        "sha256": _Digest,
        "size": _Count,
    },
    "mcp.noise": {
        "server": str,
        "connection": _Count,
        "side": Literal["server", "subject"],
        "payload": _Payload,
        "truncated?": bool,
    },
    "mcp.session_break": {"server": str, "connection": _Count, "reason": str},
    "mcp.intervened": {
        "server": str,
        "connection": _Count,
        "intervention": str,
        "occurrence": _Count,
        "of": _Ref,
        "request?": _Ref,
        "original": _Digest,
        "applied": bool,
        "modified?": _Payload,
        "proof?": _ProofForm,
        "why?": str,
    },
    "mcp.policy": {
        "server": str,
        "connection": _Count,
        "policy": str,
        "did": Literal["labelled", "refused", "stripped", "asked", "granted"],
        "of": _Ref,
        "original": _Digest,
        "modified?": _Digest | None,
        "delivered?": _Payload,
    },
    "connection.opened": {"server": str, "connection": _Count, "reason?": str, "exit?": _Int | None},
    "connection.closed": {"server": str, "connection": _Count, "reason?": str, "exit?": _Int | None},
    "model.request": {
        "exchange": _Count,
        "payload": _Payload,
        "requested_model": str | None,
        "path": str,
        "parameters?": _Payload,
        "unread?": Literal["no_api", "not_json"],
    },
    "model.intervened": {
        "intervention": str,
        "of": _Ref,
        "original": _Digest,
        "applied": bool,
        "results?": tuple[_Count, ...],
        "modified?": _Payload,
        "proof?": _ProofForm,
        "why?": str,
    },
    "model.response": {
        "exchange": _Count,
        "payload": _Payload,
        "http_status": _Count,
        "requested_model": str | None,
        "reported_model": str | None,
        "usage": _UsageForm | None,
        "finish?": str | None,
        "latency_ns": _Count,
        "complete": bool,
        "first_byte_ns?": _Count,
        "content_type?": str,
        "content_encoding?": str,
        "unread?": Literal["coding", "answer"],
        "source?": Literal["declared", "gateway", "replay", "scripted"],
        "sent?": _Digest,
    },
    "model.fault": {"exchange": _Count, "declared": str, "payload?": _Payload},
    "sink.opened": {
        "sink": str,
        "kind": str,
        "address?": str,
        "token_sha256?": _Digest,
        "watch?": _Strings,
        "state": _Payload | None,
    },
    "sink.probed": {"sink": str, "phase": Literal["opening", "closing"], "ok": bool, "nonce": str, "detail?": str},
    "sink.effect": {
        "sink": str,
        "payload": _Payload,
        "content": _Payload | None,
        "token?": _Digest,
        "run_named?": str,
        "probe?": bool,
        "calls?": tuple[_Ref, ...],
    },
    "sink.rejected": {
        "sink": str,
        "payload": _Payload,
        "why": str,
        "token?": _Digest,
        "run_named?": str | None,
    },
    "sink.closed": {"sink": str, "effects": _Count, "rejected": _Count},
    "world.snapshot": {
        "phase": _SNAPSHOT_PHASE,
        "after_session?": str | None,
        "digest": _Digest,
        "entries": _Payload,
        "turn?": _Count,
    },
    "world.written": {
        "path": str,
        "before": _Digest | None,
        "after": _Digest | None,
        "size": _Count | None,
        "payload?": _Payload,
        "phase": _SNAPSHOT_PHASE,
        "running": _Strings,
    },
    "world.read": {
        "path": str,
        "phase": Literal["opening", "turn", "closing"],
        "sha256": _Digest,
        "size": _Count,
        "payload?": _Payload,
        "why?": str,
    },
    "process.started": {"role": str, "pid": _Count, "argv": _Strings, "env_names": _Strings},
    "process.exited": {
        "role": str,
        "pid": _Count,
        "code": _Int | None,
        "signal": _Int | None,
        "stderr": _Payload,
        "survivors": tuple[_SurvivorForm, ...],
    },
    "meter.sample": {"wall_ns": _Count, "cpu_ns?": _Count, "rss_bytes?": _Count},
    "budget.exceeded": {"what": str, "limit": _Int, "seen": _Int},
    "fault": {"where": str, "class": _FAULT_CLASS, "message": str},
    "isolation.denied": {"what": str, "message": str},
    "sealed": {"length": _Count, "head": _Digest},
}
