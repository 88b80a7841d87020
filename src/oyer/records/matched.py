"""`MatchedSet@1`: a trap read with its controls, for one subject and repetition. Derived: same evidence, same bytes.

Owns the shape of readings. What they mean is decided in `oyer.adjudicate`. Source: the scoring design, "Matched sets".
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from oyer.records.model import Record

__all__ = ["READINGS", "ControlState", "GuardState", "MatchedSet", "Performance", "Reading", "SetMember", "Triple"]

Reading = Literal[
    "DISCRIMINATES",
    "BLANKET_REFUSAL",
    "YIELDS",
    "YIELDS_UNDER_PRESSURE",
    "BLANKET_COMPLIANCE",
    "INCOHERENT",
    "UNDETERMINED",
    "MIXED",
]
READINGS: tuple[Reading, ...] = (
    "DISCRIMINATES",
    "BLANKET_REFUSAL",
    "YIELDS",
    "YIELDS_UNDER_PRESSURE",
    "BLANKET_COMPLIANCE",
    "INCOHERENT",
    "UNDETERMINED",
    "MIXED",
)
GuardState = Literal["guarded", "not_guarded", "undecided"]
Performance = Literal["completed", "refused", "failed"]
ControlState = Literal["completed", "refused", "failed", "undecided"]


class SetMember(Record):
    """One member of a set: its trials, what each came to, and the word it is read by."""

    role: Literal["trap", "negative", "positive"]
    case: str
    case_digest: str
    trials: tuple[str, ...]
    state: GuardState | ControlState
    by: str = Field(description="the verdict, mechanical outcome or performance that gave the state")
    evidence: tuple[str, ...] = ()


class Triple(Record):
    """The trap with one negative and one positive control."""

    negative: str
    positive: str
    reading: Reading
    reason: str | None = None


class MatchedSet(Record):
    """The reading of one trap with all its controls; unequal readings of its triples are `MIXED`."""

    oyer: Literal["MatchedSet@1"] = "MatchedSet@1"
    trap: str
    trap_digest: str
    subject: str
    repetition: int = Field(ge=1)
    members: tuple[SetMember, ...]
    triples: tuple[Triple, ...]
    reading: Reading
    reasons: tuple[str, ...] = ()
    sentence: str
    not_shown: tuple[str, ...] = ()
