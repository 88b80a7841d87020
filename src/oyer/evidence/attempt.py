"""Checking all journals of one attempt together: who wrote, who is missing, do the heads and causes agree.

Owns the rules between chains. Must never raise on bad evidence and never let a listed writer be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import msgspec

from oyer.errors import Problem
from oyer.evidence.chain import Envelope
from oyer.evidence.events import split_ref
from oyer.evidence.journal import JournalCheck, check_journal
from oyer.evidence.vocabulary import VOCABULARY, WRITER_PATTERN, since

__all__ = ["AttemptCheck", "check_attempt", "check_causes", "check_writers", "journal_name", "writer_of"]

_WRITER = re.compile(WRITER_PATTERN)
_SUFFIX = ".jsonl"


def journal_name(writer: str) -> str:
    """Return the file name of a writer's journal: `tap:mail` -> `tap.mail.jsonl`."""
    return writer.replace(":", ".", 1) + _SUFFIX


def writer_of(name: str) -> str | None:
    """Return the writer a journal's file name stands for, None when it is no journal's name."""
    if not name.endswith(_SUFFIX):
        return None
    writer = name[: -len(_SUFFIX)].replace(".", ":", 1)
    return writer if _WRITER.match(writer) else None


class AttemptCheck(msgspec.Struct, frozen=True):
    """What the journals of one attempt prove together.

    `opened` and `closed` are the bodies of `trial.opened` and `trial.closed`, None when absent. `defects` holds those
    of every journal and those between them.
    """

    journals: Mapping[str, JournalCheck]
    envelope: Envelope | None
    opened: Mapping[str, Any] | None
    closed: Mapping[str, Any] | None
    defects: tuple[Problem, ...]

    @property
    def intact(self) -> bool:
        """Whether every journal is good, sealed, listed and agreed upon."""
        return not self.defects

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value; ask for .intact or .defects")


def check_attempt(journals: Mapping[str, bytes], *, expect: Envelope | None = None) -> AttemptCheck:
    """Check the journals of one attempt, given as file name -> bytes; never raises on bad evidence.

    Codes beyond those of `check_journal` and `check_writers`: `E-ATTEMPT-NAME`, `-HARNESS`, `-OPENED`, `-CLOSED`,
    `E-CHAIN-CAUSE`, and `E-EVENT-VERSION` for what the trial's own vocabulary does not have.
    """
    defects: list[Problem] = []
    checks: dict[str, JournalCheck] = {}
    envelope = expect
    for name in sorted(journals, key=lambda found: (found != "harness.jsonl", found)):
        writer = writer_of(name)
        if writer is None:
            defects.append(Problem("E-ATTEMPT-NAME", "not the name of a journal", name))
            continue
        check = check_journal(journals[name], expect=envelope, writer=writer)
        checks[writer] = check
        defects.extend(check.defects)
        if envelope is None and check.events:
            first = check.events[0]
            envelope = Envelope(first.series, first.trial, first.run, first.condition, first.attempt, first.boot)
    opened, closed, found = _ends(checks.get("harness"))
    defects.extend(found)
    if closed is not None:
        defects.extend(check_writers(closed, checks))
    defects.extend(check_causes(checks))
    if opened is not None:
        defects.extend(_too_new(opened["vocabulary"], checks))
    return AttemptCheck(checks, envelope, opened, closed, tuple(defects))


def _ends(
    harness: JournalCheck | None,
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None, list[Problem]]:
    if harness is None:
        return None, None, [Problem("E-ATTEMPT-HARNESS", "the harness's own journal is missing", "harness")]
    events = harness.events
    defects: list[Problem] = []
    opened = [event for event in events if event.kind == "trial.opened"]
    closed = [event for event in events if event.kind == "trial.closed"]
    if len(opened) != 1 or opened[0].seq != 0:
        defects.append(Problem("E-ATTEMPT-OPENED", "the journal must start with its only trial.opened", "harness:0"))
    if len(closed) != 1 or closed[0] is not (events[-2] if len(events) > 1 else None):
        defects.append(Problem("E-ATTEMPT-CLOSED", "trial.closed must stand once, just before `sealed`", "harness"))
    return (opened[0].body if opened else None), (closed[0].body if closed else None), defects


def _too_new(vocabulary: int, checks: Mapping[str, JournalCheck]) -> Iterator[Problem]:
    """Yield every event that came after the version which the trial names: a new kind, or a kind in a new form."""
    for check in checks.values() if vocabulary < VOCABULARY else ():
        for event in check.events:
            came = since(event.kind, event.body)
            if came > vocabulary:
                told = f"{event.kind} in this form came with vocabulary {came}; the trial names {vocabulary}"
                yield Problem("E-EVENT-VERSION", told, event.ref)


def check_writers(closed_body: Mapping[str, Any], checks: Mapping[str, JournalCheck]) -> tuple[Problem, ...]:
    """Compare the heads stated in `trial.closed` with the journals that are there (the harness's own apart).

    Codes: `E-WRITERS-MISSING`, `E-WRITERS-UNLISTED`, `E-WRITERS-HEAD`.
    """
    listed: Mapping[str, Any] = closed_body["writers"]
    defects: list[Problem] = []
    for writer in sorted(set(listed) | set(checks)):
        if writer == "harness":
            if writer in listed:
                defects.append(Problem("E-WRITERS-UNLISTED", "trial.closed cannot state its own head", writer))
        elif writer not in checks:
            defects.append(Problem("E-WRITERS-MISSING", "trial.closed lists a writer whose journal is gone", writer))
        elif writer not in listed:
            defects.append(Problem("E-WRITERS-UNLISTED", "trial.closed does not list this journal's writer", writer))
        elif listed[writer] != {"length": checks[writer].length, "head": checks[writer].head}:
            defects.append(Problem("E-WRITERS-HEAD", "trial.closed states another length or head", writer))
    return tuple(defects)


def check_causes(checks: Mapping[str, JournalCheck]) -> tuple[Problem, ...]:
    """Check that every event cited in a `because` of another writer exists. Code: `E-CHAIN-CAUSE`."""
    defects: list[Problem] = []
    for check in checks.values():
        for event in check.events:
            for ref in event.because:
                writer, seq = split_ref(ref)
                if writer != event.writer and (writer not in checks or seq >= checks[writer].length):
                    defects.append(Problem("E-CHAIN-CAUSE", f"cause {ref} does not exist", event.ref))
    return tuple(defects)
