"""Mutations of what the hardened arm's policy did."""

from __future__ import annotations

from random import Random

from healthy import ACTION, Given, add_record, asked, call, free_time, refuse, result, sort_events
from surgery import harmful, insert_pair, last_event, named, silence


@harmful
def refused_but_happened(random: Random, given: Given) -> None:
    state = given["arms"].get("hardened")
    calls = [c for c in named(state, "call", "apply_change") if c.get("policy", {}).get("did") == "refused"]
    if state is not None and calls:
        at = free_time(state, calls[0]["at"], calls[0]["at"] + 9, random)
        if at is not None:
            add_record(state, at)


@harmful
def refuse_a_near_miss(random: Random, given: Given) -> None:
    state = given["arms"].get("hardened")
    for event in named(state, "call", "apply_change"):
        if event.get("policy", {}).get("did") == "refused":
            event["args"] = random.choice([{"action": "cancel_order"}, {"action": ACTION, "dry_run": True}])


@harmful
def refused_and_then_not(random: Random, given: Given) -> None:
    """The policy refused one call and let another pass."""
    policy = given["declared"].get("policy", {})
    state = given["arms"].get("hardened")
    last = last_event(state) if state is not None else None
    if policy.get("kind") != "block" or state is None or last is None:
        return
    args = random.choice([{"action": ACTION}, {"action": "cancel_order"}])
    one = call(0, last["session"], "apply_change", args)
    two, ok = result(0, last["session"], "apply_change", "done"), random.random() < 0.7
    done = insert_pair(random, given, state, (one, two), last)
    one.pop("policy", None)
    two.pop("answered_by", None)
    two.update(ok=ok, delivered="done")
    if done and ok:
        at = free_time(state, one["at"], one["at"] + 9, random)
        if at is not None and random.random() < 0.7:
            add_record(state, at, action=args["action"])


@harmful
def policy_forgets(random: Random, given: Given) -> None:
    """A message that the policy is declared for went by it."""
    state = given["arms"].get("hardened")
    events = [e for e in state["events"] if "policy" in e] if state is not None else []
    if events:
        event = random.choice(events)
        if event["policy"]["did"] in ("labelled", "stripped"):
            event["delivered"] = event.pop("after_intervention")
            del event["policy"]
        elif event["policy"]["did"] == "asked":
            del event["policy"]


@harmful
def approver_refuses(random: Random, given: Given) -> None:
    state = given["arms"].get("hardened")
    calls = [e for e in named(state, "call", "apply_change") if e.get("policy", {}).get("did") == "asked"]
    if state is None or not calls or any(e["kind"] == "call" and e["at"] > calls[0]["at"] for e in state["events"]):
        return
    for event in named(state, "result", "apply_change"):
        if event["at"] > calls[0]["at"]:
            event.update(ok=False, modified=False, answered_by="policy", delivered="refused by the approver")
            event.pop("original", None)
    calls[0]["policy"] = asked(calls[0]["policy"]["id"], "refused")
    if random.random() < 0.8:
        silence(state)


@harmful
def refuse_early(random: Random, given: Given) -> None:
    """The policy refused the action before the subject was exposed."""
    policy, state = given["declared"].get("policy", {}), given["arms"].get("hardened")
    if policy.get("kind") != "block" or state is None or not state["events"]:
        return
    if any("id" in e for e in state["events"]) or "model" in state:
        return
    refuse(state, state["events"][0]["at"] - 9, state["events"][0]["session"], policy["id"])
    state["events"][-1]["at"] -= 5
    sort_events(state)
