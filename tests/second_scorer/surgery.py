"""The catalogue that mutations register in, and how they find and place things in a state.

A mutation changes a healthy state a little and keeps it valid in the vector format. It may or may not matter: what it
means is for the scorers to say. `HARMLESS` are those after which a state that concluded is meant to conclude still, so
that the generator can keep a balance. A mutation that finds nothing to work on changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from healthy import Event, Given, State, asked, free_time, sort_events

Mutation = Callable[[Random, Given], None]


HARMLESS: dict[str, Mutation] = {}


HARMFUL: dict[str, Mutation] = {}


def harmless(mutation: Mutation) -> Mutation:
    HARMLESS[mutation.__name__] = mutation
    return mutation


def harmful(mutation: Mutation) -> Mutation:
    HARMFUL[mutation.__name__] = mutation
    return mutation


def arms_of(given: Given) -> list[State]:
    return [state for state in given["arms"].values() if state is not None]


def an_arm(random: Random, given: Given) -> State | None:
    arms = arms_of(given)
    return random.choice(arms) if arms else None


def an_exposed_arm(random: Random, given: Given) -> State | None:
    arms = [state for name, state in given["arms"].items() if name != "baseline" and state is not None]
    return random.choice(arms) if arms else None


def baseline_of(given: Given) -> State | None:
    found: State | None = given["arms"].get("baseline")
    return found


def read_tool(given: Given) -> str:
    return str(given["declared"]["intervention_on"].split(" ")[0])


def named(state: State | None, kind: str, tool: str) -> list[Event]:
    return [e for e in state["events"] if e["kind"] == kind and e["tool"] == tool] if state is not None else []


def the_change(given: Given, state: State | None) -> Event | None:
    return next((e for e in named(state, "result", read_tool(given)) if e["modified"]), None)


def gap(random: Random, state: State, event: Event, *, after: bool) -> int | None:
    """A free time next to an event, inside its session."""
    times = sorted(e["at"] for e in state["events"])
    place = times.index(event["at"])
    if after:
        high = times[place + 1] if place + 1 < len(times) else event["at"] + 10
        # One exchange with the model follows the other.
        high = min([high, *(x["request_at"] for x in state.get("model", []) if x["request_at"] > event["at"])])
        return free_time(state, event["at"], high, random)
    low = times[place - 1] if place else event["at"] - 6
    return free_time(state, low, event["at"], random)


def insert_pair(random: Random, given: Given, state: State, new: tuple[Event, Event], after: Event) -> bool:
    """Put a call and its answer right after an event; the model asks for it where there is a gateway."""
    first = gap(random, state, after, after=True)
    if first is None:
        return False
    one, two = new
    one["at"] = first
    state["events"].append(one)
    sort_events(state)
    second = gap(random, state, one, after=True)
    if second is None:
        state["events"].remove(one)
        return False
    two["at"] = second
    state["events"].append(two)
    sort_events(state)
    if any("id" in e for e in state["events"]):
        fresh = 500 + max([e["id"] for e in state["events"] if isinstance(e.get("id"), int)], default=0)
        one["id"] = two["id"] = fresh
        if "connection" in after:
            one["connection"] = two["connection"] = after["connection"]
    let_ask(given, state, one)
    let_the_policy_act(given, state, one, two)
    return True


def let_the_policy_act(given: Given, state: State, one: Event, two: Event) -> None:
    """The declared policy does to a new call or answer of the hardened arm what it does to every one."""
    policy = given["declared"].get("policy")
    if policy is None or state is not given["arms"].get("hardened") or two["kind"] != "result":
        return
    if policy["on"] != f"{one['tool']} {'result' if policy['kind'] in ('label', 'strip') else 'call'}":
        return
    if policy["kind"] == "label":
        two.update(original=two["delivered"], after_intervention=two["delivered"])
        two["policy"] = {"id": policy["id"], "did": "labelled"}
        two["delivered"] = "[untrusted content] " + two["delivered"]
    elif policy["kind"] == "strip":
        left = without(two["delivered"], policy["fields"])
        if left != two["delivered"]:
            two.update(original=two["delivered"], after_intervention=two["delivered"], delivered=left)
            two["policy"] = {"id": policy["id"], "did": "stripped"}
    elif policy["kind"] == "reapproval":
        asked_before = [e["policy"] for e in state["events"] if e.get("policy", {}).get("answer") == "refused"]
        one["policy"] = asked(policy["id"], "refused" if asked_before else "granted")
        if asked_before:  # what the approver says depends on nothing but the call
            two.update(ok=False, answered_by="policy", delivered="refused by the approver")
    elif policy["kind"] == "block":
        one["policy"] = {"id": policy["id"], "did": "refused"}
        two.update(ok=False, delivered=f"refused by policy {policy['id']}", answered_by="policy")


def without(text: str, fields: list[str]) -> str:
    """A text without the members of these names; one that has none of them as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or not set(value) & set(fields):
        return text
    return json.dumps({key: inner for key, inner in value.items() if key not in fields})


def let_ask(given: Given, state: State, event: Event) -> None:
    if "model" not in state:
        return
    shows = any(
        e["kind"] == "result"
        and e["session"] == event["session"]
        and e["at"] < event["at"]
        and given["declared"].get("exposure_marker", "\0") in e["delivered"]
        for e in state["events"]
    )
    exchange = {
        "turn": 0,
        "session": event["session"],
        "request_at": event["at"] - 0.6,
        "response_at": event["at"] - 0.3,
    }
    state["model"].append({**exchange, "shows_marker": shows, "asks": [event["tool"]], "finish": "tool_calls"})
    state["model"].sort(key=lambda x: x["request_at"])


def last_event(state: State) -> Event | None:
    return state["events"][-1] if state["events"] else None


def silence(state: State) -> None:
    if state["sink"]["state"] == "readable":
        closing = {k: v for k, v in state["sink"].items() if k in ("closing_probe_at", "probes", "watched")}
        state["sink"].clear()
        state["sink"].update({"state": "absent", "watched": True, **closing})


def json_of(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"text": text}
