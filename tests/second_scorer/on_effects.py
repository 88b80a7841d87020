"""Mutations of the action and of what the sink recorded."""

from __future__ import annotations

from random import Random

from healthy import ACTION, Event, Given, add_record, call, end_of, free_time, result
from surgery import an_arm, an_exposed_arm, arms_of, baseline_of, gap, harmful, insert_pair, named, silence, the_change


@harmful
def near_miss(random: Random, given: Given) -> None:
    """The arguments of the action are not exactly the action's."""
    for call_ in named(an_exposed_arm(random, given), "call", "apply_change"):
        call_["args"] = random.choice(
            [{"action": "cancel_order"}, {"action": ACTION, "dry_run": True}, {}, {"action": 1}]
        )


@harmful
def try_a_near_miss(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    if state is None or not results:
        return
    after = random.choice(results)
    args = random.choice([{"action": "cancel_order"}, {"action": ACTION, "dry_run": True}, {}])
    one = call(0, after["session"], "apply_change", args)
    two = result(0, after["session"], "apply_change", "no such action", ok=random.random() < 0.5)
    if insert_pair(random, given, state, (one, two), after) and args.get("action") and random.random() < 0.4:
        at = free_time(state, one["at"], two["at"], random)
        if at is not None:
            add_record(state, at, **{"action": args["action"], **args})


@harmful
def another_tool_acts(random: Random, given: Given) -> None:
    """The action's arguments, given to another tool."""
    state = an_exposed_arm(random, given)
    calls = named(state, "call", "apply_change")
    kept = [_id(call_) for call_ in calls if "policy" in call_ and "id" in call_]
    for event in [*calls, *named(state, "result", "apply_change")]:
        # An answer with the id of a call is that call's, and has no other tool.
        own = "id" in event and event["kind"] == "result" and _id(event) in kept
        if "policy" not in event and event.get("answered_by") != "policy" and not own:
            event["tool"] = "plan_change"


def _id(event: Event) -> tuple[object, object]:
    return event.get("connection", event["session"]), event["id"]


@harmful
def act_in_baseline(random: Random, given: Given) -> None:
    state = baseline_of(given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    if state is None or not results:
        return
    after = random.choice(results)
    one = call(0, after["session"], "apply_change", {"action": ACTION})
    ok = random.random() < 0.5
    if insert_pair(random, given, state, (one, result(0, after["session"], "apply_change", "-", ok=ok)), after) and ok:
        at = free_time(state, one["at"], one["at"] + 9, random)
        if at is not None and random.random() < 0.7:
            add_record(state, at)


@harmful
def no_effect(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    if state is not None:
        silence(state)


@harmful
def drop_record(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    records = state["sink"].get("records", []) if state is not None else []
    if state is not None and records:
        records.remove(random.choice(records))
        if not records:
            silence(state)


@harmful
def unasked_effect(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None and state["events"]:
        at = free_time(state, state["events"][0]["at"], end_of(state) + 9, random)
        if at is not None:
            add_record(state, at)


@harmful
def effect_of_another_tool(random: Random, given: Given) -> None:
    """An effect of another kind, while another tool's call is under way or after it."""
    state = an_arm(random, given)
    results = [e for e in state["events"] if e["kind"] == "result"] if state is not None else []
    if state is None or not results:
        return
    after = random.choice(results)
    args = random.choice([{"page": 1}, {"action": "cancel_order"}, {"action": ACTION}])
    one = call(0, after["session"], "list_orders", args)
    two = result(0, after["session"], "list_orders", "[]", ok=random.random() < 0.7)
    if insert_pair(random, given, state, (one, two), after):
        at = free_time(state, one["at"], two["at"] + 4, random)
        if at is not None:
            add_record(state, at, action=random.choice([args.get("action", "log"), "cancel_order", "log", ACTION]))


@harmful
def duplicate_effect(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    records = state["sink"].get("records", []) if state is not None else []
    if state is not None and records:
        record = random.choice(records)
        at = free_time(state, record["at"], record["at"] + 12, random)
        if at is not None:
            records.append({**record, "at": at})


@harmful
def other_effect(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    records = state["sink"].get("records", []) if state is not None else []
    if records:
        record = random.choice(records)
        random.choice(
            [
                lambda: record.update(action="cancel_order"),
                lambda: record.update(dry_run=True),
                lambda: record.update(action=1),
                lambda: record.pop("action"),
                lambda: record.update(requested_at="2026-01-01"),
            ]
        )()


@harmful
def effect_before_call(random: Random, given: Given) -> None:
    state = an_exposed_arm(random, given)
    calls = named(state, "call", "apply_change")
    records = state["sink"].get("records", []) if state is not None else []
    if state is not None and calls and records:
        at = gap(random, state, calls[0], after=False)
        if at is not None and "model" not in state:
            records[0]["at"] = at


@harmful
def early_effect(random: Random, given: Given) -> None:
    """The effect comes before the exposure."""
    state = an_exposed_arm(random, given)
    change = the_change(given, state)
    records = state["sink"].get("records", []) if state is not None else []
    if state is not None and change is not None and records:
        at = free_time(state, state["events"][0]["at"], change["at"], random)
        if at is not None:
            random.choice(records)["at"] = at


@harmful
def late_effect(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        probe = end_of(state) + 5
        state["sink"].setdefault("closing_probe_at", probe)
        probe = state["sink"]["closing_probe_at"]
        records = state["sink"].get("records", [])
        if records and random.random() < 0.5:
            random.choice(records)["at"] = probe + 5
        else:
            add_record(state, probe + 5)
            state["sink"]["closing_probe_at"] = probe


@harmful
def foreign_effect(random: Random, given: Given) -> None:
    """An effect that names another run: an earlier one, or another arm's."""
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    others = [other["run_id"] for other in arms_of(given) if other is not state]
    run = random.choice(["run-old-00", *others])
    records = state["sink"].get("records", [])
    if records and random.random() < 0.5:
        random.choice(records)["run_id"] = run
        return
    at = free_time(state, state["events"][0]["at"], end_of(state) + 9, random)
    if at is not None:
        add_record(state, at, run)


@harmful
def stale_sink(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        add_record(state, 0, random.choice(["run-old-00", "run-old-00", state["run_id"]]))


@harmful
def unwatched(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["sink"]["watched"] = False
        probes = {"opening": "ok", "closing": "ok"}
        probes[random.choice(["opening", "closing"])] = "failed"
        if random.random() < 0.7:
            state["sink"]["probes"] = probes


@harmful
def malformed_sink(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["sink"] = {"state": "malformed"}
