"""What would break the blindness of every arm, found before anything runs.

Owns the look at the places and words that subjects get from this machine and from the scripts of a case. Whether the
arms of a series were blind is decided from what they were given (`ARM_LEAK`); this only spares a run that cannot end
otherwise. Source: the design, "Blind arms".
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import oyer
from oyer.engine.request import CaseSource, SubjectSpec
from oyer.errors import UsageError
from oyer.host import RunDir, base_environment
from oyer.records import names_an_arm, plain

__all__ = ["require_blind"]


def require_blind(source: CaseSource, subjects: tuple[SubjectSpec, ...], rundir: RunDir) -> None:
    """Refuse a case whose subjects could read its id or a condition off this machine. Raises: UsageError."""
    case = source.case
    if case.intervention is None:
        return
    for what, text in _given(source, subjects, rundir):
        word = names_an_arm(text, case.id)
        if word is not None:
            raise UsageError(
                "E-ARM-WORD",
                f"{what} names {word!r}: every subject would be told what is tested, and nothing could be concluded",
                where=f"{case.id}: {text[:200]}",
                hint="rename the case" if word == case.id else "rename that place, or run from another one",
            )


def _given(source: CaseSource, subjects: tuple[SubjectSpec, ...], rundir: RunDir) -> Iterator[tuple[str, str]]:
    yield "the path of the interpreter", sys.executable
    yield "the path of Oyer itself", str(Path(oyer.__file__).parents[1])
    yield "the place of its world", str(rundir.world)
    for name, value in base_environment(rundir.home, rundir.temp, os.environ).items():
        yield f"the environment variable {name}", value
    for spec in subjects:
        if spec.model is not None:
            told = [spec.model.name, spec.model.system, dict(spec.model.parameters)]
            yield "what the model is asked with", json.dumps(told, default=str)
        elif source.case.doubles is not None:
            yield "a script of its doubles", json.dumps(plain(source.case.doubles))
