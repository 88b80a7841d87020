"""Records and evidence for the report tests, made by the rooms that own them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from oyer.evidence import VOCABULARY, Chain, Envelope, digest_of, journal_name, make_payload
from oyer.observe import TrialEvidence, read_trial
from oyer.records import (
    LAYERS,
    ArmRef,
    Comparison,
    LayerFact,
    LinkResult,
    Outcome,
    Plan,
    PlannedCase,
    PlannedTrial,
    Reason,
    Scored,
)

DIGEST = digest_of(b"case")
ENVELOPE = Envelope("series", "trial", "run", "manipulated", 1, "boot")
WALL = "2026-01-01T00:00:00Z"
DECLARED = (
    ("original", "original_result", "opening"),
    ("modified", "modified_result", "opening"),
    ("memo", "persistence", "exposure"),
    ("reread", "later_consumption", "exposure"),
    ("action", "higher_authority_invocation", "promotion"),
    ("effect", "external_effect", "promotion"),
)
ALL = ("matched",) * 6
NONE = ("matched", "absent", *("not_reached",) * 4)


def links(states: tuple[str, ...]) -> tuple[LinkResult, ...]:
    return tuple(
        LinkResult(id=id_, layer=layer, stage=stage, state=state)  # type: ignore[arg-type]
        for (id_, layer, stage), state in zip(DECLARED, states, strict=True)
    )


def scored(
    outcome: str, reasons: tuple[Reason, ...] = (), *, pair: str = "baseline_vs_manipulated", **more: Any
) -> Scored:
    return Scored(
        pair=pair,  # type: ignore[arg-type]
        mechanical_outcome=outcome,  # type: ignore[arg-type]
        reasons=reasons,
        links=links(ALL),
        decision_order="not_witnessed",
        sentence=f"The sentence of {outcome}.",
        **more,
    )


def arm(condition: str, states: tuple[str, ...], status: str = "completed", repetition: int = 1) -> ArmRef:
    return ArmRef(
        condition=condition,  # type: ignore[arg-type]
        trial=f"r{repetition}.{condition}",
        run=f"run-{condition}",
        attempt=1,
        status=status,  # type: ignore[arg-type]
        evidence=DIGEST,
        links=links(states),
    )


def comparison(
    primary: Scored, *, repetition: int = 1, arms: tuple[ArmRef, ...] | None = None, **more: Any
) -> Comparison:
    default = (arm("baseline", NONE, repetition=repetition), arm("manipulated", ALL, repetition=repetition))
    return Comparison(
        case="a-case",
        case_digest=DIGEST,
        subject="scripted:obedient",
        repetition=repetition,
        primary=primary,
        arms=default if arms is None else arms,
        not_shown=("how often this happens",),
        **more,
    )


def outcome(trial: str, condition: str = "manipulated", **more: Any) -> Outcome:
    given: dict[str, Any] = {"status": "completed", "said": (), "attempt": 1, "attempts": 1, **more}
    return Outcome(
        trial=trial,
        run="run",
        case="a-case",
        case_digest=DIGEST,
        subject="scripted:obedient",
        repetition=1,
        condition=condition,  # type: ignore[arg-type]
        evidence=DIGEST,
        **given,
    )


def fact(layer: str = LAYERS[0], what: str = "ops.read_inbox was called") -> LayerFact:
    return LayerFact(layer=layer, what=what, evidence=("tap:ops:1",))  # type: ignore[arg-type]


def plan_of(repeat: int, conditions: tuple[str, ...] = ("baseline", "manipulated")) -> Plan:
    trials = [
        PlannedTrial(
            trial=f"r{repetition}.{condition}",
            position=position,
            case="a-case",
            case_digest=DIGEST,
            subject="scripted:obedient",
            repetition=repetition,
            condition=condition,  # type: ignore[arg-type]
        )
        for position, (repetition, condition) in enumerate(itertools.product(range(1, repeat + 1), conditions))
    ]
    cases = (PlannedCase(id="a-case", revision=1, digest=DIGEST),)
    return Plan(cases=cases, subjects=("scripted:obedient",), seed=0, trials=tuple(trials))


class Tape:
    """Journals of one attempt, written event by event on one clock."""

    def __init__(self) -> None:
        self.clock = itertools.count(0, 1_000_000)
        self.blobs: dict[str, bytes] = {}
        self.chains: dict[str, Chain] = {}
        self.lines: dict[str, bytes] = {}
        opened = {
            "vocabulary": VOCABULARY,
            "case": DIGEST,
            "case_id": "c",
            "subject": "s",
            "repetition": 1,
            "masks": {},
        }
        self.add("harness", "trial.opened", opened)

    def payload(self, raw: bytes) -> dict[str, Any]:
        payload, blob = make_payload(raw)
        if blob is not None:
            self.blobs[payload["sha256"]] = blob
        return payload

    def add(self, writer: str, kind: str, body: Mapping[str, Any], *, session: str | None = None) -> str:
        chain = self.chains.setdefault(writer, Chain(writer, ENVELOPE))
        blobs = [b["sha256"] for b in body.values() if isinstance(b, dict) and b.get("blob")]
        event, line = chain.append(kind, body, t_mono_ns=next(self.clock), t_wall=WALL, session=session, blobs=blobs)
        self.lines[writer] = self.lines.get(writer, b"") + line
        return event.ref

    def sent(self, raw: bytes, *, method: str, id_: int | None = None, tool: str | None = None) -> str:
        body = {"server": "ops", "connection": 1, "payload": self.payload(raw), "method": method}
        body |= {} if id_ is None else {"id": id_}
        body |= {} if tool is None else {"tool": tool}
        ref = self.add("tap:ops", "mcp.sent", body, session="a")
        self.delivered(ref, raw, "to_server")
        return ref

    def received(self, raw: bytes, *, id_: int, session: str = "a") -> str:
        body = {"server": "ops", "connection": 1, "payload": self.payload(raw), "id": id_}
        return self.add("tap:ops", "mcp.received", body, session=session)

    def delivered(self, of: str, raw: bytes, direction: str = "to_subject") -> str:
        body = {"server": "ops", "connection": 1, "of": of, "direction": direction, "sha256": digest_of(raw)}
        return self.add("tap:ops", "mcp.delivered", {**body, "size": len(raw)}, session="a")

    def read(self) -> TrialEvidence:
        journals: dict[str, bytes] = {}
        heads: dict[str, Any] = {}
        for writer, chain in self.chains.items():
            if writer != "harness":
                sealed = chain.seal(t_mono_ns=next(self.clock), t_wall=WALL)
                journals[journal_name(writer)] = self.lines[writer] + sealed
                heads[writer] = chain.head._asdict()
        self.add("harness", "trial.closed", {"status": "completed", "writers": heads})
        sealed = self.chains["harness"].seal(t_mono_ns=next(self.clock), t_wall=WALL)
        journals["harness.jsonl"] = self.lines["harness"] + sealed
        evidence = read_trial(journals, self.blobs.get, expect=ENVELOPE)
        assert evidence.defects == ()
        return evidence
