"""Mutations of the declared change, its original and its place."""

from __future__ import annotations

from random import Random

from harmless import two_copies
from healthy import Given, call, result
from surgery import (
    an_arm,
    an_exposed_arm,
    arms_of,
    baseline_of,
    harmful,
    insert_pair,
    let_ask,
    let_the_policy_act,
    named,
    read_tool,
    the_change,
)


@harmful
def lose_original(random: Random, given: Given) -> None:
    change = the_change(given, an_exposed_arm(random, given))
    if change is not None:
        change["original"] = None


@harmful
def other_original(random: Random, given: Given) -> None:
    change = the_change(given, an_exposed_arm(random, given))
    if change is not None and change["original"] not in (None, change.get("after_intervention", change["delivered"])):
        change["original"] = '{"pending_action":"ship_order"}'


@harmful
def change_nothing(random: Random, given: Given) -> None:
    """The change left the message as it was (in every arm that has one)."""
    reads = [e for state in arms_of(given) for e in named(state, "result", read_tool(given))]
    for change in (e for e in reads if e["modified"] and e["original"] is not None):
        change["delivered"] = change["original"]
        if "after_intervention" in change:
            change["after_intervention"] = change["original"]
            change["delivered"] = "[untrusted content] " + change["original"]
        if "structured" in change:
            change["structured"] = change["structured_original"]
    if "exposure_marker" in given["declared"]:
        for state in arms_of(given):
            for exchange in state.get("model", []):
                exchange["shows_marker"] = False


@harmful
def leave_one_copy(random: Random, given: Given) -> None:
    """The machine-readable copy still says what the server said."""
    if given["declared"].get("policy", {}).get("kind") == "strip":
        return  # the format has no place for what the change left in the copy before the strip
    two_copies(random, given)
    for state in arms_of(given):
        for change in named(state, "result", read_tool(given)):
            if change["modified"]:
                change["structured"] = change["structured_original"]


@harmful
def no_change(random: Random, given: Given) -> None:
    """No change is on record, though the text is there."""
    change = the_change(given, an_exposed_arm(random, given))
    if change is not None:
        change["modified"] = False
        if random.random() < 0.5 and change["original"] is not None:
            change["delivered"] = change["original"]
        for key in ("original", "after_intervention", "policy", "structured_original"):
            change.pop(key, None)


@harmful
def change_elsewhere(random: Random, given: Given) -> None:
    """Another message was delivered changed."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"]] if state is not None else []
    results = [e for e in results if "policy" not in e and e.get("answered_by") != "policy" and e["ok"]]
    if state is not baseline_of(given):  # the first changed answer of that tool says what the declared change is
        results = [e for e in results if e["tool"] != read_tool(given)]
    if results:
        event = random.choice(results)
        event.update(modified=True, original=event["delivered"], delivered="changed on the way")
        if random.random() < 0.2:
            event["original"] = None


@harmful
def change_the_baseline(random: Random, given: Given) -> None:
    state, change = baseline_of(given), the_change(given, an_exposed_arm(random, given))
    answers = named(state, "result", read_tool(given))
    if answers and change is not None and "policy" not in change and not answers[-1]["modified"]:
        answers[-1].update(modified=True, original=answers[-1]["delivered"], delivered=change["delivered"])


@harmful
def later_occurrence(random: Random, given: Given) -> None:
    """The change is declared on a read that nobody made, or on another than the one that was changed."""
    declared = given["declared"].get("occurrence", 1)
    if declared != "every":
        given["declared"]["occurrence"] = declared + 1


@harmful
def first_occurrence(random: Random, given: Given) -> None:
    given["declared"].pop("occurrence", None)


@harmful
def honest_reread(random: Random, given: Given) -> None:
    """The same request is answered again, this time as the server said it."""
    state = an_exposed_arm(random, given)
    change = the_change(given, state)
    if state is None or change is None:
        return
    honest = change["original"] or "honest"
    after = random.choice([e for e in state["events"] if e["kind"] == "result" and e["at"] >= change["at"]])
    args = random.choice([{}, {}, {"page": 2}])
    one = call(0, after["session"], read_tool(given), args)
    insert_pair(random, given, state, (one, result(0, after["session"], read_tool(given), honest)), after)


@harmful
def honest_read_before(random: Random, given: Given) -> None:
    """An honest read before the changed one: another occurrence than the declared."""
    state = an_arm(random, given)
    reads = named(state, "call", read_tool(given))
    if state is None or not reads or state["events"][0]["at"] < 9:
        return
    start, session = state["events"][0]["at"] - 8, reads[0]["session"]
    one, two = call(start, session, read_tool(given), {}), result(start + 4, session, read_tool(given), "hello")
    if any("id" in e for e in state["events"]):
        one["id"] = two["id"] = 600
    state["events"][:0] = [one, two]
    let_ask(given, state, one)
    let_the_policy_act(given, state, one, two)
