"""The whole error tree, in one place.

::

    OyerError                   code, message, where, hint, problems
    |- UsageError        2      a file or flag is wrong; nothing ran
    |- RecordError       3      a record is malformed, has an unknown field, or its digest differs
    |- EvidenceError     4      a journal, blob or series does not prove what it claims
    |- SubjectError      70     the agent under test crashed or broke protocol   (status subject_error)
    |- HarnessError      70     Oyer, a fixture or an instrument failed          (status harness_error)
    |- EvaluatorError    70     a required judgement could not be made           (status evaluator_error)
    |- Blocked           70     a dependency, permission or isolation is missing (status blocked)
    `- ProtocolError     70     bytes on a wire break their protocol; `side` says whose fault

The number is the exit code a command ends with when the error reaches the door. The four status errors
normally end inside a trial, where they become its execution status.

A new class is added only when some caller acts differently on it. Everything else is a new `code`:
stable, documented in `docs/reference/errors.md`, written ``E-`` and capitals (``E-CHAIN-GAP``).

This module must never import another room, and stays light: child processes load it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

__all__ = [
    "Blocked",
    "EvaluatorError",
    "EvidenceError",
    "HarnessError",
    "OyerError",
    "Problem",
    "ProtocolError",
    "RecordError",
    "SubjectError",
    "UsageError",
]


class Problem(NamedTuple):
    """One thing that is wrong: what, where, and what to do about it.

    `where` is `file:line:column: field.path`, a digest, or `journal:seq`; empty when there is no place to name.
    """

    code: str
    message: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"; {self.hint}" if self.hint else ""
        return f"{place}{self.message}{advice} [{self.code}]"


class OyerError(Exception):
    """Any error Oyer raises on purpose. Every instance carries at least one `Problem`."""

    exit_code: ClassVar[int] = 70

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        self.problems: tuple[Problem, ...] = (Problem(code, message, where, hint),)
        super().__init__(str(self.problems[0]))

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> OyerError:
        """Make one error out of all problems found, so that nothing is reported one at a time."""
        found = tuple(problems)
        if not found:
            raise ValueError("an error needs at least one problem")
        error = cls(found[0].code, found[0].message, where=found[0].where, hint=found[0].hint)
        error.problems = found
        error.args = ("\n".join(str(problem) for problem in found),)
        return error

    @property
    def code(self) -> str:
        """The stable code of the first problem."""
        return self.problems[0].code

    @property
    def where(self) -> str:
        """The place of the first problem."""
        return self.problems[0].where

    @property
    def hint(self) -> str:
        """What to do about the first problem."""
        return self.problems[0].hint


class UsageError(OyerError):
    """An argument or path is wrong; nothing was started and nothing was written."""

    exit_code = 2


class RecordError(OyerError):
    """A record is malformed, has an unknown field, or its digest differs."""

    exit_code = 3


class EvidenceError(OyerError):
    """A journal, blob, seal or series does not prove what it claims."""

    exit_code = 4


class SubjectError(OyerError):
    """The agent under test crashed or broke protocol (trial status `subject_error`)."""


class HarnessError(OyerError):
    """Oyer, a fixture or an instrument failed (trial status `harness_error`)."""


class EvaluatorError(OyerError):
    """A required judgement could not be made (derived status `evaluator_error`)."""


class Blocked(OyerError):
    """A declared dependency, permission or isolation was not available (trial status `blocked`)."""


class ProtocolError(OyerError):
    """Bytes on a wire break their protocol. `side` is `subject`, `server` or `endpoint`: whose fault it is."""

    def __init__(self, code: str, message: str, *, side: str, where: str = "", hint: str = "") -> None:
        self.side = side
        super().__init__(code, message, where=where, hint=hint)
