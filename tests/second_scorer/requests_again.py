"""A second reading of changes at the gateway, from plain values: no span, no splice, none of the first one's code.

Each recorded request is parsed as JSON, the results of the declared tool are counted, the change is made on the values,
and what is on record as sent has to have that value. Only Chat Completions, which is what the stories are written in.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Recorded:
    """One request as recorded: its bytes, the acts on record of it, and what is on record of its answer."""

    raw: bytes
    session: str | None
    acts: list[dict[str, Any]] = field(default_factory=list)
    sent: str | None = None
    status: int = 0
    complete: bool = False


@dataclass
class Change:
    """The declared change: one text for another in the n-th result of a tool."""

    name: str
    tool: str
    find: str
    instead: str
    occurrence: int | str


def sha(raw: bytes) -> str:
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def codes(change: Change, requests: list[Recorded]) -> set[str]:
    """Every reason code that the changes on record of an arm with the change deserve."""
    found: set[str] = set()
    known: list[tuple[Any, ...]] = []
    for one in requests:
        wanted, clear = changed_value(change, one, known)
        found |= of_one(change, one, wanted, clear)
    return found


def changed_value(change: Change, one: Recorded, known: list[tuple[Any, ...]]) -> tuple[Any, bool]:
    """What the request should have become, None where nothing of it is declared; and whether that can be told."""
    value = json.loads(one.raw)
    called: dict[str, str] = {}
    here: list[tuple[Any, ...]] = []
    hit, clear = False, True
    wanted = copy.deepcopy(value)
    for place, message in enumerate(value["messages"]):
        for call in message.get("tool_calls", ()):
            called[call["id"]] = call["function"]["name"]
        if message["role"] != "tool":
            continue
        name = called.get(message.get("tool_call_id"))
        if name is None:
            clear = False
            continue
        if name != change.tool and not name.endswith("_" + change.tool):
            continue
        base = (one.session, name, message["tool_call_id"], message["content"])
        key = (*base, sum(other[:4] == base for other in here))
        here.append(key)
        if key not in known:
            known.append(key)
        if change.occurrence in ("every", known.index(key) + 1):
            hit = True
            wanted["messages"][place]["content"] = message["content"].replace(change.find, change.instead)
    return (wanted if hit or not clear else None), clear


def of_one(change: Change, one: Recorded, wanted: Any, clear: bool) -> set[str]:
    if wanted is None:
        return {"INTERVENTION_EXCESS"} if one.acts or one.sent else set()
    if not one.acts:
        return {"INTERVENTION_NOT_DELIVERED"} | ({"INTERVENTION_EXCESS"} if one.sent else set())
    found = {"INTERVENTION_EXCESS"} if len(one.acts) > 1 else set()
    act = one.acts[0]
    if not act["applied"]:
        noop = str(act.get("why", "")).startswith("noop")
        found |= {"INTERVENTION_NOOP" if noop else "INTERVENTION_NOT_DELIVERED"}
        return found | ({"INTERVENTION_EXCESS"} if one.sent else set())
    if act["original"] != sha(one.raw):
        found.add("ORIGINAL_MISSING")
    modified = act.get("modified")
    if modified is None:
        return found | {"EVIDENCE_BROKEN"}
    if act["intervention"] != change.name or not clear or not same_but_for_values(one.raw, modified, wanted):
        found.add("INTERVENTION_EXCESS")
    if modified == one.raw:
        found.add("INTERVENTION_NOOP")
    if one.sent is None and one.complete and one.status:
        found.add("INTERVENTION_NOT_DELIVERED")
    if one.sent is not None and one.sent != sha(modified):
        found.add("INTERVENTION_EXCESS")
    return found


def same_but_for_values(before: bytes, after: bytes, wanted: Any) -> bool:
    """Whether bytes have the wanted value and, with the original value written back in, are the original bytes again."""
    try:
        value = json.loads(after)
    except ValueError:
        return False
    if value != wanted:
        return False
    restored = after
    for old, new in zip(json.loads(before)["messages"], value["messages"], strict=True):
        if old != new:
            told, was = (json.dumps(one["content"], ensure_ascii=False).encode() for one in (new, old))
            restored = restored.replace(told, was)
    return restored == before
