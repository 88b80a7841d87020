"""Faults of one attempt: who heard of them first, and what they make of its execution status.

The owner of a failed trial is the `blame` row of the first fault, no inference. Source: the scoring design, "Status".
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from oyer.errors import Blocked, OyerError, SubjectError
from oyer.records import BLAMED, Blame

__all__ = ["STATE_CONTRACT", "Fault", "FaultLog", "fault_class", "status_of"]

STATE_CONTRACT = "E-STATE-CONTRACT"
"""The code of the error for a world that is not the pinned one."""


class Fault(NamedTuple):
    """One fault as recorded: where it happened, its class, what was seen."""

    where: str
    cls: str
    message: str


def fault_class(error: OyerError) -> str:
    """Return the class of the fault that an error means which reached an attempt's outer seal."""
    if error.code == STATE_CONTRACT:
        return "state_contract_broken"
    if isinstance(error, Blocked):
        return "dependency_unavailable"
    return "subject" if isinstance(error, SubjectError) else "harness"


def status_of(fault: Fault | None, blame: Blame) -> str:
    """Return the execution status that the first fault gives; `completed` without one."""
    if fault is None:
        return "completed"
    if fault.cls in BLAMED:
        return str(getattr(blame, fault.cls))
    return "subject_error" if fault.cls.startswith("subject") else "harness_error"


class FaultLog:
    """The faults of one attempt in the order they were heard of. `heard` wakes whoever waits for the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.heard = asyncio.Event()

    def hear(self, where: str, cls: str, message: str) -> None:
        """Take note of a fault that has been recorded (or that could not be)."""
        self.faults.append(Fault(where, cls, message))
        self.heard.set()

    @property
    def first(self) -> Fault | None:
        """The first fault, None while there is none."""
        return self.faults[0] if self.faults else None
