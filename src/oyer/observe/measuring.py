"""What can be counted or measured in one trial, each with the sealed events that show it.

A quantity that nothing measured is unknown, never zero. Must never add up what is only partly known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oyer.evidence import MAX_SAFE_INT
from oyer.observe.costing import in_micros
from oyer.observe.facts import TrialFacts

__all__ = ["MEASUREMENTS", "Measured", "read_cost", "read_measurements", "read_use"]

MEASUREMENTS = (
    "mcp_requests",
    "tool_calls",
    "noise_lines",
    "model_calls",
    "tokens",
    "effects",
    "effects_rejected",
    "wall_ns",
    "cpu_ns",
    "rss_bytes",
)
"""Every quantity that an Outcome may hold."""


class Measured(NamedTuple):
    """One quantity; `value` is None where it is unknown. `refs` are the events it was read from."""

    value: int | None
    refs: tuple[str, ...]


def read_measurements(facts: TrialFacts) -> Mapping[str, Measured]:
    """Return every measurement of a trial, by name."""
    wire = facts.wire
    taps = _ends(facts, "tap:")
    sinks = _ends(facts, "sink:")
    calls = [call for call in wire.exchanges if call.method == "tools/call"]
    return {
        "mcp_requests": Measured(len(wire.exchanges), taps),
        "tool_calls": Measured(len(calls), taps),
        "noise_lines": Measured(len(wire.noise), taps),
        "model_calls": Measured(len(facts.model), _ends(facts, "gateway")),
        "tokens": _tokens(facts),
        "effects": Measured(sum(len(watch.effects) for watch in facts.watches.values()), sinks),
        "effects_rejected": Measured(sum(len(watch.rejected) for watch in facts.watches.values()), sinks),
        "wall_ns": _wall(facts),
        "cpu_ns": _metered(facts, "cpu_ns"),
        "rss_bytes": _metered(facts, "rss_bytes"),
    }


def read_cost(facts: TrialFacts) -> int | None:
    """Return what the model of a trial cost, in millionths of a dollar rounded up; None where it is not known."""
    cost = None if facts.whole.untrue else in_micros(exchange.cost for exchange in facts.model)
    return None if cost is None else sayable(cost)


def read_use(facts: TrialFacts) -> Mapping[str, int | None]:
    """Return what the model of a trial used, by the name of a budget: 0 where nothing was asked, None where not known.

    Evidence that is not whole may lack requests: nothing is then known.
    """
    if facts.evidence.defects or facts.evidence.opened is None:
        return {"tokens": None, "cost_usd_micros": None}
    if not facts.model:
        return {"tokens": 0, "cost_usd_micros": 0}
    return {"tokens": _tokens(facts).value, "cost_usd_micros": read_cost(facts)}


def _ends(facts: TrialFacts, prefix: str) -> tuple[str, ...]:
    """The closing events of every writer of a family, or that of the harness where the trial had none of it."""
    found = tuple(ref for writer in facts.evidence.writers(prefix) for ref in facts.last_of(writer))
    return found or facts.last_of("harness")


def _tokens(facts: TrialFacts) -> Measured:
    # What records say that their bytes deny is no measurement.
    counts = [None if facts.whole.untrue else exchange.tokens for exchange in facts.model]
    known = [count for count in counts if count is not None]
    refs = tuple(e.response_ref for e in facts.model if e.response_ref is not None)
    return Measured(sayable(sum(known)) if known and len(known) == len(counts) else None, refs)


def _wall(facts: TrialFacts) -> Measured:
    events = facts.evidence.events("harness")
    if not events or events[0].boot != events[-1].boot:
        return Measured(None, ())
    return Measured(sayable(events[-1].t_mono_ns - events[0].t_mono_ns), (events[0].ref, events[-1].ref))


def _metered(facts: TrialFacts, name: str) -> Measured:
    """The highest sample: processor time only grows, and the peak is what memory is asked about."""
    samples = list(_samples(facts, name))
    if not samples:
        return Measured(None, ())
    value, ref = max(samples, key=lambda sample: sample[0])
    return Measured(sayable(value), (ref,))


def _samples(facts: TrialFacts, name: str) -> Iterator[tuple[int, str]]:
    for event in facts.evidence.events("meter", "meter.sample"):
        if name in event.body:
            yield event.body[name], event.ref


def sayable(number: int) -> int | None:
    """A number that a record can hold exactly; what is beyond it is unknown."""
    return number if number <= MAX_SAFE_INT else None
