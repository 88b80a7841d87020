"""The form of a scoring vector: an evidence state in tool-neutral words, and what any honest scorer must say of it.

Owns the fields and their defaults; every field beyond the first set has one, so that old files stay valid. Must never
look at evidence, and never know how a vector becomes a journal. What holds across fields is in `coherence`.

Source: docs/spec/vectors.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from oyer.records import Json, Record

__all__ = [
    "ARMS",
    "ApprovalAct",
    "ArmState",
    "Artifact",
    "Asked",
    "Call",
    "Cancel",
    "Declared",
    "Event",
    "Given",
    "Policy",
    "Recorded",
    "RefusalAct",
    "Result",
    "ResultAct",
    "Sink",
    "ToldTurn",
    "Vector",
    "VectorFile",
]

ARMS: Mapping[str, Literal["baseline", "manipulated", "hardened"]] = {
    "baseline": "baseline",
    "treatment": "manipulated",
    "hardened": "hardened",
}
"""The arms of a vector, and the condition that each of them is."""

Probe = Literal["ok", "failed", "missing"]


class ResultAct(Record):
    """What a policy did to an answer."""

    id: str
    did: Literal["labelled", "stripped"]


class RefusalAct(Record):
    """A policy's refusal of a call: it never reached the server."""

    id: str
    did: Literal["refused"]


class ApprovalAct(Record):
    """A policy's question about a call, and the approver's answer."""

    id: str
    did: Literal["asked"]
    asked_at: int
    answer: Literal["granted", "refused"]
    answered_at: int
    approver: str | None = None


class Call(Record):
    """A request of the agent. The same connection and id again, with `transmission`, is the same call sent again."""

    at: int
    session: str
    kind: Literal["call"]
    tool: str
    args: Mapping[str, Json] = {}
    id: int | str | None = None
    connection: str | None = None
    transmission: int | None = None
    policy: RefusalAct | ApprovalAct | None = None


class Result(Record):
    """An answer. `original: null` means it was not preserved; `delivered: null` that it never crossed to the agent."""

    at: int
    session: str
    kind: Literal["result"]
    tool: str
    ok: bool = True
    modified: bool = False
    delivered: str | None
    original: str | None = None
    after_intervention: str | None = None
    structured: Json = None
    structured_original: Json = None
    id: int | str | None = None
    connection: str | None = None
    answered_by: Literal["server", "policy"] = "server"
    policy: ResultAct | None = None

    @property
    def lost(self) -> bool:
        """Whether the vector says that the original was not preserved."""
        return self.modified and "original" in self.model_fields_set and self.original is None


class Cancel(Record):
    """A cancellation of a call by its id; its place tells whether it came before the answer."""

    at: int
    session: str
    kind: Literal["cancel"]
    tool: str
    id: int | str
    connection: str | None = None


Event = Call | Result | Cancel


class Asked(Record):
    """A tool that the model asked for, with arguments where they are not those of the call that followed."""

    tool: str
    args: Mapping[str, Json]


class Exchange(Record):
    """One exchange with the model, as the gateway recorded it. `complete: false`: the answer was cut off."""

    turn: int | None = None
    session: str
    request_at: int
    shows_marker: bool = False
    shows_in: Literal["content", "reasoning"] = "content"
    response_at: int
    asks: tuple[str | Asked, ...] = ()
    finish: Literal["tool_calls", "stop", "filtered"] = "stop"
    complete: bool = True


class Pins(Record):
    """What was fixed about one arm. `tools` is a revision of the tool listing, where the agent listed the tools."""

    model: str = "m-1"
    reported_model: str = "m-1"
    prompt_sha: str = "p-1"
    parameters: Json = None
    tools: str | None = None
    subject: str = "subject (made up)"


class Look(Record):
    """A later look at the artifact; `content: null` means that it was gone."""

    at: int
    content: str | None


class Artifact(Record):
    """The persisted artifact as found at the first look after the persisting call (`at: 0`: at the opening)."""

    state: Literal["readable", "absent", "malformed"] = "absent"
    run_id: str | None = None
    at: int = 0
    content: str = ""
    later: tuple[Look, ...] = ()


class Probes(Record):
    """How the probes of a sink were answered."""

    opening: Probe = "ok"
    closing: Probe = "ok"


class Rejected(Record):
    """An effect that a sink refused, with the run it named (none: its token was nobody's)."""

    at: int
    run_id: str | None = None


class Sink(Record):
    """The independent witness. In `records`, `run_id` and `at` apart, the keys are the effect's content."""

    state: Literal["readable", "absent", "malformed"] = "absent"
    watched: bool | None = None
    records: tuple[Mapping[str, Json], ...] = ()
    rejected: tuple[Rejected, ...] = ()
    probes: Probes | None = None
    closing_probe_at: int | None = None
    journal: Literal["complete", "truncated", "missing"] = "complete"
    clock: Literal["shared", "other"] = "shared"

    @property
    def probed(self) -> Probes:
        """How the probes were answered: as written, else both well where the sink was watched, else not the closing."""
        watched = self.watched if self.watched is not None else self.state != "malformed"
        return self.probes or Probes(closing="ok" if watched else "failed")


class End(Record):
    """Who ended the turn that received the last exposure, and when."""

    by: Literal["subject", "turn_limit", "budget", "crash", "protocol", "harness"] = "subject"
    at: int


class ToldTurn(Record):
    """One turn of a session that has several; `end_at` and `by` say when it ended and who ended it."""

    session: str
    at: int
    end_at: int
    by: Literal["subject", "turn_limit", "budget", "crash", "protocol", "harness"] = "subject"


class Told(Record):
    """What Oyer gave the subject's process beside the turns. `{run}` stands for the arm's run id."""

    argv: tuple[str, ...] = ("agent",)
    env: Mapping[str, str] = {}
    cwd: str = "/home"
    configuration: str = "{}"


class Recorded(Record):
    """What an arm's journals say of themselves, where it is not what they are offered for."""

    run_id: str | None = None
    arm: Literal["baseline", "treatment", "hardened"] | None = None
    attempt: int | None = None
    case: str | None = None
    repetition: int | None = None


class ArmState(Record):
    """What was recorded of one arm. Everything not mentioned was complete and healthy."""

    run_id: str
    pins: Pins = Pins()
    status: Literal["completed", "subject_error", "harness_error", "blocked"] = "completed"
    trace: Literal["complete", "truncated", "missing", "edited", "gap", "reordered", "duplicated"] = "complete"
    events: tuple[Event, ...] = ()
    model: tuple[Exchange, ...] | None = None
    turns: tuple[ToldTurn, ...] = ()
    end: End | None = None
    artifact: Artifact = Artifact()
    sink: Sink = Sink()
    told: Told | None = None
    recorded: Recorded = Recorded()

    @property
    def in_order(self) -> tuple[Event, ...]:
        """The events by the clock; within one tick as written."""
        return tuple(sorted(self.events, key=lambda event: event.at))


class Arms(Record):
    """The arms. One that is null or not there has no sealed attempt."""

    baseline: ArmState | None = None
    treatment: ArmState | None = None
    hardened: ArmState | None = None

    def items(self) -> tuple[tuple[str, ArmState], ...]:
        """Return the arms that are there, by name."""
        pairs = ((name, getattr(self, name)) for name in ARMS)
        return tuple((name, state) for name, state in pairs if state is not None)


class Field(Record):
    """Only this JSON field is compared."""

    field: str


class Carries(Record):
    """What makes persisted content the lure's: one of contains, equals, or field with value."""

    contains: str | None = None
    equals: str | None = None
    field: str | None = None
    value: Json = None


class Policy(Record):
    """The named condition of the hardened arm."""

    id: str
    kind: Literal["label", "block", "reapproval", "strip"]
    on: str
    why: str
    approver: str | None = None
    fields: tuple[str, ...] = ()


class Named(Record):
    """Calls of a tool, with arguments that must be among those of the call."""

    tool: str
    args: Json = None


class Locked(Record):
    """What the series pinned before the run, where an arm may differ from it."""

    models: Mapping[str, str] = {}
    subject: str | None = None


class Declared(Record):
    """What the case declared before the run. `change` is the form of the change (default: another result)."""

    intervention_on: str
    action_tool: str
    matching_action: str
    persist_tool: str | None = None
    later_read_tool: str | None = None
    allow_extra: tuple[str, ...] = ()
    policy: Policy | None = None
    occurrence: int | Literal["every"] = 1
    continuity: Literal["whole"] | Field = "whole"
    carries: Carries | None = None
    exposure_marker: str | None = None
    change: Mapping[str, Json] = {}
    volatile: tuple[str, ...] = ()
    output_schema: Json = None
    attempt: tuple[Named, ...] = ()
    benign: tuple[Named, ...] = ()
    fixture: str | None = None
    locked: Locked | None = None


class Given(Record):
    """The evidence state of a vector. `elsewhere` are runs that effects rejected elsewhere in the series named."""

    shape: Literal["one_hop", "two_hop"]
    required_chain: tuple[str, ...] = ()
    comparison: Literal["baseline_vs_treatment", "baseline_vs_hardened"] = "baseline_vs_treatment"
    declared: Declared
    arms: Arms
    elsewhere: tuple[str, ...] = ()

    @property
    def hardened(self) -> bool:
        """Whether the vector is about the hardened arm."""
        return self.comparison == "baseline_vs_hardened"


Outcome = Literal["CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE"]
Contrast = Literal["differs", "same_effect", "passed_on_approval", "not_tested", "undetermined"]


class Vector(Record):
    """One evidence state with what must be said of it. `expect_codes` is the complete set, where it is given."""

    id: str
    given: Given
    expect_outcome: Outcome
    expect_reason_kind: str
    expect_primary_outcome: Outcome | None = None
    expect_contrast: Contrast | None = None
    expect_attribution: str | None = None
    expect_codes: tuple[str, ...] | None = None
    why: str


class VectorFile(Record):
    """Every vector of a file."""

    vectors: tuple[Vector, ...]
