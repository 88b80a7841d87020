"""The closed vocabulary of events, version 2: which kinds exist, what each body holds, who may write it.

Owns the table. Must never let an unknown kind or key pass: an addition is a new version, named in `trial.opened`,
and a reader refuses what is newer than itself; what names an older version reads as it always did. Bodies hold no
floats and no integer beyond 2^53-1; numbers of foreign origin stay inside payloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from oyer.errors import EvidenceError
from oyer.evidence.canonical import DIGEST_PATTERN, MAX_SAFE_INT
from oyer.evidence.payloads import PayloadForm

__all__ = [
    "KINDS",
    "REF_PATTERN",
    "RESERVED_KINDS",
    "SINCE",
    "VOCABULARIES",
    "VOCABULARY",
    "WRITER_PATTERN",
    "body_forms",
    "body_payloads",
    "check_body",
    "check_shape",
    "check_writer_kind",
    "is_writer",
]

VOCABULARY = 2
VOCABULARIES = (1, VOCABULARY)
"""Versions that this reader knows."""

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
]
_ENDED_BY = Literal["subject", "stop", "budget", "crash", "protocol", "harness"]
_SNAPSHOT_PHASE = Literal["opening", "between", "call", "closing"]
_RPC_ID = _Int | str | None

# kind -> key -> type; a key that ends in "?" may be absent.
_TABLE: dict[str, dict[str, Any]] = {
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
    },
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
    "world.snapshot": {"phase": _SNAPSHOT_PHASE, "after_session?": str | None, "digest": _Digest, "entries": _Payload},
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
        "phase": Literal["opening", "closing"],
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

KINDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {kind: MappingProxyType(body) for kind, body in _TABLE.items()}
)
RESERVED_KINDS = frozenset({"handoff.sent", "handoff.received"})
SINCE: Mapping[str, int] = MappingProxyType({"world.read": 2})
"""Kinds that came after version 1, with the version that brought each."""

# Which family of writer may write which group of kinds: an effect in a tap's chain proves nothing and is refused.
_EVERY_WRITER = frozenset({"sealed", "fault", "process", "budget"})
_WRITER_GROUPS: dict[str, frozenset[str]] = {
    "harness": _EVERY_WRITER | {"trial", "session", "turn", "subject", "isolation"},
    "tap": _EVERY_WRITER | {"mcp", "connection"},
    "gateway": _EVERY_WRITER | {"model", "connection"},
    "sink": _EVERY_WRITER | {"sink"},
    "world": _EVERY_WRITER | {"world"},
    "meter": _EVERY_WRITER | {"meter"},
}


def _python_name(key: str) -> str:
    return key + "_" if key in {"class"} else key


def _form_of(kind: str, body: Mapping[str, Any]) -> type[msgspec.Struct]:
    required: list[Any] = []
    optional: list[Any] = []
    for key, type_ in body.items():
        name = _python_name(key.removesuffix("?"))
        if key.endswith("?"):
            optional.append((name, type_ | UnsetType, UNSET))
        else:
            required.append((name, type_))
    return msgspec.defstruct(
        kind,
        required + optional,
        frozen=True,
        forbid_unknown_fields=True,
        gc=False,
        rename={"class_": "class"},
        module=__name__,
    )


_FORMS: dict[str, type[msgspec.Struct]] = {kind: _form_of(kind, body) for kind, body in _TABLE.items()}
# kind -> (key, is it a map of payloads) for every place a payload may stand
_PAYLOAD_KEYS: dict[str, tuple[tuple[str, bool], ...]] = {
    kind: tuple(
        (key.removesuffix("?"), type_ == dict[str, _Payload])
        for key, type_ in body.items()
        if type_ in (_Payload, _Payload | None, dict[str, _Payload])
    )
    for kind, body in _TABLE.items()
}


def check_body(kind: str, body: Mapping[str, Any]) -> msgspec.Struct:
    """Check one body against the closed table; return it in its form, for `body_forms`.

    Raises: EvidenceError `E-EVENT-KIND`, `E-EVENT-VERSION`, `E-EVENT-BODY`.
    """
    form = _FORMS.get(kind)
    if form is None:
        said = "is reserved and has no form in" if kind in RESERVED_KINDS else "is not in"
        raise EvidenceError("E-EVENT-KIND", f"event kind {kind!r} {said} vocabulary {VOCABULARY}")
    if kind == "trial.opened" and body.get("vocabulary") not in VOCABULARIES:
        raise EvidenceError(
            "E-EVENT-VERSION",
            f"vocabulary {body.get('vocabulary')!r} is none that this reader knows; the newest is {VOCABULARY}",
            hint="read this evidence with a newer Oyer",
        )
    try:
        checked = msgspec.convert(body, type=form)
    except (msgspec.ValidationError, RecursionError) as error:
        raise EvidenceError("E-EVENT-BODY", f"{kind}: {error}") from error
    if kind == "mcp.intervened" and not body["applied"] and ("modified" in body or "why" not in body):
        raise EvidenceError("E-EVENT-BODY", "mcp.intervened: not applied means a why and no modified bytes")
    return checked


_KNOWN_SHAPES: set[tuple[str, tuple[str, ...]]] = set()


def check_shape(kind: str, body: Mapping[str, Any]) -> None:
    """Check a body whole when its keys, in this order, were never found good; later ones only by their keys.

    For a writer that builds its bodies itself, always in the same way. A reader checks every body whole.
    Raises: as `check_body`.
    """
    shape = (kind, tuple(body))
    if shape not in _KNOWN_SHAPES:
        check_body(kind, body)
        _KNOWN_SHAPES.add(shape)


@lru_cache(maxsize=4096)
def is_writer(name: str) -> bool:
    """Whether a name is that of a writer."""
    return re.match(WRITER_PATTERN, name) is not None


@lru_cache(maxsize=4096)
def check_writer_kind(writer: str, kind: str) -> None:
    """Check that this writer's family may write this kind.

    Raises: EvidenceError `E-EVENT-WRITER`.
    """
    groups = _WRITER_GROUPS.get(writer.partition(":")[0], frozenset())
    if kind.partition(".")[0] not in groups or not is_writer(writer):
        raise EvidenceError("E-EVENT-WRITER", f"writer {writer!r} may not write {kind!r}")


def body_forms(kind: str, checked: msgspec.Struct) -> Iterator[PayloadForm]:
    """Yield every payload of a body, in the form that `check_body` found it to have."""
    for key, is_map in _PAYLOAD_KEYS[kind]:
        found = getattr(checked, key)
        if found is None or found is UNSET:
            continue
        if is_map:
            yield from found.values()
        else:
            yield found


def body_payloads(kind: str, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every payload object of a body that passed `check_body`; nothing for an unknown kind."""
    for key, is_map in _PAYLOAD_KEYS.get(kind, ()):
        found = body.get(key)
        if found is None:
            continue
        if is_map:
            yield from found.values()
        else:
            yield found
