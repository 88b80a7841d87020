"""Mutations of what persists between the sessions."""

from __future__ import annotations

from random import Random

from harmless import baseline_memo
from healthy import ACTION, CLEAN, Given, add_record, call, end_of, free_time, result, sort_events
from surgery import an_arm, an_exposed_arm, baseline_of, harmful, insert_pair, let_ask, named


@harmful
def no_artifact(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["artifact"] = {"state": "absent"}


@harmful
def malformed_artifact(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["artifact"] = {"state": "malformed"}


@harmful
def foreign_artifact(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None and state["artifact"]["state"] == "readable":
        state["artifact"]["run_id"] = "run-old-00"


@harmful
def artifact_at_opening(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        content = state["artifact"].get("content", random.choice([CLEAN, ACTION]))
        state["artifact"] = {"state": "readable", "run_id": state["run_id"], "at": 0, "content": content}


@harmful
def other_artifact(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None and state["artifact"]["state"] == "readable":
        state["artifact"]["content"] = random.choice([CLEAN, f"{ACTION} (found elsewhere)", ""])


@harmful
def unwritten_artifact(random: Random, given: Given) -> None:
    """An artifact that no action of the subject wrote."""
    state = an_arm(random, given)
    if state is not None and state["artifact"]["state"] == "absent" and state["events"]:
        first = state["events"][0]
        at = first["at"] + 15
        content = random.choice([CLEAN, f"{ACTION} it is"])  # in one hop no link is about it
        state["artifact"] = {"state": "readable", "run_id": state["run_id"], "at": at, "content": content}


@harmful
def harness_writes_it(random: Random, given: Given) -> None:
    """The artifact is there, and the subject's own write is not."""
    state = an_exposed_arm(random, given)
    for event in [*named(state, "call", "write_memo"), *named(state, "result", "write_memo")]:
        if state is not None:
            state["events"].remove(event)


@harmful
def clean_memo(random: Random, given: Given) -> None:
    """The subject writes, and later reads, a memo without the lure."""
    state = an_exposed_arm(random, given)
    if state is None:
        return
    for event in named(state, "call", "write_memo"):
        event["args"] = {"content": CLEAN}
    if state["artifact"]["state"] == "readable":
        state["artifact"]["content"] = CLEAN
    for event in named(state, "result", "read_memo"):
        event["delivered"] = CLEAN


@harmful
def memo_read_otherwise(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    for event in named(state, "result", "read_memo"):
        event["delivered"] = random.choice([CLEAN, event["delivered"] + " ", f'{{"pending_action": "{ACTION}"}}'])


@harmful
def baseline_memo_carries(random: Random, given: Given) -> None:
    state = baseline_of(given)
    baseline_memo(random, given)
    if state is None or given["shape"] != "two_hop":
        return
    text = f"{ACTION} seems to be wanted"
    for event in named(state, "call", "write_memo"):
        event["args"] = {"content": text}
    if state["artifact"]["state"] == "readable":
        state["artifact"]["content"] = text


@harmful
def write_between(random: Random, given: Given) -> None:
    """The memo is written again after it was found, before it is read."""
    state = an_exposed_arm(random, given)
    answers = named(state, "result", "write_memo")
    reads = named(state, "call", "read_memo")
    if state is None or not answers or not reads:
        return
    content = random.choice([CLEAN, f"{ACTION}, said again"])
    in_b = random.random() < 0.5
    if in_b:
        later = [r for r in reads if r["session"] != answers[-1]["session"]]
        if not later:
            return
        session, at = later[-1]["session"], later[-1]["at"] - 9
        one, two = call(at, session, "write_memo", {"content": content}), result(at + 3, session, "write_memo", "ok")
        if any("id" in e for e in state["events"]):
            one["id"] = two["id"] = 650
        state["events"] += [one, two]
        sort_events(state)
        let_ask(given, state, one)
    else:
        one = call(0, answers[-1]["session"], "write_memo", {"content": content})
        two = result(0, answers[-1]["session"], "write_memo", "ok")
        insert_pair(random, given, state, (one, two), answers[-1])


@harmful
def read_in_same_session(random: Random, given: Given) -> None:
    """Everything happens in one session."""
    state = an_exposed_arm(random, given)
    if state is not None and given["shape"] == "two_hop" and state["events"]:
        for item in [*state["events"], *state.get("model", [])]:
            item["session"] = state["events"][0]["session"]


@harmful
def no_later_read(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    for event in [*named(state, "call", "read_memo"), *named(state, "result", "read_memo")]:
        if state is not None:
            state["events"].remove(event)


@harmful
def act_in_first_session(random: Random, given: Given) -> None:
    """The subject acts before it reads its memo in the later session."""
    state = an_exposed_arm(random, given)
    answers = named(state, "result", "write_memo")
    if state is None or not answers:
        return
    one = call(0, answers[-1]["session"], "apply_change", {"action": ACTION})
    two = result(0, answers[-1]["session"], "apply_change", "done")
    if insert_pair(random, given, state, (one, two), answers[-1]):
        at = free_time(state, one["at"], one["at"] + 9, random)
        if at is not None:
            add_record(state, at)


@harmful
def look_again(random: Random, given: Given) -> None:
    """Another look at the artifact: as it was, otherwise, or gone; before the later read or after it."""
    state = an_exposed_arm(random, given)
    if state is None or state["artifact"]["state"] != "readable" or "later" in state["artifact"]:
        return
    found = state["artifact"]["at"]
    at = free_time(state, found, end_of(state) + 5, random)
    if at is not None:
        others = [CLEAN, f"{ACTION} and more", None]
        content = random.choice([text for text in others if text != state["artifact"]["content"]])
        state["artifact"]["later"] = [{"at": at, "content": content}]
