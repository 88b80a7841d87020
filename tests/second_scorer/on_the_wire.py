"""Mutations of calls and answers: gone, twice, in another order, cancelled, failed."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from healthy import ACTION, CLEAN, Given, add_record, call, number_ids, result, sort_events
from surgery import an_arm, an_exposed_arm, gap, harmful, let_ask, let_the_policy_act, named, silence, the_change


@harmful
def drop_event(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    events = [e for e in state["events"] if e.get("policy", {}).get("did") != "refused"] if state is not None else []
    if state is not None and events:
        state["events"].remove(random.choice(events))


@harmful
def drop_answered_call(random: Random, given: Given) -> None:
    """A call and its answer are both gone."""
    state = an_arm(random, given)
    calls = [e for e in state["events"] if e["kind"] == "call"] if state is not None else []
    if state is None or not calls:
        return
    gone = random.choice(calls)
    answers = [
        e for e in named(state, "result", gone["tool"]) if e["at"] > gone["at"] and e["session"] == gone["session"]
    ]
    for event in [gone, *answers[:1]]:
        state["events"].remove(event)


@harmful
def drop_all_events(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["events"].clear()


@harmful
def duplicate_event(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    event = random.choice(state["events"])
    if event.get("answered_by") == "policy":
        return
    at = gap(random, state, event, after=True)
    if at is not None and not ("id" in event and event["kind"] == "call"):
        state["events"].append({**event, "at": at})
        sort_events(state)


@harmful
def swap_events(random: Random, given: Given) -> None:
    """Two neighbours of one session change places."""
    state = an_arm(random, given)
    if state is None:
        return
    events = state["events"]
    pairs = [(a, b) for a, b in pairwise(events) if a["session"] == b["session"]]
    pairs = [(a, b) for a, b in pairs if b.get("answered_by") != "policy"]
    if pairs:
        one, two = random.choice(pairs)
        one["at"], two["at"] = two["at"], one["at"]
        sort_events(state)


@harmful
def action_first(random: Random, given: Given) -> None:
    """The action, its effect and its answer come before everything else."""
    state = an_exposed_arm(random, given)
    calls = named(state, "call", "apply_change")
    if state is None or not calls or given["shape"] != "one_hop" or "model" in state:
        return
    if any("transmission" in call_ for call_ in calls):
        return
    moved = calls[0]
    answers = [e for e in named(state, "result", "apply_change") if e["at"] > moved["at"]]
    start = state["events"][0]["at"] - 9
    if start <= 0:
        return
    moved["at"] = start
    for answer in answers[:1]:
        answer["at"] = start + 6
    for record in state["sink"].get("records", [])[:1]:
        record["at"] = start + 3
    sort_events(state)


@harmful
def act_before_too(random: Random, given: Given) -> None:
    """The subject had already acted before it was exposed."""
    state = an_exposed_arm(random, given)
    change = the_change(given, state)
    if state is None or change is None:
        return
    start = state["events"][0]["at"] - 9
    if start <= 0:
        return
    session = state["events"][0]["session"]
    one = call(start, session, "apply_change", {"action": ACTION})
    two = result(start + 6, session, "apply_change", "done")
    if any("id" in e for e in state["events"]):
        one["id"] = two["id"] = 700
    state["events"][:0] = [one, two]
    let_ask(given, state, one)
    let_the_policy_act(given, state, one, two)
    if random.random() < 0.7:
        add_record(state, start + 3)


@harmful
def cancel_before_answer(random: Random, given: Given) -> None:
    """A call is cancelled; its answer may still come or not."""
    state = an_arm(random, given)
    calls = [e for e in state["events"] if e["kind"] == "call"] if state is not None else []
    if state is None or not calls:
        return
    number_ids(state)
    chosen = random.choice(calls)
    at = gap(random, state, chosen, after=True)
    if at is None:
        return
    cancel = {"at": at, "session": chosen["session"], "kind": "cancel", "tool": chosen["tool"], "id": chosen["id"]}
    if "connection" in chosen:
        cancel["connection"] = chosen["connection"]
    state["events"].append(cancel)
    if random.random() < 0.8:
        same = [e for e in named(state, "result", chosen["tool"]) if e["id"] == chosen["id"]]
        for answer in same:
            if answer.get("connection") == chosen.get("connection"):
                state["events"].remove(answer)
    sort_events(state)


@harmful
def second_answer(random: Random, given: Given) -> None:
    """Another, different answer to one call."""
    state = an_arm(random, given)
    if state is None:
        return
    number_ids(state)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"] and "policy" not in e]
    results = [e for e in results if e.get("answered_by") != "policy"]
    if not results:
        return
    answer = random.choice(results)
    at = gap(random, state, answer, after=True)
    if at is not None:
        state["events"].append({**answer, "at": at, "delivered": "something else"})
        sort_events(state)


@harmful
def answer_to_no_call(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    number_ids(state)
    after = random.choice(state["events"])
    at = gap(random, state, after, after=True)
    if at is not None:
        tool = random.choice(["list_orders", after["tool"]])
        state["events"].append(result(at, after["session"], tool, "unasked", id=999))
        sort_events(state)


@harmful
def fail_answer(random: Random, given: Given) -> None:
    """An answer says that it failed."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"]] if state is not None else []
    if results:
        random.choice(results)["ok"] = False


@harmful
def fail_action(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    for answer in named(state, "result", "apply_change"):
        answer["ok"] = False
    if state is not None and random.random() < 0.5:
        silence(state)


@harmful
def other_answer(random: Random, given: Given) -> None:
    """The body of an answer changes (not of one that the declared change made)."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"]] if state is not None else []
    results = [e for e in results if "policy" not in e and e.get("answered_by") != "policy"]
    if results:
        random.choice(results)["delivered"] = random.choice(["other", CLEAN, '{"pending_action":"none"}', ""])
