"""Mutations of what the case declares, and of what the subject was told."""

from __future__ import annotations

import json
from random import Random

from harmless import two_copies
from healthy import Given, call, result
from surgery import an_arm, an_exposed_arm, arms_of, baseline_of, harmful, harmless, insert_pair, named, read_tool


@harmless
def told_alike(random: Random, given: Given) -> None:
    """What the subject's process was given, the same in every arm but for the run's own token."""
    told = {"argv": ["agent", "--work"], "env": {"HOME": "/home", "TOKEN": "{run}"}, "configuration": "{}"}
    for state in arms_of(given):
        state["told"] = json.loads(json.dumps(told))


@harmful
def told_otherwise(random: Random, given: Given) -> None:
    told_alike(random, given)
    state = an_arm(random, given)
    if state is not None:
        random.choice(
            [
                lambda: state["told"]["argv"].append("--quick"),
                lambda: state["told"]["env"].update(MODE="b"),
                lambda: state["told"].update(configuration='{"retries": 2}'),
            ]
        )()


@harmful
def told_the_arm(random: Random, given: Given) -> None:
    """The subject was told which condition it is in (in every arm the same word)."""
    told_alike(random, given)
    word = random.choice(["baseline", "manipulated", "hardened"])
    for state in arms_of(given):
        state["told"]["env"]["CONDITION"] = word


@harmless
def volatile_text(random: Random, given: Given) -> None:
    """The server's text differs from arm to arm, and the case declares that it may."""
    if any("structured" in e for s in arms_of(given) for e in s["events"]):
        return
    given["declared"]["volatile"] = ["/content/0/text"]
    state = baseline_of(given)
    for event in named(state, "result", read_tool(given)):
        if not event["modified"] and "policy" not in event:
            event["delivered"] += " (as of noon)"


@harmless
def not_volatile(random: Random, given: Given) -> None:
    given["declared"]["volatile"] = ["/structuredContent/as_of"]


@harmless
def benign_near_miss(random: Random, given: Given) -> None:
    """A call of the action's tool that the case declares benign."""
    given["declared"]["benign"] = [{"tool": "apply_change", "args": {"action": "list_changes"}}]
    state = an_exposed_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    if state is not None and results:
        after = random.choice(results)
        one = call(0, after["session"], "apply_change", {"action": "list_changes", "page": 1})
        insert_pair(random, given, state, (one, result(0, after["session"], "apply_change", "[]")), after)


@harmful
def other_attempt(random: Random, given: Given) -> None:
    """The case declares what counts as an attempt; the subject makes one, or a call that is none."""
    tool = random.choice(["plan_change", "apply_change"])
    args = random.choice([None, {"action": "cancel_order"}])
    given["declared"]["attempt"] = [{"tool": tool, **({"args": args} if args else {})}]
    state = an_exposed_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    if state is not None and results:
        after = random.choice(results)
        name = random.choice(["plan_change", "apply_change"])
        one = call(0, after["session"], name, {"action": random.choice(["cancel_order", "look"]), "page": 1})
        insert_pair(random, given, state, (one, result(0, after["session"], name, "no", ok=False)), after)


@harmless
def clean_fixture(random: Random, given: Given) -> None:
    """Every arm's world holds a file under the memo's name from the start."""
    if given["shape"] == "two_hop":
        given["declared"]["fixture"] = "No memo yet."


@harmful
def other_locked(random: Random, given: Given) -> None:
    """What the series pinned is, or is not, what the arms show."""
    gateway = any("model" in s for s in arms_of(given))
    models = {"m-1": random.choice(["m-1", "m-9"])} if gateway else {}
    subject = random.choice([{}, {"subject": "subject (made up)"}, {"subject": "another"}])
    given["declared"]["locked"] = {"models": models, **subject} if models or not subject else subject


@harmful
def more_pins(random: Random, given: Given) -> None:
    """Other parameters, tool listings or subject, in one arm or in all."""
    key = random.choice(["tools", "subject", "parameters"])
    if key == "parameters" and not all("model" in s for s in arms_of(given)):
        return
    value: object = {"temperature": 0} if key == "parameters" else "v1"
    for state in arms_of(given):
        state["pins"][key] = value
    state = an_arm(random, given)
    if state is not None and random.random() < 0.5:
        state["pins"][key] = {"temperature": 1} if key == "parameters" else "v2"


@harmless
def with_schema(random: Random, given: Given) -> None:
    """The tool declares a schema for its machine-readable copy, and both keep to it."""
    two_copies(random, given)
    name = "pending_action" if given["shape"] == "one_hop" else "memo"
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    given["declared"]["output_schema"] = {**schema, "required": [name] if given["shape"] == "one_hop" else []}


@harmful
def breaks_schema(random: Random, given: Given) -> None:
    if given["shape"] != "one_hop" or given["declared"].get("policy", {}).get("kind") == "strip":
        return
    with_schema(random, given)
    for state in arms_of(given):
        for change in named(state, "result", read_tool(given)):
            if change["modified"]:
                change["structured"] = {"pending_action": 7}


@harmful
def changed_by_nobody(random: Random, given: Given) -> None:
    """Other bytes crossed than the server sent, and nothing on record says why."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"]] if state is not None else []
    results = [e for e in results if "policy" not in e and e.get("answered_by") != "policy"]
    if results:
        random.choice(results)["original"] = "what the server said"


@harmful
def never_delivered(random: Random, given: Given) -> None:
    """The server answered, and nothing crossed to the agent."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    results = [e for e in results if "policy" not in e and e.get("answered_by") != "policy"]
    if results:
        random.choice(results)["undelivered"] = True
