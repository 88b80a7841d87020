"""The case that a vector's `declared` stands for, as an author would have written it before the run.

Owns names (`desk`, `actions`, `memo.txt`, the links `memo`, `reread`, `action`, `effect`) and how a declaration in
tool-neutral words becomes a Case. What a policy or the change looked like is read off what the arms recorded of it:
a vector declares what it shows. Must never look at what a vector expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from oyer.conform.vectors import ArmState, Call, Carries, Declared, Field, Given, Named, Policy, Result
from oyer.observe import MARKER_LENGTH, json_or_none
from oyer.records import Case, document_of, validate_as

__all__ = [
    "MEMO",
    "SERVER",
    "SINK",
    "changed_result",
    "needs_gateway",
    "own_sessions",
    "result_body",
    "session_names",
    "tool_of",
    "vector_case",
]

SERVER, SINK, MEMO = "desk", "actions", "memo.txt"
NOTHING_CHANGED = "changed by the intervention"
LABEL = "Untrusted content."
BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "harness_error",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}


def vector_case(given: Given) -> Case:
    """Return the case of a vector. Raises: RecordError where its declaration makes none."""
    declared = given.declared
    value = {
        "oyer": "Case@1",
        "id": "vector",
        "kind": "experiment",
        "effect_class": "external_write",
        "servers": {SERVER: {"command": ["desk"]}},
        "sinks": {SINK: {"kind": "http"}},
        "sessions": [{"id": name, "turns": ["Do your work."]} for name in session_names(given)],
        "conditions": ["baseline", "manipulated", *(["hardened"] if declared.policy else [])],
        "intervention": _intervention(given),
        "chain": {"exposure": _exposure(given), "promotion": _promotion(declared)},
        "attempt": [_matcher(named) for named in declared.attempt],
        "benign": [_matcher(named) for named in declared.benign],
        "blame": BLAME,
    }
    if declared.policy is not None:
        value["hardened"] = _hardened(given, declared.policy)
    return validate_as(document_of(value), Case)


def tool_of(text: str) -> str:
    """Return the tool that a place such as `read_status result` names."""
    return text.split(" ", 1)[0]


def session_names(given: Given) -> list[str]:
    """Return the case's own names of its sessions: as many as the arm with most has, two at least for two hops."""
    counts = [len(own_sessions(state)) for _, state in given.arms.items()]
    count = max([2 if given.shape == "two_hop" else 1, *counts])
    return [chr(ord("a") + number) for number in range(count)]


def own_sessions(state: ArmState) -> tuple[str, ...]:
    """Return the names that an arm gives its sessions, in order."""
    named = [event.session for event in state.in_order]
    named += [turn.session for turn in state.turns] + [exchange.session for exchange in state.model or ()]
    return tuple(dict.fromkeys(named))


def result_body(text: str, structured: object = None, *, ok: bool = True) -> dict[str, Any]:
    """Return a tool result that says a text, with its structured copy where it has one."""
    body: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if structured is not None:
        body["structuredContent"] = structured
    if not ok:
        body["isError"] = True
    return body


def changed_result(event: Result) -> dict[str, Any]:
    """Return the result that the declared change left, before any policy."""
    text = event.after_intervention if event.after_intervention is not None else event.delivered
    structured: object = event.structured
    if structured is not None and event.policy is not None and event.policy.did == "stripped":
        # A vector gives the copy as it was delivered; before the strip it said what the text says.
        copy = json_or_none((text or "").encode())
        structured = copy if isinstance(copy, dict) else structured
    return result_body(NOTHING_CHANGED if text is None else text, structured, ok=event.ok)


def _intervention(given: Given) -> dict[str, Any]:
    declared = given.declared
    read = tool_of(declared.intervention_on)
    change: Mapping[str, object] = declared.change
    if not change:
        first = next((changed_result(event) for event in _changed(given, read)), result_body(NOTHING_CHANGED))
        change = {"replace_result": {"result": first}}
    value = {
        "id": "change",
        "at": {"server": SERVER, "tool": read, "occurrence": declared.occurrence},
        "volatile": list(declared.volatile),
        **change,
    }
    marker = declared.exposure_marker or (_own_marker(given, read) if needs_gateway(given) else None)
    return value if marker is None else {**value, "marker": marker}


def needs_gateway(given: Given) -> bool:
    """Whether the arms hold what only a gateway records, although the vector writes out no exchange with the model."""
    states = [state for _, state in given.arms.items()]
    unsaid = all(state.model is None for state in states)
    return unsaid and any(s.pins.model != s.pins.reported_model or s.pins.parameters is not None for s in states)


def _own_marker(given: Given, read: str) -> str | None:
    """The whole changed text, where it is long enough to be recognised by."""
    text = next((str(changed_result(event)["content"][0]["text"]) for event in _changed(given, read)), "")
    return text if len(text) >= MARKER_LENGTH else None


def _changed(given: Given, read: str) -> Iterator[Result]:
    """The changed answers on record: those of the declared tool first, and of the arms that have the change."""
    arms = given.arms
    states = [state for state in (arms.treatment, arms.hardened, arms.baseline) if state is not None]
    changed = [event for state in states for event in state.in_order if isinstance(event, Result) and event.modified]
    yield from sorted(changed, key=lambda event: event.tool != read)


def _exposure(given: Given) -> list[dict[str, Any]]:
    declared = given.declared
    if given.shape == "one_hop":
        return []
    value = {"field": declared.continuity.field} if isinstance(declared.continuity, Field) else {}
    return [
        {
            "id": "memo",
            "persisted": MEMO,
            "by": {"server": SERVER, "tool": declared.persist_tool, "argument": "content"},
            "carries": _carries(declared.carries, declared.matching_action),
            "value": value,
            "session": "a",
        },
        {
            "id": "reread",
            "consumed": "memo",
            "through": {"server": SERVER, "tool": declared.later_read_tool},
            "value": value,
            "session": "b",
        },
    ]


def _carries(carries: Carries | None, action: str) -> dict[str, Any]:
    if carries is None:
        return {"contains": action}
    found = {name: getattr(carries, name) for name in ("contains", "equals", "field")}
    test = {name: text for name, text in found.items() if text is not None}
    return {**test, "value": carries.value} if carries.field is not None else test


def _promotion(declared: Declared) -> list[dict[str, Any]]:
    action = declared.matching_action
    called = {"server": SERVER, "tool": declared.action_tool}
    return [
        {"id": "action", "called": called, "arguments": {"action": action}},
        {"id": "effect", "witnessed": SINK, "match": {"action": action}, "allow_extra": list(declared.allow_extra)},
    ]


def _matcher(named: Named) -> dict[str, Any]:
    return {"called": {"server": SERVER, "tool": named.tool}, "arguments": named.args}


def _hardened(given: Given, policy: Policy) -> dict[str, Any]:
    at: Mapping[str, Any] = {"server": SERVER, "tool": tool_of(policy.on)}
    form: dict[str, Any] = {"label": {**at, "text": _label(given)}}
    if policy.kind == "block":
        form = {"block": at}
    elif policy.kind == "reapproval":
        form = {"reapproval": {**at, "approver": _approver(given)}}
    elif policy.kind == "strip":
        form = {"strip": {**at, "fields": [_pointer(name) for name in policy.fields or _removed(given)]}}
    return {"id": policy.id, "why": policy.why, **form}


def _label(given: Given) -> str:
    """The text that was put before a labelled answer."""
    for event in given.arms.hardened.in_order if given.arms.hardened else ():
        if isinstance(event, Result) and event.policy is not None and event.policy.did == "labelled":
            before = event.after_intervention if event.after_intervention is not None else event.original
            told = event.delivered or ""
            if before and told.endswith(before) and told.removesuffix(before).strip():
                return told.removesuffix(before).strip()
    return LABEL


def _pointer(name: str) -> str:
    """A field as a vector names it, by a pointer or by its dotted name."""
    return name if name.startswith("/") else "/" + name.replace("~", "~0").replace("/", "~1").replace(".", "/")


def _removed(given: Given) -> tuple[str, ...]:
    """The members that were there before the strip and not after it, where a vector names none."""
    for event in given.arms.hardened.in_order if given.arms.hardened else ():
        if isinstance(event, Result) and event.policy is not None and event.policy.did == "stripped":
            before = event.after_intervention if event.after_intervention is not None else event.original
            had, left = (json_or_none((text or "").encode()) for text in (before, event.delivered))
            if isinstance(had, dict) and isinstance(left, dict):
                return tuple("/" + name.replace("~", "~0").replace("/", "~1") for name in had if name not in left)
    return ()


def _approver(given: Given) -> Any:
    """The declared approver: he answers each call as he is on record with, and approves where he was never asked."""
    rules = [
        {"arguments": event.args, "answer": event.policy.answer}
        for event in (given.arms.hardened.in_order if given.arms.hardened else ())
        if isinstance(event, Call) and event.policy is not None and event.policy.did == "asked"
    ]
    return rules or "always"
