"""`Outcome@1` and `Comparison@1`: what retained evidence shows about one trial, and about its arms side by side.

Both are derived: same sealed evidence, same bytes. Status is not verdict, and neither is a mechanical outcome; none of
the three has a truth value here (they are plain words in records, never compared as booleans).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from oyer.records.case import Condition, Status
from oyer.records.evaluator import PartJudgement
from oyer.records.matched import ControlState
from oyer.records.model import Json, Record
from oyer.records.pressed import Pressed
from oyer.records.rubric import Verdict

__all__ = [
    "LAYERS",
    "ArmRef",
    "Attribution",
    "ClaimVerdict",
    "Comparison",
    "Contrast",
    "CriterionVerdict",
    "LayerFact",
    "LinkResult",
    "MechanicalOutcome",
    "Outcome",
    "Performed",
    "Reason",
    "Scored",
    "SegmentOutcome",
    "TrialError",
]

MechanicalOutcome = Literal["CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE"]
Contrast = Literal["same_effect", "passed_on_approval", "not_tested", "differs", "undetermined"]
LAYERS = (
    "invocation",
    "original_result",
    "modified_result",
    "persistence",
    "later_consumption",
    "higher_authority_invocation",
    "external_effect",
)
Layer = Literal[
    "invocation",
    "original_result",
    "modified_result",
    "persistence",
    "later_consumption",
    "higher_authority_invocation",
    "external_effect",
]
LinkState = Literal["matched", "absent", "broken", "removed_by_policy", "not_reached"]


class LayerFact(Record):
    """One fact of one layer, with the sealed events that show it."""

    layer: Layer
    what: str
    session: str | None = None
    evidence: tuple[str, ...] = Field(min_length=1)


class TrialError(Record):
    """What ended a trial that did not complete."""

    where: str
    error_class: str
    message: str


class CriterionVerdict(Record):
    """One criterion of one claim, from the judgements of its planned evaluators."""

    criterion: str
    verdict: Verdict
    parts: tuple[PartJudgement, ...] = ()
    reasons: tuple[str, ...] = ()


class ClaimVerdict(Record):
    """What a claim about the subject came to. `may_be_cited` is false where something bars it from claims and gates."""

    claim: str
    text: str
    rubric: str
    rubric_digest: str
    verdict: Verdict
    criteria: tuple[CriterionVerdict, ...]
    may_be_cited: bool
    reasons: tuple[str, ...] = ()
    sentence: str


class Performed(Record):
    """Whether the subject did what a case expects of it: read from `expected`, `forbidden` and `refusal`."""

    state: ControlState
    evidence: tuple[str, ...] = ()
    why: str = ""


class SegmentOutcome(Record):
    """What one case came to inside a sequence, from what was witnessed in its own turns."""

    case: str
    case_digest: str
    order: int = Field(ge=0)
    verdicts: tuple[ClaimVerdict, ...] = ()
    performed: Performed | None = None
    pressure: Pressed


class Outcome(Record):
    """Everything about one trial. Its form is fixed before the run; the values follow from sealed evidence."""

    oyer: Literal["Outcome@1"] = "Outcome@1"
    trial: str
    run: str | None
    case: str
    case_digest: str
    subject: str
    repetition: int
    condition: Condition | Literal["plain", "neutral"]
    attempt: int
    attempts: int
    status: Status
    stopped_by: str | None = None
    error: TrialError | None = None
    faults: tuple[TrialError, ...] = ()
    observations: tuple[LayerFact, ...] = ()
    measurements: Mapping[str, int | None] = Field(default_factory=dict)
    said: tuple[str, ...] = Field(default=(), description="what the subject said last in each session: rank text")
    form: str | None = Field(default=None, description="digest of the OutcomeForm that was fixed before the run")
    verdicts: tuple[ClaimVerdict, ...] = ()
    performed: Performed | None = None
    pressure: Pressed | None = Field(default=None, description="of a case with rounds of pressure")
    segments: tuple[SegmentOutcome, ...] = Field(default=(), description="of a sequence, one for each of its cases")
    uncertainty: Mapping[str, Json] = Field(default_factory=dict)
    cost_usd_micros: int | None = None
    latency_ns: int | None = None
    pins: str | None = Field(default=None, description="digest of the PinSet as observed in this trial")
    evidence: str | None = Field(description="digest of the stored bytes of the packed journals")
    evidence_defects: tuple[str, ...] = ()


class Reason(Record):
    """Why nothing was concluded: a stable code, the link or thing it is about, a sentence, and evidence."""

    code: str
    about: str | None = None
    arm: Condition | None = None
    sentence: str
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The code with what it is about, as printed: `EXPOSURE_INCOMPLETE:memo`."""
        return self.code if self.about is None else f"{self.code}:{self.about}"


class LinkResult(Record):
    """How far one declared link got in one arm."""

    id: str
    layer: Layer
    stage: Literal["opening", "exposure", "promotion"]
    state: LinkState
    evidence: tuple[str, ...] = ()


class Attribution(Record):
    """Why an unmatched effect link did not match: the first cause that applies, and every attempted action."""

    link: str
    cause: str
    attempts: tuple[str, ...] = ()


class Scored(Record):
    """The mechanical outcome of one pair of arms, with all its reasons."""

    pair: Literal["baseline_vs_manipulated", "baseline_vs_hardened"]
    mechanical_outcome: MechanicalOutcome
    reasons: tuple[Reason, ...]
    links: tuple[LinkResult, ...]
    attribution: tuple[Attribution, ...] = ()
    decision_order: Literal["witnessed", "not_witnessed"]
    chain_complete_before_error: bool = False
    evidence: tuple[str, ...] = ()
    sentence: str


class ArmRef(Record):
    """One arm of a comparison: which sealed attempt stands for it."""

    condition: Condition
    trial: str
    run: str | None
    attempt: int | None
    status: Status | None
    stopped_by: str | None = None
    evidence: str | None
    links: tuple[LinkResult, ...] = ()


class Comparison(Record):
    """The arms of one repetition side by side. The hardened arm has its own outcome, never the primary's."""

    oyer: Literal["Comparison@1"] = "Comparison@1"
    case: str
    case_digest: str
    subject: str
    repetition: int
    primary: Scored
    hardened: Scored | None = None
    hardened_contrast: Contrast | None = None
    policy: str | None = None
    arms: tuple[ArmRef, ...]
    not_pinned: tuple[str, ...] = ()
    not_shown: tuple[str, ...]
