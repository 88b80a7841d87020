"""What may follow what in a ledger: the states of a series, its trials and its attempts.

Owns the table of record fields and the legal transitions. Must never let two attempts of a trial be open at once, a
trial that completed run again, or anything follow the end of the series.

planned -> claimed -> opened -> sealed(status) | torn(interrupted); planned or claimed -> refused; trial -> excluded.
A declared rule or budget stops a series, or a subject of it, while no attempt is open: `stopped`, since version 2 of
the ledger, which the first record then names.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, Protocol

import msgspec

from oyer.errors import Problem

__all__ = ["LEDGER_VERSION", "AttemptState", "LedgerState", "StopLine"]

LEDGER_VERSION = 2
"""The newest version of the ledger that this reader knows. One that names no version is of version 1."""


class AttemptState(msgspec.Struct, frozen=True, gc=False):
    """Where one attempt stands: `claimed`, `opened`, `sealed`, `torn` or `refused`."""

    attempt: int
    state: str
    run: str | None = None
    status: str | None = None
    digest: str | None = None
    why: str | None = None


class StopLine(msgspec.Struct, frozen=True, gc=False):
    """One line by which something declared before stopped trials: its place, `rule` or `budget`, and what it says."""

    seq: int
    why: str
    body: dict[str, Any]
    t_wall: str


class _Record(Protocol):
    @property
    def seq(self) -> int: ...
    @property
    def t_wall(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def trial(self) -> str | None: ...
    @property
    def attempt(self) -> int | None: ...
    @property
    def run(self) -> str | None: ...
    @property
    def status(self) -> Any: ...
    @property
    def digest(self) -> str | None: ...
    @property
    def why(self) -> str | None: ...
    @property
    def body(self) -> Any: ...


class _Fields(NamedTuple):
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


_FIELDS: dict[str, _Fields] = {
    "opened_series": _Fields(frozenset()),
    "claimed": _Fields(frozenset({"trial", "attempt"}), frozenset({"run", "why"})),
    "opened": _Fields(frozenset({"trial", "attempt", "run"})),
    "sealed": _Fields(frozenset({"trial", "attempt", "status", "digest"}), frozenset({"run", "why"})),
    "torn": _Fields(frozenset({"trial", "attempt", "status", "why"}), frozenset({"run", "digest"})),
    "refused": _Fields(frozenset({"trial", "attempt", "why"}), frozenset({"run"})),
    "excluded": _Fields(frozenset({"trial", "why"})),
    "stopped": _Fields(frozenset({"why"})),
    "closed": _Fields(frozenset(), frozenset({"why"})),
}
_OWN_TAIL = _Fields(frozenset())
STOP_FORMS: dict[str, dict[str, tuple[type, ...]]] = {
    "rule": {
        "subject": (str, type(None)),
        "rule": (str,),
        "units": (int,),
        "k": (int,),
        "other": (int, type(None)),
        "decided": (int,),
        "undecided": (int,),
        "log_e": (str,),
        "word": (str,),
    },
    "budget": {"what": (str,), "limit": (int,), "seen": (int,)},
}
"""What the body of `stopped` holds, by what stopped."""
_MAY_HOLD: dict[str, dict[str, tuple[type, ...]]] = {"budget": {"unknown": (int,)}}
"""What it may hold beside that: of how many trials it is not known what they used."""
_ENVELOPE = ("trial", "attempt", "run", "status", "digest", "why")
_NEXT = frozenset(
    {
        ("claimed", "opened"),
        ("claimed", "torn"),
        ("claimed", "refused"),
        ("opened", "sealed"),
        ("opened", "torn"),
    }
)
# An attempt with one of these ended for a reason outside the subject, so another attempt may follow it.
_RETRIABLE = frozenset({"harness_error", "blocked"})


class LedgerState:
    """Every attempt of a series, moved on by one record at a time."""

    __slots__ = (
        "_planned",
        "_runs",
        "attempts",
        "began",
        "closed",
        "closing",
        "ended",
        "excluded",
        "manifest",
        "opened",
        "plan",
        "stops",
        "version",
    )

    def __init__(self, planned: Collection[str] | None) -> None:
        self._planned = planned
        self._runs: set[str] = set()
        self.attempts: dict[str, tuple[AttemptState, ...]] = {}
        self.excluded: dict[str, str] = {}
        self.plan: str | None = None
        self.manifest: str | None = None
        self.closed = False
        self.closing: dict[str, Any] = {}
        self.version = 1
        self.stops: list[StopLine] = []
        self.began: dict[str, int] = {}
        self.opened: dict[str, int] = {}
        self.ended: dict[str, int] = {}

    def apply(self, record: _Record) -> Problem | None:
        """Move on by one record; returns what is wrong with it, and then nothing has changed."""
        problem = self._check_shape(record)
        if problem is not None:
            return problem
        if record.kind == "opened_series":
            self.plan, self.manifest = record.body["plan"], record.body["manifest"]
            self.version = record.body.get("ledger", 1)
            return None
        if record.kind == "stopped":
            return self._stop(record)
        if record.kind == "closed":
            return self._close(record.body)
        if record.trial is None:
            return None  # a mark on the ledger's own torn tail
        if self._planned is not None and record.trial not in self._planned:
            return Problem("E-LEDGER-UNPLANNED", f"trial {record.trial!r} is not in the plan")
        if record.kind == "excluded":
            return self._exclude(record.trial, record.why or "")
        return self._move(record, record.trial, record.attempt or 0)

    def _check_shape(self, record: _Record) -> Problem | None:
        if self.closed:
            return Problem("E-LEDGER-AFTER-CLOSE", "there is a record after the series was closed")
        fields = _OWN_TAIL if record.kind == "torn" and record.trial is None else _FIELDS[record.kind]
        present = {name for name in _ENVELOPE if getattr(record, name) is not None}
        if not fields.required <= present or not present <= fields.required | fields.optional:
            return Problem(
                "E-LEDGER-FIELDS", f"`{record.kind}` must have {sorted(fields.required)}, has {sorted(present)}"
            )
        opening = record.kind == "opened_series"
        if opening != (self.plan is None):
            return Problem("E-LEDGER-OPENING", "a ledger starts with its only `opened_series`")
        if opening and not all(isinstance(record.body.get(name), str) for name in ("plan", "manifest")):
            return Problem("E-LEDGER-FIELDS", "`opened_series` must state the digests of plan and manifest")
        version = record.body.get("ledger", 1) if opening else 1
        if version not in range(1, LEDGER_VERSION + 1):
            told = f"the ledger is of version {version}; the newest that this reader knows is {LEDGER_VERSION}"
            return Problem("E-LEDGER-VERSION", told)
        return None

    def _stop(self, record: _Record) -> Problem | None:
        """Take a stop in: none stands in a ledger of version 1, and none while an attempt is under way."""
        form, more = STOP_FORMS.get(record.why or ""), _MAY_HOLD.get(record.why or "", {})
        if self.version < 2:
            return Problem("E-LEDGER-VERSION", "`stopped` came with version 2 of the ledger, and this one names 1")
        if form is None or not set(form) <= set(record.body) <= {*form, *more}:
            told = ", ".join(f"{why}: {sorted(each)}" for why, each in STOP_FORMS.items())
            return Problem("E-LEDGER-FIELDS", f"`stopped` is by {told}")
        if not all(type(value) in {**form, **more}[name] for name, value in record.body.items()):
            return Problem("E-LEDGER-FIELDS", f"`stopped` by {record.why} does not hold what it must")
        running = next((t for t, states in self.attempts.items() if states[-1].state in {"claimed", "opened"}), None)
        if running is not None:
            return Problem("E-LEDGER-OPEN", f"trial {running!r} still has an open attempt")
        self.stops.append(StopLine(record.seq, record.why or "", record.body, record.t_wall))
        return None

    def _close(self, body: dict[str, Any]) -> Problem | None:
        for trial, states in self.attempts.items():
            if states[-1].state in {"claimed", "opened"}:
                return Problem("E-LEDGER-OPEN", f"trial {trial!r} still has an open attempt")
        self.closed, self.closing = True, body
        return None

    def _exclude(self, trial: str, why: str) -> Problem | None:
        states = self.attempts.get(trial, ())
        if trial in self.excluded or (states and states[-1].state in {"claimed", "opened"}):
            return Problem("E-LEDGER-TRANSITION", f"trial {trial!r} cannot be excluded now")
        self.excluded[trial] = why
        return None

    def _move(self, record: _Record, trial: str, attempt: int) -> Problem | None:
        states = self.attempts.get(trial, ())
        current = next((state for state in states if state.attempt == attempt), None)
        if record.kind == "refused" and current is not None and record.body.get("duplicate"):
            return None  # a second delivery of an attempt that somebody has: noted, and changes nothing
        if current is None:
            return self._start(record, trial, attempt, states)
        if (current.state, record.kind) not in _NEXT:
            said = f"attempt {attempt} of {trial!r} is {current.state}, it cannot become {record.kind}"
            return Problem("E-LEDGER-TRANSITION", said)
        return self._put(record, trial, current, states[:-1])

    def _start(self, record: _Record, trial: str, attempt: int, states: tuple[AttemptState, ...]) -> Problem | None:
        if record.kind not in {"claimed", "refused"} or trial in self.excluded:
            return Problem("E-LEDGER-TRANSITION", f"attempt {attempt} of {trial!r} is not there to be {record.kind}")
        if attempt != len(states) + 1:
            return Problem("E-LEDGER-ATTEMPT", f"attempt {attempt} of {trial!r} follows {len(states)} attempts")
        last = states[-1] if states else None
        if last is not None and (last.state in {"claimed", "opened"} or last.status not in _RETRIABLE | {None}):
            return Problem("E-LEDGER-ATTEMPT", f"trial {trial!r} needs no further attempt: the last is {last.state}")
        return self._put(record, trial, AttemptState(attempt, ""), states)

    def _put(
        self, record: _Record, trial: str, current: AttemptState, before: tuple[AttemptState, ...]
    ) -> Problem | None:
        if record.run is not None and record.run != current.run:
            if current.run is not None or record.run in self._runs:
                return Problem("E-LEDGER-RUN", f"run {record.run!r} is not this attempt's own")
            self._runs.add(record.run)
        moved = AttemptState(
            attempt=current.attempt,
            state=record.kind,
            run=record.run or current.run,
            status=record.status,
            digest=record.digest,
            why=record.why,
        )
        self.attempts[trial] = (*before, moved)
        self.began.setdefault(trial, record.seq)
        if record.kind == "opened":
            self.opened.setdefault(trial, record.seq)
        elif record.kind in {"sealed", "torn"}:
            self.ended[trial] = record.seq
        return None
