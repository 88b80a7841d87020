"""`SuiteLock@1` and `OutcomeForm@1`: what a suite is, fixed before it runs, and what its outcomes will hold.

Owns the shapes. A lock holds every record in full, so that what moved can be said in words and not only as a digest.
Source: the records design, "Pinning".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from oyer.records.case import Case
from oyer.records.evaluator import Evaluator
from oyer.records.model import Record
from oyer.records.rubric import Rubric, Verdict
from oyer.records.suite import TrialSuite

__all__ = ["JudgedClaim", "LockedCase", "LockedServer", "OutcomeForm", "SuiteLock"]


class JudgedClaim(Record):
    """One claim that will be judged: by which rubric, and by the criteria in their order."""

    claim: str
    rubric: str
    rubric_digest: str
    criteria: tuple[str, ...]
    vocabulary: tuple[Verdict, ...]


class OutcomeForm(Record):
    """What an Outcome of a case will observe, measure, judge and retain. Its digest stands in the plan."""

    oyer: Literal["OutcomeForm@1"] = "OutcomeForm@1"
    case: str
    case_digest: str
    observed: tuple[str, ...] = Field(description="layers, and ids of the matchers that are looked for")
    measured: tuple[str, ...]
    judged: tuple[JudgedClaim, ...] = ()
    retained: tuple[str, ...] = Field(description="files of the world whose content is kept before and after")
    performance: bool = Field(description="whether `expected` is read as completed, refused or failed")


class LockedServer(Record):
    """One server as it answered when the suite was pinned: digests of the bytes it sent, `null` without an answer.

    Where those bytes name the directory of the run they were asked in, its placeholder is digested in its place.
    """

    command: tuple[str, ...]
    url: str | None = None
    initialize: str | None = None
    tools: str | None = None
    prompts: str | None = None
    resources: str | None = None
    tool_names: tuple[str, ...] = ()
    tool_digests: Mapping[str, str] = Field(default_factory=dict)
    tool_texts: Mapping[str, str] = Field(
        default_factory=dict, description="each tool's definition as it was sent, so that a difference has words"
    )
    problem: str | None = None


class LockedCase(Record):
    """One case in full, with its world and its servers as they were found."""

    digest: str
    record: Case
    world: str | None = None
    world_files: Mapping[str, str] = Field(default_factory=dict, description="path to sha256, for a world of files")
    servers: Mapping[str, LockedServer] = Field(default_factory=dict)
    form: str = Field(description="digest of its OutcomeForm")


class SuiteLock(Record):
    """The suite's side of what is pinned: cases, fixtures, schemas, rubrics, evaluators. Sorted and canonical."""

    oyer: Literal["SuiteLock@1"] = "SuiteLock@1"
    suite: TrialSuite
    suite_digest: str
    cases: Mapping[str, LockedCase]
    rubrics: Mapping[str, Rubric] = Field(default_factory=dict)
    evaluators: Mapping[str, Evaluator] = Field(default_factory=dict)
    plugins: Mapping[str, str] = Field(default_factory=dict, description="path to sha256 of one-file extensions")
