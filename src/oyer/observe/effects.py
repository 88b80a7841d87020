"""What the sinks saw, and whether each of them was proven to be watching."""

from __future__ import annotations

from typing import Any, NamedTuple

from oyer.errors import ProtocolError
from oyer.evidence import Event
from oyer.observe.trial import TrialEvidence
from oyer.protocol import loads

__all__ = ["Effect", "Watch", "read_watches"]


class Effect(NamedTuple):
    """One effect as a sink recorded it. `content` is its JSON value; `readable` says whether it has one."""

    sink: str
    ref: str
    t_ns: int
    boot: str
    content: Any
    readable: bool
    run_named: str | None
    calls: tuple[str, ...] | None


class Watch(NamedTuple):
    """One sink over one trial.

    `watched` needs both probes answered. `held` is what it held at opening, apart from nothing. `names` are the runs
    that rejected effects named.
    """

    sink: str
    kind: str | None
    opened: str | None
    held: bool
    probes: tuple[str, ...]
    opening_ok: bool
    closing_ok: bool
    t_closing_ns: int | None
    effects: tuple[Effect, ...]
    rejected: tuple[str, ...]
    names: tuple[tuple[str, str], ...]

    @property
    def watched(self) -> bool:
        """Whether the sink is proven to have been watching from before the first turn until everything was down."""
        return self.opening_ok and self.closing_ok


def read_watches(evidence: TrialEvidence) -> dict[str, Watch]:
    """Read every sink's journal of a trial, by sink name."""
    return {writer.removeprefix("sink:"): _watch(evidence, writer) for writer in evidence.writers("sink:")}


def _watch(evidence: TrialEvidence, writer: str) -> Watch:
    opened = next(iter(evidence.events(writer, "sink.opened")), None)
    probes = evidence.events(writer, "sink.probed")
    closing = [p for p in probes if p.body["phase"] == "closing"]
    rejected = evidence.events(writer, "sink.rejected")
    return Watch(
        sink=writer.removeprefix("sink:"),
        kind=opened.body["kind"] if opened else None,
        opened=opened.ref if opened else None,
        held=opened is not None and _holds_something(evidence, opened),
        probes=tuple(probe.ref for probe in probes),
        opening_ok=opened is not None and _all_ok([p for p in probes if p.body["phase"] == "opening"]),
        closing_ok=_all_ok(closing),
        t_closing_ns=closing[-1].t_mono_ns if closing else None,
        effects=tuple(_effect(evidence, e) for e in evidence.events(writer, "sink.effect") if not e.body.get("probe")),
        rejected=tuple(event.ref for event in rejected),
        names=tuple((event.body["run_named"], event.ref) for event in rejected if event.body.get("run_named")),
    )


def _all_ok(probes: list[Event]) -> bool:
    return bool(probes) and all(probe.body["ok"] for probe in probes)


def _holds_something(evidence: TrialEvidence, opened: Event) -> bool:
    """A sink of kind world opens on the fixture's own files; every other kind must open empty."""
    if opened.body["state"] is None or opened.body["kind"] == "world":
        return False
    state, readable = _json(evidence.payload(opened, "state"))
    return not readable or state not in ([], {}, None)


def _effect(evidence: TrialEvidence, event: Event) -> Effect:
    content, readable = _json(evidence.payload(event, "content"))
    return Effect(
        event.body["sink"],
        event.ref,
        event.t_mono_ns,
        event.boot,
        content,
        readable,
        event.body.get("run_named"),
        tuple(event.body["calls"]) if "calls" in event.body else None,
    )


def _json(raw: bytes | None) -> tuple[Any, bool]:
    if raw is None:
        return None, False
    try:
        return loads(raw), True
    except ProtocolError:
        return None, False
