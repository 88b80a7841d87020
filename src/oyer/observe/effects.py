"""What the sinks saw, and whether each of them was proven to be watching.

Whose effect it is follows from the writer of the journal and from the run's token, never from what an effect says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from oyer.errors import ProtocolError
from oyer.evidence import Event
from oyer.observe.trial import TrialEvidence
from oyer.protocol import loads

__all__ = ["Effect", "Watch", "read_names", "read_watches"]


class Effect(NamedTuple):
    """One effect as a sink recorded it. `content` is its JSON value; `readable` says whether it has one.

    `calls` are the calls that were under way, None where the sink cannot know. `token_fits` compares its token with
    the sink's own, None where one of the two is not on record.
    """

    sink: str
    ref: str
    t_ns: int
    boot: str
    raw: bytes | None
    content: Any
    readable: bool
    run_named: str | None
    token_fits: bool | None
    calls: tuple[str, ...] | None

    def foreign_to(self, run: str | None, *, placed: bool) -> str:
        """Say why it is not on record as a run's effect; empty where it is.

        `placed` says that its sink is a place of the run's own, so that an effect needs to name nothing.
        """
        if self.run_named is not None and self.run_named != run:
            return f"an effect names run {self.run_named}"
        if self.token_fits is False:
            return "an effect carries another token than its sink's"
        if self.run_named is None and self.token_fits is None and not placed:
            return "nothing says which run an effect belongs to"
        return ""


class Watch(NamedTuple):
    """One sink over one trial.

    `watched` needs both probes answered. `held` says that it held something at opening. `stated` is what the sink
    itself counted at its end (effects, rejected), None where it did not say. `misnamed` are events about another sink
    than their writer. `boots` are the clocks that stamped its events.
    """

    sink: str
    kind: str | None
    opened: str | None
    held: bool
    probes: tuple[str, ...]
    opening_ok: bool
    closing_ok: bool
    t_opening_ns: int | None
    t_closing_ns: int | None
    effects: tuple[Effect, ...]
    rejected: tuple[str, ...]
    stated: tuple[int, int] | None
    misnamed: tuple[str, ...]
    boots: frozenset[str]

    @property
    def watched(self) -> bool:
        """Whether both probes were answered."""
        return self.opening_ok and self.closing_ok


def read_watches(evidence: TrialEvidence) -> dict[str, Watch]:
    """Read every sink's journal of a trial, by sink name."""
    return {writer.removeprefix("sink:"): _watch(evidence, writer) for writer in evidence.writers("sink:")}


def read_names(evidence: TrialEvidence) -> tuple[tuple[str, str], ...]:
    """Return `(run, ref)` for every effect that a sink rejected and that names a run, or took and that names another.

    Sinks in order of name, of each what it rejected first. Nothing of what an effect holds is read.
    """
    found: list[tuple[str, str]] = []
    for writer in evidence.writers("sink:"):
        taken = [e for e in evidence.events(writer, "sink.effect") if not e.body.get("probe")]
        foreign = [e for e in taken if e.body.get("run_named") != evidence.run]
        named = [*evidence.events(writer, "sink.rejected"), *foreign]
        found += [(e.body["run_named"], e.ref) for e in named if e.body.get("run_named")]
    return tuple(found)


def _watch(evidence: TrialEvidence, writer: str) -> Watch:
    name = writer.removeprefix("sink:")
    events = [e for e in evidence.events(writer) if e.kind.startswith("sink.")]
    opened = [e for e in events if e.kind == "sink.opened"]
    probes = [e for e in events if e.kind == "sink.probed"]
    opening, closing = ([p for p in probes if p.body["phase"] == phase] for phase in ("opening", "closing"))
    closed = [e for e in events if e.kind == "sink.closed"]
    rejected = [e for e in events if e.kind == "sink.rejected"]
    effects = [e for e in events if e.kind == "sink.effect" and not e.body.get("probe")]
    token = opened[0].body.get("token_sha256") if opened else None
    return Watch(
        sink=name,
        kind=opened[0].body["kind"] if opened else None,
        opened=opened[0].ref if opened else None,
        held=any(_holds_something(evidence, one) for one in opened),
        probes=tuple(probe.ref for probe in probes),
        opening_ok=len(opened) == 1 and _all_ok(opening),
        closing_ok=_all_ok(closing),
        t_opening_ns=opening[0].t_mono_ns if opening else None,
        t_closing_ns=closing[0].t_mono_ns if closing else None,
        effects=tuple(_effect(evidence, e, name, token) for e in effects),
        rejected=tuple(event.ref for event in rejected),
        stated=(closed[0].body["effects"], closed[0].body["rejected"]) if len(closed) == 1 else None,
        misnamed=tuple(event.ref for event in events if event.body["sink"] != name),
        boots=frozenset(event.boot for event in events),
    )


def _all_ok(probes: list[Event]) -> bool:
    return bool(probes) and all(probe.body["ok"] for probe in probes)


def _holds_something(evidence: TrialEvidence, opened: Event) -> bool:
    """A sink of kind world opens on the fixture's own files; every other kind must open empty."""
    if opened.body["state"] is None or opened.body["kind"] == "world":
        return False
    state, readable = _json(evidence.payload(opened, "state"))
    return not readable or state not in ([], {}, None)


def _effect(evidence: TrialEvidence, event: Event, sink: str, token: str | None) -> Effect:
    content, readable = _json(evidence.payload(event, "content"))
    own = event.body.get("token")
    return Effect(
        sink=sink,
        ref=event.ref,
        t_ns=event.t_mono_ns,
        boot=event.boot,
        raw=evidence.payload(event),
        content=content,
        readable=readable,
        run_named=event.body.get("run_named"),
        token_fits=None if own is None or token is None else own == token,
        calls=tuple(event.body["calls"]) if "calls" in event.body else None,
    )


def _json(raw: bytes | None) -> tuple[Any, bool]:
    if raw is None:
        return None, False
    try:
        return loads(raw), True
    except ProtocolError:
        return None, False
