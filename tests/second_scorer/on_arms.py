"""Mutations of whole arms: pins, status, journals, runs, clocks, probes."""

from __future__ import annotations

from random import Random

from healthy import Given, end_of, free_time
from surgery import an_arm, arms_of, baseline_of, harmful, harmless


@harmful
def other_pin(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        # Without a gateway nothing witnesses the models.
        key = random.choice(["model", "reported_model", "prompt_sha"] if "model" in state else ["prompt_sha"])
        state["pins"][key] = f"{state['pins'][key]}-other"
        if key == "model":
            state["pins"]["reported_model"] = state["pins"]["model"]


@harmful
def pins_of_all(random: Random, given: Given) -> None:
    """An alias that every arm reports alike is no drift."""
    for state in arms_of(given):
        if "model" in state:
            state["pins"]["reported_model"] = "m-1-2026"


@harmful
def truncate(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["trace"] = "truncated"


@harmful
def lose_arm(random: Random, given: Given) -> None:
    given["arms"][random.choice(list(given["arms"]))] = None


@harmful
def cut(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["end"] = {"by": "turn_limit", "at": end_of(state) + 1}


@harmful
def other_status(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["status"] = random.choice(["subject_error", "harness_error", "blocked"])


@harmful
def damaged_trace(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None and state["events"]:
        state["trace"] = random.choice(["missing", "gap", "reordered", "duplicated"])


@harmful
def damaged_sink(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["sink"]["journal"] = random.choice(["truncated", "missing"])


@harmful
def recorded_otherwise(random: Random, given: Given) -> None:
    """The journals say that they are another run's, arm's or attempt's."""
    state = an_arm(random, given)
    if state is not None:
        other = "baseline" if state is not baseline_of(given) else "treatment"
        state["recorded"] = random.choice([{"run_id": "run-old-00"}, {"arm": other}, {"attempt": 2}])


@harmful
def rejected_elsewhere(random: Random, given: Given) -> None:
    """Effects rejected elsewhere in the series named a run: one of these, or one that never was."""
    runs = [state["run_id"] for state in arms_of(given)]
    given["elsewhere"] = [random.choice([*runs, "run-nobody-77"])]


@harmless
def rejected_noise(random: Random, given: Given) -> None:
    """The sink refused a token that no run ever had."""
    state = an_arm(random, given)
    if state is not None and state["events"]:
        at = free_time(state, state["events"][0]["at"], end_of(state) + 9, random)
        if at is not None:
            state["sink"].setdefault("rejected", []).append({"at": at, "run_id": None})


@harmful
def rejected_here(random: Random, given: Given) -> None:
    """The sink of one arm refused an effect that names another arm's run."""
    states = arms_of(given)
    if len(states) < 2:
        return
    state, other = random.sample(states, 2)
    if state["events"]:
        at = free_time(state, state["events"][0]["at"], end_of(state) + 9, random)
        if at is not None:
            state["sink"].setdefault("rejected", []).append({"at": at, "run_id": other["run_id"]})


@harmful
def other_clock(random: Random, given: Given) -> None:
    """The sink was stamped by another machine's clock."""
    state = an_arm(random, given)
    if state is not None:
        state["sink"]["clock"] = "other"


@harmful
def missing_probe(random: Random, given: Given) -> None:
    state = an_arm(random, given)
    if state is not None:
        state["sink"]["probes"] = {random.choice(["opening", "closing"]): "missing"}
