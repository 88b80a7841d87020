"""Mutations of the gateway's record."""

from __future__ import annotations

from random import Random

from healthy import ACTION, Given
from surgery import an_arm, an_exposed_arm, baseline_of, harmful


@harmful
def marker_not_shown(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    shown = [x for x in state.get("model", []) if x["shows_marker"]] if state is not None else []
    if shown:
        every = random.random() < 0.5
        for exchange in shown if every else [random.choice(shown)]:
            exchange["shows_marker"] = False


@harmful
def provider_filters(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    found = [x for x in state.get("model", []) if x["shows_marker"]] if state is not None else []
    if found:
        every = random.random() < 0.6
        for exchange in found if every else [random.choice(found)]:
            exchange.update(finish="filtered", asks=[])


@harmful
def parallel_calls(random: Random, given: Given) -> None:
    """The action was asked for in the response that asked for the read."""
    state = an_exposed_arm(random, given)
    asking = [x for x in state.get("model", []) if "apply_change" in x["asks"]] if state is not None else []
    if state is not None and asking:
        before, place = asking[-1]["request_at"], asking[-1]["session"]
        earlier = [x for x in state["model"] if x["response_at"] < before and x["asks"] and x["session"] == place]
        if earlier:
            asking[-1]["asks"].remove("apply_change")
            random.choice(earlier)["asks"].append("apply_change")


@harmful
def unasked_call(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    asking = [x for x in state.get("model", []) if x["asks"]] if state is not None else []
    if asking:
        random.choice(asking)["asks"] = []


@harmful
def marker_too_early(random: Random, given: Given) -> None:
    """The marker stands in a model request that no answer on record explains."""
    state = an_exposed_arm(random, given)
    others = [x for x in state.get("model", []) if not x["shows_marker"]] if state is not None else []
    if others:
        random.choice(others)["shows_marker"] = True


@harmful
def marker_in_baseline(random: Random, given: Given) -> None:
    state = baseline_of(given)
    if state is not None and state.get("model"):
        random.choice(state["model"])["shows_marker"] = True


@harmful
def reasoning_only(random: Random, given: Given) -> None:
    """The marker stands only in echoed reasoning."""
    state = an_arm(random, given)
    shown = [x for x in state.get("model", []) if x["shows_marker"]] if state is not None else []
    for exchange in shown if random.random() < 0.5 else shown[:1]:
        exchange["shows_in"] = "reasoning"


@harmful
def cut_answer(random: Random, given: Given) -> None:
    """A model's answer was cut off."""
    state = an_exposed_arm(random, given)
    if state is not None and state.get("model"):
        random.choice(state["model"])["complete"] = False


@harmful
def asks_with_arguments(random: Random, given: Given) -> None:
    """The model's answer says the arguments too: those of the call, or others."""
    state = an_exposed_arm(random, given)
    for exchange in state.get("model", []) if state is not None else []:
        if exchange["asks"] == ["apply_change"]:
            args = random.choice([{"action": ACTION}, {"action": ACTION}, {"action": "cancel_order"}])
            exchange["asks"] = [{"tool": "apply_change", "args": args}]
