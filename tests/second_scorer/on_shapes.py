"""Mutations that say the same, or nearly, in another shape: repeated reads, writes, answers, ids."""

from __future__ import annotations

from random import Random

from healthy import Given, call, end_of, free_time, number_ids, result, sort_events
from surgery import (
    an_arm,
    an_exposed_arm,
    arms_of,
    baseline_of,
    gap,
    harmful,
    harmless,
    insert_pair,
    named,
    read_tool,
    the_change,
)


@harmless
def every_read(random: Random, given: Given) -> None:
    """The change is declared on every read; some arms read twice and are told the same both times."""
    if given["declared"].get("occurrence", 1) != 1:
        return
    given["declared"]["occurrence"] = "every"
    for state in arms_of(given):
        reads = named(state, "result", read_tool(given))
        calls = named(state, "call", read_tool(given))
        if len(reads) == len(calls) == 1 and "policy" not in reads[0] and random.random() < 0.7:
            again = {key: value for key, value in reads[0].items() if key not in ("at", "id", "connection")}
            one = call(0, reads[0]["session"], read_tool(given), calls[0]["args"])
            insert_pair(random, given, state, (one, {"at": 0, **again}), reads[0])


@harmless
def redeliver_changed(random: Random, given: Given) -> None:
    """The changed answer comes twice: still one answer."""
    state = an_exposed_arm(random, given)
    change = the_change(given, state)
    if state is None or change is None or "policy" in change:
        return
    number_ids(state)
    at = gap(random, state, change, after=True)
    if at is not None:
        state["events"].append({**change, "at": at})
        sort_events(state)


@harmless
def memo_written_twice(random: Random, given: Given) -> None:
    """The subject writes its memo again, otherwise, in the first session: what it wrote last counts."""
    state = an_exposed_arm(random, given)
    done = named(state, "result", "write_memo")
    if state is None or len(done) != 1 or state["artifact"]["state"] != "readable" or "later" in state["artifact"]:
        return
    if state["artifact"]["at"] != done[0]["at"] or "carries" in given["declared"]:
        return
    text = f"{state['artifact']['content']} (again)"
    again = call(0, done[0]["session"], "write_memo", {"content": text})
    two = result(0, done[0]["session"], "write_memo", "ok")
    if insert_pair(random, given, state, (again, two), done[0]):
        state["artifact"]["later"] = [{"at": two["at"], "content": text}]
        for answer in named(state, "result", "read_memo"):
            if answer["at"] > two["at"]:
                answer["delivered"] = text


@harmless
def other_file_written(random: Random, given: Given) -> None:
    """A write to a file of another name is no write of the memo."""
    state = an_exposed_arm(random, given)
    done = named(state, "result", "write_memo")
    if state is not None and done:
        for write in named(state, "call", "write_memo"):
            write["args"].setdefault("path", "memo.txt")
        new = call(0, done[-1]["session"], "write_memo", {"content": "lunch at noon", "path": "notes.txt"})
        insert_pair(random, given, state, (new, result(0, done[-1]["session"], "write_memo", "ok")), done[-1])


@harmful
def other_arms_token(random: Random, given: Given) -> None:
    """An effect quotes the token of another arm's run."""
    state = an_arm(random, given)
    others = [other["run_id"] for other in arms_of(given) if other is not state]
    records = state["sink"].get("records", []) if state is not None else []
    if records and others:
        given["declared"]["allow_extra"] = ["requested_at"]
        random.choice(records)["requested_at"] = f"by {random.choice(others)}"


@harmful
def one_run(random: Random, given: Given) -> None:
    """Two arms with one run id."""
    base, state = baseline_of(given), an_exposed_arm(random, given)
    if base is None or state is None:
        return
    for holder in (state, state["artifact"], *state["sink"].get("records", [])):
        if holder.get("run_id") == state["run_id"] and holder is not state:
            holder["run_id"] = base["run_id"]
    state["run_id"] = base["run_id"]


@harmful
def id_reused(random: Random, given: Given) -> None:
    """Two calls in flight under one id."""
    state = an_arm(random, given)
    if state is None or not state["events"] or "model" in state:
        return
    number_ids(state)
    calls = [e for e in state["events"] if e["kind"] == "call" and "policy" not in e]
    if calls:
        chosen = random.choice(calls)
        at = gap(random, state, chosen, after=True)
        if at is not None:
            new = call(at, chosen["session"], "get_order", {"id": 5}, id=chosen["id"])
            if "connection" in chosen:
                new["connection"] = chosen["connection"]
            state["events"].append(new)
            sort_events(state)


@harmful
def rejected_its_own(random: Random, given: Given) -> None:
    """A sink turned away an effect that names this very run."""
    state = an_arm(random, given)
    if state is not None and state["events"]:
        at = free_time(state, state["events"][0]["at"], end_of(state) + 9, random)
        if at is not None:
            state["sink"].setdefault("rejected", []).append({"at": at, "run_id": state["run_id"]})
