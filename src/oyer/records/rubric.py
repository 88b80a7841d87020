"""`Rubric@1`: what a claim is judged by, as facts that are supported or refuted, with thresholds declared first.

Owns the shape of criteria and parts. How the states of parts become a verdict is `oyer.adjudicate`; how evidence
decides one part is `oyer.observe`. A rubric is never lax about what is missing: `unknown` or stricter.

Source: the scoring design, "Verdicts".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.matchers import EvidenceMatcher, Rank
from oyer.records.model import Flaw, Record, refuse

__all__ = ["CLAIM_RULES", "VERDICTS", "Criterion", "Fact", "Part", "Rubric", "Thresholds", "Verdict"]

Verdict = Literal["PASS", "PARTIAL", "FAIL", "CONTRADICTED", "UNKNOWN", "DISPUTED"]
VERDICTS: tuple[Verdict, ...] = ("PASS", "PARTIAL", "FAIL", "CONTRADICTED", "UNKNOWN", "DISPUTED")
ClaimRule = Literal["all", "any", "weighted"]
CLAIM_RULES: tuple[ClaimRule, ...] = ("all", "any", "weighted")

Fact = str | EvidenceMatcher
"""A matcher written out, or the id of one under `expected` or `forbidden` of the case."""


class Part(Record):
    """One fact. Exactly one of `supports`, `refutes`, `evaluator` says how it is known.

    `supports`: a match supports the fact. `refutes`: a match refutes it. Several facts in a list are witnesses of one
    fact at different ranks; `decided_by` names the rank that decides, the highest of its witnesses by default.
    `absence`: nothing was found, and that supports the fact, where the instrument watched, the stimulus was delivered
    and the subject itself ended a turn after it. `asserts` finds the subject claiming the contrary of a refuted fact;
    with `when_asserted` the part asks nothing of a subject that did not claim it.
    """

    supports: tuple[Fact, ...] = ()
    refutes: tuple[Fact, ...] = ()
    evaluator: str | None = None
    decided_by: Rank | None = None
    absence: bool = False
    stimulus: EvidenceMatcher | None = None
    asserts: EvidenceMatcher | None = None
    when_asserted: bool = False
    weight: float = Field(default=1.0, gt=0, le=1_000_000)

    @model_validator(mode="after")
    def _one_way_to_know(self) -> Self:
        ways = [name for name in ("supports", "refutes", "evaluator") if getattr(self, name)]
        flaws: list[Flaw] = []
        if len(ways) != 1:
            flaws.append(Flaw((), "a part says how its fact is known: exactly one of supports, refutes, evaluator"))
        if self.absence and ways != ["refutes"]:
            flaws.append(Flaw(("absence",), "only a part that something refutes can rest on its absence"))
        if self.stimulus is not None and not self.absence:
            flaws.append(Flaw(("stimulus",), "a stimulus belongs to a part about absence"))
        if self.stimulus is not None and self.stimulus.form not in ("called", "witnessed", "provider"):
            flaws.append(Flaw(("stimulus",), "a stimulus happens at a moment: a call, an effect or a model's answer"))
        if self.when_asserted and self.asserts is None:
            flaws.append(Flaw(("when_asserted",), "it needs `asserts`, which finds what was asserted"))
        if self.asserts is not None and self.asserts.form != "called":
            flaws.append(Flaw(("asserts",), "an assertion is read from a typed channel: a call", "name it with called"))
        if flaws:
            refuse(*flaws)
        return self

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is looked for; empty where an evaluator of its own knows."""
        return self.supports or self.refutes


class Criterion(Record):
    """A list of facts that together decide one question. The evaluators that judge it are planned here.

    `quorum` is how many admissible voices it needs.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    text: str = ""
    parts: tuple[Part, ...] = Field(min_length=1, description="no parts, no criterion")
    evaluators: tuple[str, ...] = ("oyer.parts",)
    quorum: int = Field(default=1, ge=1)
    weight: float = Field(default=1.0, gt=0, le=1_000_000)

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        flaws: list[Flaw] = []
        if not self.evaluators or len(set(self.evaluators)) != len(self.evaluators):
            flaws.append(Flaw(("evaluators",), "at least one evaluator, each named once"))
        if self.quorum > len(self.evaluators):
            flaws.append(Flaw(("quorum",), f"{len(self.evaluators)} evaluators can never be {self.quorum} voices"))
        if flaws:
            refuse(*flaws)
        return self


class Thresholds(Record):
    """0 < partial <= pass <= 1, as shares of weight. Without `partial` there is no partial credit."""

    pass_: float = Field(default=1.0, alias="pass", gt=0, le=1)
    partial: float | None = Field(default=None, gt=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.partial is not None and self.partial > self.pass_:
            refuse(Flaw(("partial",), "the threshold of PARTIAL lies above that of PASS", "partial <= pass"))
        return self

    @property
    def lowest(self) -> float:
        """The share from which it is at least PARTIAL; that of PASS where there is no partial credit."""
        return self.pass_ if self.partial is None else self.partial


class Rubric(Record):
    """Criteria, the verdicts that may be used, thresholds, and what missing evidence means. Pinned by its digest."""

    oyer: Literal["Rubric@1"]
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    revision: int = Field(default=1, ge=1)
    title: str = ""
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    claim: ClaimRule = "all"
    thresholds: Thresholds = Thresholds()
    partial_value: float | None = Field(default=None, gt=0, lt=1, description="what PARTIAL counts in `weighted`")
    vocabulary: tuple[Verdict, ...] = VERDICTS
    missing_evidence: Literal["unknown", "block_claim"] = "unknown"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        flaws = list(self._criteria_flaws())
        missing = [verdict for verdict in VERDICTS if verdict not in ("PARTIAL", *self.vocabulary)]
        if missing:
            told = f"{', '.join(missing)} is missing: only PARTIAL may be left out of a vocabulary"
            flaws.append(Flaw(("vocabulary",), told))
        if len(set(self.vocabulary)) != len(self.vocabulary):
            flaws.append(Flaw(("vocabulary",), "a verdict is listed twice"))
        if self.thresholds.partial is not None and "PARTIAL" not in self.vocabulary:
            flaws.append(Flaw(("thresholds", "partial"), "a threshold for PARTIAL, which the vocabulary leaves out"))
        if self.claim == "weighted" and self.partial_value is None and "PARTIAL" in self.vocabulary:
            flaws.append(Flaw(("partial_value",), "a weighted claim says what PARTIAL counts", "for instance 0.5"))
        if self.claim != "weighted" and self.partial_value is not None:
            flaws.append(Flaw(("partial_value",), f"it belongs to `claim: weighted`, not to {self.claim}"))
        if flaws:
            refuse(*flaws)
        return self

    @property
    def evaluator_ids(self) -> tuple[str, ...]:
        """Everybody who is to judge anything here, each once."""
        voices = (name for criterion in self.criteria for name in criterion.evaluators)
        parts = (part.evaluator for criterion in self.criteria for part in criterion.parts)
        return tuple(dict.fromkeys((*voices, *(name for name in parts if name is not None))))

    def _criteria_flaws(self) -> Iterator[Flaw]:
        seen: set[str] = set()
        for index, criterion in enumerate(self.criteria):
            if criterion.id in seen:
                yield Flaw(("criteria", index, "id"), f"criterion {criterion.id!r} is declared twice")
            seen.add(criterion.id)
