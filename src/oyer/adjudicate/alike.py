"""Step 1, the arms side by side: does only the one declared change differ, and is the subject blind to it?

Source: the scoring design, `PIN_DRIFT` and `ARM_LEAK`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.pins import reported_models
from oyer.adjudicate.reasons import reason
from oyer.errors import ProtocolError
from oyer.observe import Delivery, json_or_none, mask
from oyer.protocol import dumps, loads, parse_pointer, same_json
from oyer.records import PinSet, Reason, names_an_arm, pin_differences

__all__ = ["leak_reasons", "original_drift", "pin_reasons"]


def pin_reasons(one: Arm, other: Arm, pinned: PinSet | None) -> Iterator[Reason]:
    """Yield every pinned field that differs between two arms, or between an arm and what the series pinned."""
    mine, yours = one.pins, other.pins
    for field, a, b in pin_differences(mine, yours):
        yield reason(
            "PIN_DRIFT", f"{field} differs between {one.condition} and {other.condition}: {a} and {b}", about=field
        )
    for arm in (one, other):
        yield from _swapped(arm)
    if mine.models and yours.models and not set(mine.models) & set(yours.models):
        asked = f"{', '.join(sorted(mine.models))} and {', '.join(sorted(yours.models))}"
        yield reason("PIN_DRIFT", f"the arms asked for different models: {asked}", about="models")
    if bool(one.evidence.writers("gateway")) != bool(other.evidence.writers("gateway")):
        yield reason("PIN_DRIFT", "a gateway stood between subject and model in one arm only", about="models")
    if pinned is None:
        return
    for arm, seen in ((one, mine), (other, yours)):
        for field, a, b in pin_differences(pinned, seen):
            yield reason("PIN_DRIFT", f"{field} was pinned as {a} and observed as {b}", about=field, arm=arm.condition)


def _swapped(arm: Arm) -> Iterator[Reason]:
    """Yield every requested name for which answers of several models came: the other arm may have met the same."""
    for name, reports in reported_models(arm).items():
        if len(reports) > 1:
            told = f"answers for {name} report several models: {', '.join(sorted(reports))}"
            refs = [ref for ref in reports.values() if ref is not None]
            yield reason("PIN_DRIFT", told, about=f"models.{name}", arm=arm.condition, evidence=refs)


def leak_reasons(one: Arm, other: Arm) -> Iterator[Reason]:
    """Yield every string that Oyer authored for the subject that names an arm, or differs between the arms.

    Names are looked for in what the subject saw, run tokens included; arms are compared with their tokens masked.
    """
    for arm in (one, other):
        for item in arm.authored:
            word = names_an_arm(item.text, arm.case.id)
            if word is not None:
                yield reason("ARM_LEAK", f"{item.place} names {word!r}", arm=arm.condition, evidence=[item.ref])
    mine, yours = _by_place(one), _by_place(other)
    shared_sessions = {place.split("/", 1)[0] for place in mine} & {place.split("/", 1)[0] for place in yours}
    for place in sorted(set(mine) | set(yours)):
        if place.split("/", 1)[0] not in shared_sessions:
            continue  # a session that one arm never reached leaks nothing: its missing prompts are PIN_DRIFT
        if mine.get(place) != yours.get(place) and (place in mine) == (place in yours):
            yield reason("ARM_LEAK", f"{place} differs between {one.condition} and {other.condition}", about=place)
        elif (place in mine) != (place in yours) and "/turn/" not in place:
            yield reason("ARM_LEAK", f"{place} was given in one arm only", about=place)


def _by_place(arm: Arm) -> Mapping[str, str]:
    return {item.place: item.masked for item in arm.authored}


def original_drift(baseline: Arm, treated: Arm) -> Iterator[Reason]:
    """Yield PIN_DRIFT where the server's own answer at the intervention differs between the arms.

    Run tokens are masked and the case's `volatile` members are left out: JSON pointers into the result, which may go on
    into JSON that a text holds.
    """
    for mine, yours in zip(baseline.reached, treated.reached, strict=False):
        if mine.answer is None or yours.answer is None:
            continue
        if not same_json(_comparable(baseline, mine.answer), _comparable(treated, yours.answer)):
            yield reason(
                "PIN_DRIFT",
                "the server's own answer at the intervention differs between the arms",
                about="original",
                evidence=[mine.answer.ref, yours.answer.ref],
            )


def _comparable(arm: Arm, answer: Delivery) -> Any:
    masked = mask(answer.own.decode("utf-8", "backslashreplace"), arm.evidence.masks)
    try:
        value = loads(masked.encode("utf-8", "surrogatepass"))
    except ProtocolError:
        return masked  # no JSON after masking, or a repeated key: compare the text itself
    members: Any = {key: item for key, item in value.items() if key != "id"} if isinstance(value, dict) else value
    intervention = arm.case.intervention
    for pointer in intervention.volatile if intervention else ():
        try:
            path = parse_pointer(pointer)
        except ProtocolError:
            continue
        members = _without(members, path if path[:1] == ("result",) else ("result", *path))
    return members


def _without(value: Any, path: tuple[str, ...]) -> Any:
    """Return a value without the member at a path; a step into text goes into the JSON it holds."""
    if not path:
        return None
    if isinstance(value, str):
        inner = json_or_none(value.encode("utf-8", "surrogatepass"))
        return dumps(_without(inner, path)).decode("utf-8") if isinstance(inner, dict | list) else value
    if isinstance(value, dict) and path[0] in value:
        if len(path) == 1:
            return {key: item for key, item in value.items() if key != path[0]}
        return {**value, path[0]: _without(value[path[0]], path[1:])}
    if isinstance(value, list) and path[0].isascii() and path[0].isdigit() and len(path[0]) < 10:
        at = int(path[0])
        return [*value[:at], _without(value[at], path[1:]), *value[at + 1 :]] if at < len(value) else value
    return value
