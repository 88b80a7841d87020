"""Events planned by a vector's clock, then written as sealed journals.

Owns the order of events and the chains they become. A tick of a vector is a millisecond; what a tick does not say is
placed by hundredths of it, and within one moment the order is that of planning. Must never judge what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.evidence import Chain, Envelope, make_payload, make_ref

__all__ = ["TICK_NS", "Handle", "Timeline", "Written"]

TICK_NS = 1_000_000
PARTS = 100
"""Parts of a tick."""
WALL = "2026-01-01T00:00:00Z"


class Handle(NamedTuple):
    """A planned event. In a body it stands for that event's reference."""

    number: int


class Written(NamedTuple):
    """Journals as lines by writer, and blobs by digest."""

    lines: dict[str, list[bytes]]
    blobs: dict[str, bytes]


class _Planned(NamedTuple):
    t_ns: int
    handle: Handle
    writer: str
    kind: str
    body: Mapping[str, Any]
    payloads: Mapping[str, bytes]
    session: str | None


class Timeline:
    """What every instrument of one arm recorded. `envelope` is what the journals carry, by writer where one differs."""

    def __init__(self, envelope: Envelope) -> None:
        self.envelope = envelope
        self.other_envelopes: dict[str, Envelope] = {}
        self._planned: list[_Planned] = []
        self._writers: list[str] = []

    def open(self, writer: str) -> None:
        """Have a writer's journal written even if it recorded nothing."""
        self._writers.append(writer)

    def add(
        self,
        at: int,
        part: int,
        writer: str,
        kind: str,
        body: Mapping[str, Any],
        payloads: Mapping[str, bytes] | None = None,
        session: str | None = None,
    ) -> Handle:
        """Plan one event at a tick and a part of it (negative: before the tick)."""
        handle = Handle(len(self._planned))
        t_ns = at * TICK_NS + part * (TICK_NS // PARTS)
        self._planned.append(_Planned(t_ns, handle, writer, kind, body, payloads or {}, session))
        return handle

    def write(self, status: str) -> Written:
        """Write every journal, sealed, the harness's own last."""
        ordered = sorted(self._planned, key=lambda planned: planned[:2])
        start, end = ordered[0].t_ns, ordered[-1].t_ns - ordered[0].t_ns
        refs = _refs(ordered)
        written = Written({}, {})
        chains: dict[str, Chain] = {}
        for writer in (*dict.fromkeys(self._writers), *(planned.writer for planned in ordered)):
            if writer not in chains:
                chains[writer] = Chain(writer, self.other_envelopes.get(writer, self.envelope))
                written.lines[writer] = []
        for planned in ordered:
            body, blobs = _body(planned, refs, written.blobs)
            _, line = chains[planned.writer].append(
                planned.kind,
                body,
                t_mono_ns=planned.t_ns - start,
                t_wall=WALL,
                session=planned.session,
                blobs=blobs,
            )
            written.lines[planned.writer].append(line)
        _seal(chains, written.lines, end, status)
        return written


def _refs(ordered: list[_Planned]) -> dict[Handle, str]:
    counts: dict[str, int] = {}
    refs: dict[Handle, str] = {}
    for planned in ordered:
        seq = counts.get(planned.writer, 0)
        counts[planned.writer] = seq + 1
        refs[planned.handle] = make_ref(planned.writer, seq)
    return refs


def _body(
    planned: _Planned, refs: Mapping[Handle, str], kept: dict[str, bytes]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    body = {key: refs[value] if isinstance(value, Handle) else value for key, value in planned.body.items()}
    blobs = []
    for name, raw in planned.payloads.items():
        payload, blob = make_payload(raw)
        body[name] = payload
        if blob is not None:
            kept[payload["sha256"]] = blob
            blobs.append(payload["sha256"])
    return body, tuple(dict.fromkeys(blobs))


def _seal(chains: Mapping[str, Chain], lines: dict[str, list[bytes]], end_ns: int, status: str) -> None:
    heads = {}
    for writer, chain in sorted(chains.items()):
        if writer != "harness":
            lines[writer].append(chain.seal(t_mono_ns=end_ns + 1, t_wall=WALL))
            heads[writer] = {"length": chain.head.length, "head": chain.head.head}
    harness = chains["harness"]
    closing = {"status": status, "writers": heads}
    _, line = harness.append("trial.closed", closing, t_mono_ns=end_ns + 2, t_wall=WALL)
    lines["harness"] += [line, harness.seal(t_mono_ns=end_ns + 3, t_wall=WALL)]
