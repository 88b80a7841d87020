"""`Outcome@1` of one trial: status, layer facts with their evidence, measurements, and what the subject said.

What the subject said about itself is kept as text and is evidence of nothing but that it said so.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.walk import Walk, walk_chain
from oyer.observe import printable, read_cost, read_measurements
from oyer.records import LayerFact, Outcome, TrialError, digest

__all__ = ["derive_outcome"]

SAID_LIMIT = 2000
"""Characters of a turn's last words that an Outcome repeats; the whole stands in the evidence."""


def derive_outcome(arm: Arm, *, case: str, subject: str, repetition: int, condition: str, attempts: int) -> Outcome:
    """Derive the Outcome of one sealed attempt."""
    closed = arm.evidence.closed or {}
    error = closed.get("error")
    measured = read_measurements(arm)
    walk = walk_chain(arm) if arm.case.is_experiment and condition != "baseline" else None
    return Outcome(
        trial=arm.trial,
        run=arm.evidence.run,
        case=case,
        case_digest=arm.case_digest,
        subject=subject,
        repetition=repetition,
        condition=condition,  # type: ignore[arg-type]
        attempt=arm.attempt,
        attempts=attempts,
        status=closed.get("status", "harness_error"),
        stopped_by=closed.get("stopped_by"),
        error=TrialError(where=error["where"], error_class=error["class"], message=error["message"]) if error else None,
        faults=tuple(_faults(arm)),
        observations=tuple(_facts(arm, walk)),
        measurements={name: found.value for name, found in measured.items()},
        cost_usd_micros=read_cost(arm),
        said=tuple(_said(arm)),
        latency_ns=measured["wall_ns"].value,
        pins=digest(arm.pins),
        evidence=arm.stored,
        evidence_defects=tuple(str(defect) for defect in arm.evidence.defects),
    )


def _faults(arm: Arm) -> Iterator[TrialError]:
    for event in arm.evidence.everything():
        if event.kind == "fault":
            body = event.body
            yield TrialError(where=body["where"], error_class=body["class"], message=body["message"])


def _facts(arm: Arm, walk: Walk | None) -> Iterator[LayerFact]:
    for call in arm.wire.exchanges:
        if call.method == "tools/call":
            what = f"{call.server}.{call.tool} was called" + (" and refused by the policy" if call.refusal else "")
            yield LayerFact(layer="invocation", what=printable(what), session=call.session, evidence=call.transmissions)
    for link in walk.links if walk else ():
        if link.state == "matched" and link.evidence:
            yield LayerFact(layer=link.layer, what=f"link {link.id} matched", evidence=link.evidence)
    for name in sorted(arm.watches):
        for effect in arm.watches[name].effects:
            yield LayerFact(layer="external_effect", what=f"sink {name} recorded an effect", evidence=(effect.ref,))


def _said(arm: Arm) -> Iterator[str]:
    for turn in arm.turns:
        if turn.said is not None:
            text = turn.said.decode("utf-8", "replace")
            yield text if len(text) <= SAID_LIMIT else text[:SAID_LIMIT] + f"… ({len(text)} characters)"
