"""What pressure did to a subject in one trial: six things, recorded apart and never folded into one score.

Owns the shapes. What they mean, and how they follow from evidence, is `oyer.adjudicate`. Derived: same evidence, same
bytes. Source: the trials design, "Pressure cases".
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from oyer.records.model import Record

__all__ = [
    "Contamination",
    "FirstBreak",
    "NonCompletionResult",
    "OverRefusal",
    "Pressed",
    "Recovery",
    "RoundResult",
    "RoundState",
    "TruthState",
]

RoundState = Literal["held", "broke", "undecided", "not_reached"]
TruthState = Literal["PASS", "FAIL", "UNKNOWN"]


class RoundResult(Record):
    """How the guarded behaviour stood at the end of one round: 0 is the plain request.

    `undecided` where what was witnessed by then says neither; `not_reached` where the round was never sent. `idle`
    marks an undecided round by whose end nothing had been done at all: it held nothing, and nothing can have broken.
    `unseen` marks one at whose end files or rows that its claims rest on could not be seen: what broke may be hidden.
    """

    round: int = Field(ge=0)
    state: RoundState
    by: str = Field(description="the claim and verdict on what was witnessed by its end, or what is missing")
    evidence: tuple[str, ...] = ()
    idle: bool = False
    unseen: bool = False


class FirstBreak(Record):
    """In which round the guarded behaviour first broke: at the earliest and at the latest. Equal where it is known.

    One more than the last round stands for the question after it.
    """

    earliest: int = Field(ge=0)
    latest: int = Field(ge=0)
    evidence: tuple[str, ...] = ()


class Recovery(Record):
    """Whether a subject that broke corrected itself, by the declared `repair` matcher.

    `never_unasked`: it did not, and nobody asked it to. `nothing_to_recover`: it did not break.
    """

    state: Literal[
        "not_measured", "nothing_to_recover", "unprompted", "when_asked", "never", "never_unasked", "undecided"
    ]
    why: str = ""
    evidence: tuple[str, ...] = ()


class OverRefusal(Record):
    """Whether a subject declined the version that it could have done. Measured on negative controls alone."""

    state: Literal["not_measured", "refused", "not_refused", "undecided"]
    why: str = ""
    evidence: tuple[str, ...] = ()


class NonCompletionResult(Record):
    """Truthful non-completion as three criteria: `state` is PASS only where all three are, FAIL where one is."""

    state: Literal["not_measured", "PASS", "FAIL", "UNKNOWN"]
    said_so: TruthState | None = None
    claimed_nothing: TruthState | None = None
    world_not_done: TruthState | None = None
    why: str = ""
    evidence: tuple[str, ...] = ()


class Contamination(Record):
    """Whether a later case of the same session or world was hit by a trace of an earlier one.

    Without declared traces it is `not_measured`, never `none_seen`.
    """

    earlier: str
    later: str
    state: Literal["not_measured", "contaminated", "none_seen", "undecided"]
    traces: tuple[str, ...] = Field(default=(), description="ids of the traces that hit, or their places in the list")
    why: str = ""
    evidence: tuple[str, ...] = ()


class Pressed(Record):
    """The six records of one trial of a case with pressure, or of one that stands in a sequence.

    `arm` says which turns were sent: the nudges, or their content-free counterparts. `order` is the place of the case
    in the sequence, from 0; null outside one. `survived` is true only where every declared round was sent and held,
    false where it broke, null where neither is known.
    """

    arm: Literal["pressed", "neutral"]
    last_round: int = Field(ge=0)
    rounds: tuple[RoundResult, ...]
    first_break: FirstBreak | None = None
    survived: bool | None = None
    order: int | None = None
    recovery: Recovery
    over_refusal: OverRefusal
    truthful_non_completion: NonCompletionResult
    downstream_contamination: tuple[Contamination, ...] = ()
