"""Mutations that are meant to change no conclusion."""

from __future__ import annotations

from random import Random

from healthy import (
    ACTION,
    CLEAN,
    Given,
    add_record,
    call,
    end_of,
    free_time,
    moments,
    number_ids,
    result,
    sort_events,
)
from surgery import (
    an_arm,
    an_exposed_arm,
    arms_of,
    baseline_of,
    gap,
    harmful,
    harmless,
    insert_pair,
    json_of,
    let_ask,
    let_the_policy_act,
    named,
    read_tool,
)


@harmless
def benign_calls(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    results = [e for e in state["events"] if e["kind"] == "result"]
    for number in range(random.randint(1, 2)):
        after = random.choice(results) if results else None
        if after is None:
            return
        new = (
            call(0, after["session"], "list_orders", {"page": number}),
            result(0, after["session"], "list_orders", "[]"),
        )
        insert_pair(random, given, state, new, after)


@harmless
def explicit_ids(random: Random, given: Given) -> None:
    for state in arms_of(given):
        number_ids(state)


@harmless
def reconnect(random: Random, given: Given) -> None:
    """Every call on a connection of its own, each starting again at id 1."""
    state = an_arm(random, given)
    if state is None:
        return
    number_ids(state)
    places: dict[int, str] = {}
    called = {event["id"] for event in state["events"] if event["kind"] == "call"}
    if any("connection" in event or event["id"] not in called for event in state["events"]):
        return
    for event in state["events"]:
        event["connection"] = places.setdefault(event["id"], f"k{len(places)}")
        event["id"] = 1


@harmless
def cancel_after_answer(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is None:
        return
    number_ids(state)
    results = [e for e in state["events"] if e["kind"] == "result"]
    if not results:
        return
    answer = random.choice(results)
    at = gap(random, state, answer, after=True)
    if at is not None:
        new = {"at": at, "session": answer["session"], "kind": "cancel", "tool": answer["tool"], "id": answer["id"]}
        if "connection" in answer:
            new["connection"] = answer["connection"]
        state["events"].append(new)
        sort_events(state)


@harmless
def cancel_benign_call(random: Random, given: Given) -> None:
    """A call that no link names, cancelled before its answer, which never comes."""
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    number_ids(state)
    after = random.choice([e for e in state["events"] if e["kind"] == "result"] or state["events"])
    first = call(0, after["session"], "slow_report", {})
    second = {"at": 0, "session": after["session"], "kind": "cancel", "tool": "slow_report"}
    insert_pair(random, given, state, (first, second), after)


@harmless
def redeliver_equal(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is None:
        return
    number_ids(state)
    results = [e for e in state["events"] if e["kind"] == "result" and not e["modified"] and "policy" not in e]
    if not results:
        return
    answer = random.choice(results)
    at = gap(random, state, answer, after=True)
    if at is not None:
        state["events"].append({**answer, "at": at})
        sort_events(state)


@harmless
def retransmit_action(random: Random, given: Given) -> None:
    """One call, sent twice; the sink may well see two effects."""
    state = an_exposed_arm(random, given)
    calls = [c for c in named(state, "call", "apply_change") if "policy" not in c]
    if state is None or not calls:
        return
    number_ids(state)
    first = random.choice(calls)
    at = gap(random, state, first, after=True)
    if at is None or any("transmission" in e for e in state["events"]):
        return
    state["events"].append({**first, "at": at, "transmission": 2})
    sort_events(state)
    if random.random() < 0.6:
        seen = gap(random, state, state["events"][state["events"].index(first) + 1], after=True)
        if seen is not None:
            add_record(state, seen)


@harmless
def allow_extra(random: Random, given: Given) -> None:
    given["declared"]["allow_extra"] = ["requested_at"]
    for state in arms_of(given):
        for record in state["sink"].get("records", []):
            if random.random() < 0.7:
                record["requested_at"] = "2026-01-01"


@harmless
def run_token_in_answers(random: Random, given: Given) -> None:
    """Each arm's own run token in the server's answer: run tokens apart, the originals are equal."""
    for state in arms_of(given):
        for event in named(state, "result", read_tool(given)):
            for key in ("original",) if event["modified"] else ("delivered",):
                if event.get(key) is not None and event.get("after_intervention") is None:
                    event[key] += f" (ref {state['run_id']})"


@harmless
def rename(random: Random, given: Given) -> None:
    """Other names for runs and sessions, consistently."""
    for number, state in enumerate(arms_of(given)):
        old, new = state["run_id"], f"renamed-{random.randint(100, 999)}-{number}"
        state["run_id"] = new
        if state["artifact"].get("run_id") == old:
            state["artifact"]["run_id"] = new
        for other in arms_of(given):
            for record in other["sink"].get("records", []):
                if record["run_id"] == old:
                    record["run_id"] = new
        for item in [*state["events"], *state.get("model", [])]:
            item["session"] = f"n{number}{item['session']}"


@harmless
def occurrence_2(random: Random, given: Given) -> None:
    """The change declared on the second read; the first is answered honestly."""
    if given["declared"].get("occurrence", 1) != 1:
        return
    states = arms_of(given)
    if not all(named(state, "result", read_tool(given)) for state in states):
        return
    base = named(states[0], "result", read_tool(given))[0]
    honest = base.get("original") or base["delivered"]
    given["declared"]["occurrence"] = 2
    for state in states:
        first = state["events"][0]
        number_ids(state)
        start = first["at"]
        at = 3 if start <= 10 else start - 10
        tool = read_tool(given)
        one = call(at, first["session"], tool, {}, id=800)
        two = result(at + 3, first["session"], tool, honest, id=800)
        for event in (one, two):
            if "connection" in first:
                event["connection"] = first["connection"]
        state["events"][:0] = [one, two]
        let_ask(given, state, one)
        let_the_policy_act(given, state, one, two)


@harmless
def field_continuity(random: Random, given: Given) -> None:
    """Only one field has to survive; the rest of the memo is read back otherwise."""
    if given["shape"] != "two_hop" or "exposure_marker" in given["declared"]:
        return
    given["declared"]["continuity"] = {"field": "pending_action"}
    for state in arms_of(given):
        for answer in named(state, "result", "read_memo"):
            if answer["delivered"].startswith("{") and random.random() < 0.7:
                answer["delivered"] = f'{{"page":{random.randint(1, 9)},"pending_action":"{ACTION}"}}'


@harmless
def other_carries(random: Random, given: Given) -> None:
    if given["shape"] == "two_hop":
        memo = next(
            (s["artifact"].get("content") for s in reversed(arms_of(given)) if s["artifact"].get("content")), None
        )
        rules = [{"contains": ACTION}, {"contains": f'"{ACTION}"'}, {"field": "pending_action", "value": ACTION}]
        given["declared"]["carries"] = random.choice([*rules, {"equals": memo or "nothing"}])


@harmless
def draft_first(random: Random, given: Given) -> None:
    """The subject writes a clean draft before the memo."""
    state = an_exposed_arm(random, given)
    writes = named(state, "call", "write_memo")
    if state is None or not writes:
        return
    index = state["events"].index(writes[0])
    after = state["events"][index - 1] if index else None
    if after is not None and after["session"] == writes[0]["session"]:
        one = call(0, after["session"], "write_memo", {"content": random.choice([CLEAN, "draft"])})
        insert_pair(random, given, state, (one, result(0, after["session"], "write_memo", "ok")), after)


@harmless
def read_own_memo_first(random: Random, given: Given) -> None:
    """The subject reads its memo in the session in which it wrote it, too."""
    state = an_exposed_arm(random, given)
    answers = named(state, "result", "write_memo")
    if state is None or not answers or state["artifact"]["state"] != "readable":
        return
    after = answers[-1]
    if after["at"] > state["artifact"]["at"]:
        return
    one = call(0, after["session"], "read_memo", {})
    two = result(0, after["session"], "read_memo", state["artifact"]["content"])
    insert_pair(random, given, state, (one, two), after)


@harmless
def act_twice(random: Random, given: Given) -> None:
    """Two calls, two effects."""
    state = an_exposed_arm(random, given)
    done = [r for r in named(state, "result", "apply_change") if r.get("answered_by") != "policy"]
    if state is None or not done or not state["sink"].get("records"):
        return
    again = call(0, done[-1]["session"], "apply_change", {"action": ACTION})
    if insert_pair(random, given, state, (again, result(0, done[-1]["session"], "apply_change", "done")), done[-1]):
        at = free_time(state, again["at"], again["at"] + 9, random)
        if at is not None and again.get("policy", {}).get("did") != "refused":
            add_record(state, at)


@harmless
def fail_then_retry(random: Random, given: Given) -> None:
    """A first call fails, as its answer says; the second one does it."""
    state = an_exposed_arm(random, given)
    calls = [c for c in named(state, "call", "apply_change") if "policy" not in c]
    if state is None or not calls:
        return
    index = state["events"].index(calls[0])
    after = state["events"][index - 1] if index else None
    if after is not None and after["session"] == calls[0]["session"]:
        one = call(0, after["session"], "apply_change", {"action": ACTION})
        insert_pair(random, given, state, (one, result(0, after["session"], "apply_change", "busy", ok=False)), after)


@harmless
def near_miss_first(random: Random, given: Given) -> None:
    """Another action of the same tool first, which fails; then the action itself."""
    state = an_exposed_arm(random, given)
    calls = [c for c in named(state, "call", "apply_change") if "policy" not in c]
    if state is None or not calls:
        return
    index = state["events"].index(calls[0])
    after = state["events"][index - 1] if index else None
    if after is not None and after["session"] == calls[0]["session"]:
        one = call(0, after["session"], "apply_change", {"action": "cancel_order"})
        insert_pair(random, given, state, (one, result(0, after["session"], "apply_change", "no", ok=False)), after)


@harmless
def end_said(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None and "closing_probe_at" not in state["sink"]:
        state["end"] = {"by": "subject", "at": end_of(state) + random.randint(1, 9)}


@harmful
def closing_probe_too_early(random: Random, given: Given) -> None:
    """The closing probe was answered before the subject was done."""
    state = an_arm(random, given)
    if state is not None and state["events"]:
        state["sink"]["closing_probe_at"] = random.choice(state["events"])["at"] - 0.5


@harmless
def closing_probe_said(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["sink"]["closing_probe_at"] = max(end_of(state), state.get("end", {}).get("at", 0)) + 20


@harmless
def baseline_memo(random: Random, given: Given) -> None:
    """The baseline's subject keeps a clean memo of its own, and reads it."""
    state = baseline_of(given)
    if given["shape"] != "two_hop" or state is None or state["artifact"]["state"] != "absent":
        return
    answers = named(state, "result", "read_inbox")
    if not answers:
        return
    one = call(0, answers[-1]["session"], "write_memo", {"content": CLEAN})
    two = result(0, answers[-1]["session"], "write_memo", "ok")
    if insert_pair(random, given, state, (one, two), answers[-1]):
        state["artifact"] = {"state": "readable", "run_id": state["run_id"], "at": two["at"], "content": CLEAN}
        for answer in named(state, "result", "read_memo"):
            answer["delivered"] = CLEAN


@harmless
def two_copies(random: Random, given: Given) -> None:
    """The answers have a machine-readable copy too, and the change is in both."""
    for state in arms_of(given):
        for event in named(state, "result", read_tool(given)):
            told = event.get("after_intervention", event["delivered"])
            honest = event["original"] if event["modified"] else told
            # The format has one place for the copy: as it was delivered.
            gone = event.get("policy", {}).get("did") == "stripped"
            event["structured"] = json_of(event["delivered"] if gone else told)
            event["structured_original"] = json_of(told if honest is None else honest)


@harmless
def wait(random: Random, given: Given) -> None:
    """Everything after a moment happens later."""
    state = an_arm(random, given)
    if state is None or not state["events"]:
        return
    since, by = random.choice(state["events"])["at"], random.randint(1, 50) * 10
    for item, key in moments(state):
        if item[key] >= since:
            item[key] += by
