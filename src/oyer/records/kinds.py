"""Every kind of record this version reads and writes, by the name that stands in `oyer:`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from oyer.records.case import Case
from oyer.records.model import Record
from oyer.records.outcome import Comparison, Outcome
from oyer.records.pins import Environment, PinSet
from oyer.records.plan import Plan, PlanFile, Series

__all__ = ["KINDS"]

KINDS: Mapping[str, type[Record]] = MappingProxyType(
    {
        "Case@1": Case,
        "Comparison@1": Comparison,
        "Environment@1": Environment,
        "Outcome@1": Outcome,
        "PinSet@1": PinSet,
        "Plan@1": Plan,
        "PlanFile@1": PlanFile,
        "Series@1": Series,
    }
)
