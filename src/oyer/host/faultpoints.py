"""Named fault points: places where a test may make the machine fail.

Owns the reading of `OYER_FAULT`; without it every point is a no-op. A point is reached by name just before
the step it names. The test-suite runs a command once per point and asks whether what is left on disk still
says the truth.

The value is `name[:n]=action`, several separated by commas: act at the n-th time (from 1) the point is
reached. Actions: `kill` (SIGKILL to this process), `enospc`, `eio` (an OSError is raised).
"""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Mapping
from typing import NamedTuple

from oyer.errors import UsageError

__all__ = ["FaultPlan", "parse_fault_plan", "reach"]

_ITEM = re.compile(r"(?P<name>[a-z][a-z0-9_.-]*)(?::(?P<nth>[1-9][0-9]{0,8}))?=(?P<action>[a-z]+)\Z")
_ERRNO = {"enospc": errno.ENOSPC, "eio": errno.EIO}
_ACTIONS = ("kill", *_ERRNO)


class Planned(NamedTuple):
    """What is to happen at the n-th time a point is reached."""

    nth: int
    action: str


class FaultPlan:
    """The faults asked for, and how often each point was reached so far."""

    __slots__ = ("_planned", "_reached")

    def __init__(self, planned: Mapping[str, Planned]) -> None:
        self._planned = dict(planned)
        self._reached: dict[str, int] = {}

    def reach(self, name: str) -> None:
        """Count one arrival at `name` and act if it is the planned one. Raises: OSError as planned."""
        planned = self._planned.get(name)
        if planned is None:
            return
        self._reached[name] = self._reached.get(name, 0) + 1
        if self._reached[name] != planned.nth:
            return
        if planned.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        number = _ERRNO[planned.action]
        raise OSError(number, os.strerror(number), f"fault point {name}")


def parse_fault_plan(text: str) -> FaultPlan:
    """Read the value of `OYER_FAULT`. Raises: UsageError (`E-FAULT-PLAN`)."""
    planned: dict[str, Planned] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        match = _ITEM.match(item)
        if match is None or match["action"] not in _ACTIONS:
            raise UsageError(
                "E-FAULT-PLAN", f"not a fault: {item!r}", where="OYER_FAULT", hint=f"name[:n]={'|'.join(_ACTIONS)}"
            )
        planned[match["name"]] = Planned(int(match["nth"] or 1), match["action"])
    return FaultPlan(planned)


_asked = os.environ.get("OYER_FAULT", "")
_plan = parse_fault_plan(_asked) if _asked else None


def reach(name: str) -> None:
    """Say that the step called `name` is about to happen. A no-op unless `OYER_FAULT` asks for more."""
    if _plan is not None:
        _plan.reach(name)
