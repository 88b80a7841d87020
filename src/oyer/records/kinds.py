"""Every kind of record this version reads and writes, by the name that stands in `oyer:`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from oyer.records.case import Case
from oyer.records.endpoint import PriceTable
from oyer.records.evaluator import Evaluator, Judgement
from oyer.records.lock import OutcomeForm, SuiteLock
from oyer.records.matched import MatchedSet
from oyer.records.model import Record
from oyer.records.outcome import Comparison, Outcome
from oyer.records.pins import Environment, PinSet
from oyer.records.plan import Plan, PlanFile, Series
from oyer.records.project import Project
from oyer.records.qualification import Qualification
from oyer.records.rubric import Rubric
from oyer.records.suite import TrialSuite

__all__ = ["KINDS"]

KINDS: Mapping[str, type[Record]] = MappingProxyType(
    {
        "Case@1": Case,
        "Comparison@1": Comparison,
        "Environment@1": Environment,
        "Evaluator@1": Evaluator,
        "Judgement@1": Judgement,
        "MatchedSet@1": MatchedSet,
        "Outcome@1": Outcome,
        "OutcomeForm@1": OutcomeForm,
        "PinSet@1": PinSet,
        "Plan@1": Plan,
        "PlanFile@1": PlanFile,
        "PriceTable@1": PriceTable,
        "Project@1": Project,
        "Qualification@1": Qualification,
        "Rubric@1": Rubric,
        "Series@1": Series,
        "SuiteLock@1": SuiteLock,
        "TrialSuite@1": TrialSuite,
    }
)
