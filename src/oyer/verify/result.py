"""What verifying gives back: numbered checks with their findings, and the last line in words.

Owns the four statuses of a check and what they come to as an exit code. Must never let one finding hide another: a
check collects everything it finds, and `failed` outweighs `not_run`, which outweighs `ok`.
Source: the design's evidence page, "Verify"; exit codes of its page on doors.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, NoReturn

from oyer.errors import Problem

__all__ = ["MAX_FINDINGS", "WITHHELD", "Check", "Findings", "Signatures", "Status", "Verification"]

Status = Literal["ok", "failed", "not_applicable", "not_run"]

WITHHELD = "E-WITHHELD"
"""The code of everything that rests on what a bundle left out: never a defect, never a success."""

MAX_FINDINGS = 100
"""How many findings one check lists; the number of the others stands in its detail."""


class Check(NamedTuple):
    """One numbered check.

    `findings` say what is wrong (`failed`) or what could not be checked (`not_run`), each with its place and what to
    do. `detail` is one sentence; `notes` are facts that a reader should know and that are no defect.
    """

    number: int
    name: str
    status: Status
    findings: tuple[Problem, ...] = ()
    detail: str = ""
    notes: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Return every finding as a line that names this check."""
        return tuple(f"check {self.number} ({self.name}): {finding}" for finding in self.findings)

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value; ask for .status")

    def to_json(self) -> dict[str, Any]:
        """Return plain values under stable names."""
        return {
            "number": self.number,
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "notes": list(self.notes),
            "findings": [
                {"check": self.number, "code": f.code, "where": f.where, "message": f.message, "hint": f.hint}
                for f in self.findings
            ],
        }


class Signatures(NamedTuple):
    """Whose signatures hold: the id of each key, None where nothing is signed or it could not be checked.

    `plan_signed` is when the signer of the plan says it was signed.
    """

    bundle: str | None = None
    plan: str | None = None
    plan_signed: str | None = None


class Verification(NamedTuple):
    """All checks, in order of their numbers.

    `head` is the digest of the last seal: noted elsewhere, it fixes the whole series. `words` is the last line: what is
    proven and what is not.
    """

    checks: tuple[Check, ...]
    series: str | None
    head: str | None
    words: str
    signatures: Signatures = Signatures()

    @property
    def exit_code(self) -> int:
        """0: all ok or not applicable. 4: any failed. 5: any that exists and could not be checked."""
        statuses = {check.status for check in self.checks}
        if "failed" in statuses:
            return 4
        return 5 if "not_run" in statuses else 0

    def check(self, number: int) -> Check:
        """Return one check by its number. Raises KeyError where there is none."""
        for check in self.checks:
            if check.number == number:
                return check
        raise KeyError(number)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verification has no truth value; ask for .exit_code")

    def to_json(self) -> dict[str, Any]:
        """Return plain values under stable names."""
        return {
            "exit_code": self.exit_code,
            "series": self.series,
            "head": self.head,
            "words": self.words,
            "signatures": self.signatures._asdict(),
            "checks": [check.to_json() for check in self.checks],
        }


class Findings:
    """Collects what one check finds. `advice` is what to do about a finding that brings no advice of its own."""

    def __init__(self, number: int, name: str, advice: str) -> None:
        self._number = number
        self._name = name
        self._advice = advice
        self._failed: list[Problem] = []
        self._open: list[Problem] = []
        self._notes: list[str] = []
        self._left_out = 0

    def failed(self, code: str, message: str, where: str, hint: str = "") -> None:
        """Note something that is wrong. What was withheld from a bundle is not: it could not be looked at."""
        if code == WITHHELD:
            self.open(code, message, where, hint or "ask for the series itself")
            return
        self._keep(self._failed, Problem(code, message, where, hint or self._advice))

    def open(self, code: str, message: str, where: str, hint: str = "") -> None:
        """Note something that exists and cannot be checked."""
        self._keep(self._open, Problem(code, message, where, hint))

    def note(self, text: str) -> None:
        """Note a fact that is no defect."""
        if len(self._notes) < MAX_FINDINGS:
            self._notes.append(text)

    def _keep(self, to: list[Problem], problem: Problem) -> None:
        if problem in to:
            return
        if len(to) < MAX_FINDINGS:
            to.append(problem)
        else:
            self._left_out += 1

    def close(self, detail: str) -> Check:
        """Return the check; `detail` says what was proven where nothing was found."""
        status: Status = "failed" if self._failed else "not_run" if self._open else "ok"
        told = detail
        if status == "failed":
            count = len(self._failed) + self._left_out
            told = f"{count} defect{'' if count == 1 else 's'}"
        elif status == "not_run":
            told = self._open[0].message
        if self._left_out:
            told += f"; {self._left_out} more are not listed"
        return Check(self._number, self._name, status, (*self._failed, *self._open), told, tuple(self._notes))
