"""The closed vocabulary of events, version 5: which kinds exist, what each body holds, who may write it.

Owns the table. Must never let an unknown kind or key pass: an addition is a new version, named in `trial.opened`,
and a reader refuses what is newer than itself; what names an older version reads as it always did. Bodies hold no
floats and no integer beyond 2^53-1; numbers of foreign origin stay inside payloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from oyer.errors import EvidenceError
from oyer.evidence.payloads import PayloadForm
from oyer.evidence.vocabulary_table import REF_PATTERN, TABLE, TURN, WRITER_PATTERN

__all__ = [
    "KINDS",
    "REF_PATTERN",
    "RESERVED_KINDS",
    "SINCE",
    "TURN",
    "VOCABULARIES",
    "VOCABULARY",
    "WRITER_PATTERN",
    "body_forms",
    "body_payloads",
    "check_body",
    "check_shape",
    "check_writer_kind",
    "is_writer",
    "since",
]

VOCABULARY = 5
VOCABULARIES = (1, 2, 3, 4, VOCABULARY)
"""Versions that this reader knows."""

KINDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {kind: MappingProxyType(body) for kind, body in TABLE.items()}
)
RESERVED_KINDS = frozenset({"handoff.sent", "handoff.received"})
SINCE: Mapping[str, int] = MappingProxyType({"model.fault": 5, "model.intervened": 5, "world.read": 2})
"""Kinds that came after version 1, with the version that brought each."""
_TURNS_SINCE = 3
_STREAMS_SINCE = 4
_MARKS_SINCE = 5
_MARKED = frozenset({"model.request", "model.response", "trial.opened"})
_MARKS = frozenset({"model_faults", "model_source", "prices", "reasoning_delimiters", "sent", "source", "unread"})
_OF_STREAMS = frozenset({"content_encoding", "content_type", "first_byte_ns"})
_CACHED = frozenset({"cache_read", "cache_write"})


def since(kind: str, body: Mapping[str, Any]) -> int:
    """Return the version that brought events like this one: by their kind, some by what they hold."""
    if kind.startswith("world.") and body.get("phase") == TURN:
        return _TURNS_SINCE
    if kind in _MARKED and not _MARKS.isdisjoint(body):
        return _MARKS_SINCE
    if kind == "model.response" and not (_OF_STREAMS.isdisjoint(body) and _CACHED.isdisjoint(body.get("usage") or ())):
        return _STREAMS_SINCE
    return SINCE.get(kind, 1)


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


_FORMS: dict[str, type[msgspec.Struct]] = {kind: _form_of(kind, body) for kind, body in TABLE.items()}
# kind -> (key, is it a map of payloads) for every place a payload may stand
_PAYLOAD_KEYS: dict[str, tuple[tuple[str, bool], ...]] = {
    kind: tuple(
        (key.removesuffix("?"), type_ == dict[str, PayloadForm])
        for key, type_ in body.items()
        if type_ in (PayloadForm, PayloadForm | None, dict[str, PayloadForm])
    )
    for kind, body in TABLE.items()
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
    if kind.endswith(".intervened") and not body["applied"] and ("modified" in body or "why" not in body):
        raise EvidenceError("E-EVENT-BODY", f"{kind}: not applied means a why and no modified bytes")
    if kind == "world.snapshot" and (body["phase"] == TURN) is not ("turn" in body):
        raise EvidenceError(
            "E-EVENT-BODY", "world.snapshot: a look at the end of a turn says of which, and no other does"
        )
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
