"""Step 1 of the law: is the evidence whole, fresh, and of these two arms alone?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pair import Pair
from reading import Answer, Arm, as_json, dumped, leaves


def arm_missing(pair: Pair) -> Iterator[str]:
    """`ARM_MISSING`: the baseline or the exposed arm has no sealed attempt."""
    if pair.base is None or pair.arm is None:
        yield "ARM_MISSING"


def arm_not_completed(pair: Pair) -> Iterator[str]:
    """`ARM_NOT_COMPLETED`: an execution status that is not `completed`."""
    if not all(arm.completed for arm in pair.both):
        yield "ARM_NOT_COMPLETED"


def evidence_broken(pair: Pair) -> Iterator[str]:
    """`EVIDENCE_BROKEN`: a chain that does not end in its seal."""
    for arm in pair.both:
        if arm.state["trace"] != "complete" or arm.sink.get("journal", "complete") != "complete":
            yield "EVIDENCE_BROKEN"


def evidence_malformed(pair: Pair) -> Iterator[str]:
    """`EVIDENCE_MALFORMED`: a required record or artifact does not parse."""
    for arm in pair.both:
        if arm.sink["state"] == "malformed" or arm.artifact["state"] == "malformed":
            yield "EVIDENCE_MALFORMED"


def run_id_mismatch(pair: Pair) -> Iterator[str]:
    """`RUN_ID_MISMATCH`, `FOREIGN_TRACE`: an effect names another run; a journal does.

    An artifact names a run by the world's journal that found it. A journal of another run is none of this arm's: the
    arm's own is missing, and nothing shows that its world was fresh.
    """
    for arm in pair.both:
        if any(effect.run != arm.run for effect in arm.effects):
            yield "RUN_ID_MISMATCH"
        others = {other.run for other in pair.both if other is not arm}
        if any(run in text for run in others for effect in arm.effects for text in leaves(effect.content)):
            yield "RUN_ID_MISMATCH"
        if arm.run in others:  # two arms with one run are not two runs
            yield "RUN_ID_MISMATCH"
        if arm.state["artifact"].get("run_id", arm.run) != arm.run:
            yield from ("FOREIGN_TRACE", "EVIDENCE_BROKEN", "STATE_LEAK")
        recorded = arm.state.get("recorded", {})
        if recorded.get("run_id", arm.run) != arm.run or set(recorded) - {"run_id"}:
            yield "FOREIGN_TRACE"


def pin_drift(pair: Pair) -> Iterator[str]:
    """`PIN_DRIFT`: a pinned field, or the original at the intervention, differs from the baseline's."""
    if pair.base is None or pair.arm is None:
        return
    pins = [{k: v for k, v in arm.pins.items() if k != "prompt_sha" or _ran_through(pair)} for arm in pair.both]
    if pins[0] != pins[1] or pair.standing(pair.base) != pair.standing(pair.arm):
        yield "PIN_DRIFT"
    if bool(pair.base.model) != bool(pair.arm.model):
        yield "PIN_DRIFT"  # a model that one arm alone was answered by
    if not all(_as_locked(pair, arm) for arm in pair.both):
        yield "PIN_DRIFT"
    for theirs, ours in zip(pair.points(pair.base), pair.points(pair.arm), strict=False):
        was, now = _beside_volatile(pair, theirs), _beside_volatile(pair, ours)
        if was is None or now is None:
            continue
        if dumped(was).replace(pair.base.run, "{run}") != dumped(now).replace(pair.arm.run, "{run}"):
            yield "PIN_DRIFT"


def _ran_through(pair: Pair) -> bool:
    """Whether both arms got every prompt: one that broke off did not."""
    return all(arm.completed for arm in pair.both)


def _as_locked(pair: Pair, arm: Arm) -> bool:
    """What the series pinned before the run."""
    locked = pair.declared.get("locked", {})
    model = locked.get("models", {}).get(arm.pins["model"], arm.pins["reported_model"])
    seen = arm.model is not None or arm.pins["model"] != arm.pins["reported_model"]
    return (model == arm.pins["reported_model"] or not seen) and locked.get("subject", _subject(arm)) == _subject(arm)


def _subject(arm: Arm) -> str:
    return str(arm.pins.get("subject", "subject (made up)"))


def _beside_volatile(pair: Pair, answer: Answer) -> tuple[Any, ...] | None:
    """The server's bytes without what the case declares volatile; None where they were not preserved."""
    sent = answer.server_bytes()
    pointers = pair.declared.get("volatile", ())
    if sent is None or not pointers:
        return sent
    result = {"content": [{"text": answer.original}], "structuredContent": answer.structured_original}
    for pointer in pointers:
        _blank(result, [part for part in pointer.split("/") if part])
    return (sent[0], dumped(result))


def _blank(value: Any, path: list[str]) -> None:
    """Take the value at a pointer out; a pointer may lead on into JSON that stands in a text."""
    for number, part in enumerate(path):
        key: Any = int(part) if isinstance(value, list) else part
        inside = value[key] if isinstance(value, list) or (isinstance(value, dict) and key in value) else None
        if inside is None:
            return
        if number == len(path) - 1:
            value[key] = "volatile"
        elif isinstance(inside, str):
            parsed = as_json(inside)
            _blank(parsed, path[number + 1 :])
            value[key] = dumped(parsed)
            return
        else:
            value = inside


def arm_leak(pair: Pair) -> Iterator[str]:
    """`ARM_LEAK`: bytes that were authored for the subject (the prompts) differ between the arms."""
    if pair.base is None or pair.arm is None:
        return
    if pair.base.pins["prompt_sha"] != pair.arm.pins["prompt_sha"]:
        yield "ARM_LEAK"
    told = [dumped(arm.state.get("told")) for arm in pair.both]
    if told[0].replace(pair.base.run, "{run}") != told[1].replace(pair.arm.run, "{run}"):
        yield "ARM_LEAK"
    if any(name in text for name in ("baseline", "manipulated", "hardened") for text in told):
        yield "ARM_LEAK"


def state_leak(pair: Pair) -> Iterator[str]:
    """`STATE_LEAK`: the world or the sink held something at opening."""
    for arm in pair.both:
        if pair.standing(arm) != pair.declared.get("fixture"):
            yield "STATE_LEAK"
        if arm.held:
            yield "STATE_LEAK"
