"""The sealed evidence of one trial as a plug-in sees it: read-only values, each with the events that show it.

Owns the small vocabulary of questions. The subject's reasoning, its prose and every other trial are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.adjudicate import read_absence
from oyer.observe import (
    Found,
    TrialFacts,
    call_failed,
    find_evidence,
    find_table,
    is_named,
    match_json,
    read_measurements,
    results_of,
    sink_unproven,
)
from oyer.records import Case, EvidenceMatcher, ToolName

__all__ = ["Call", "Evidence", "Exit", "File", "SinkEffect", "Table"]


class Call(NamedTuple):
    """One tool call of the subject. `result` is the server's structured answer or its text, None without an answer."""

    tool: str
    arguments: Any
    result: Any
    failed: bool | None
    session: str | None
    refs: tuple[str, ...]


class SinkEffect(NamedTuple):
    """One effect that a sink recorded, with its JSON content (None where it has none)."""

    content: Any
    refs: tuple[str, ...]


class File(NamedTuple):
    """One file of the world at the end. `content` is None where nobody kept it, `before` where it was not there.

    `before` and `after` are digests; a file that is gone has no `after`.
    """

    path: str
    before: str | None
    after: str | None
    content: bytes | None
    refs: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether it is another than before."""
        return self.before != self.after


class Table(NamedTuple):
    """Rows of one table, as name to value; None where they cannot be known, and then `why` says why."""

    rows: tuple[Mapping[str, Any], ...] | None
    refs: tuple[str, ...]
    why: str = ""


class Exit(NamedTuple):
    """How a declared validator, or the subject, ended: its exit code, None where a signal ended it."""

    code: int | None
    refs: tuple[str, ...]


class Evidence:
    """What one trial left, for one evaluator."""

    def __init__(self, facts: TrialFacts) -> None:
        self._facts = facts

    @property
    def case(self) -> Case:
        """The pinned case."""
        return self._facts.case

    def calls(self, tool: str | None = None, *, arguments: Any = None) -> tuple[Call, ...]:
        """Return the tool calls in order; of one `server.tool`, whose arguments match by subset."""
        found = []
        for call in self._facts.wire.exchanges:
            name = f"{call.server}.{call.tool}"
            if call.method != "tools/call" or tool not in (None, name) or not match_json(arguments, call.arguments):
                continue
            answered = call.answer is not None
            result = next(iter(results_of(call)), None) if answered else None
            failed = call_failed(call) if answered else None
            found.append(Call(name, call.arguments, result, failed, call.session, call.refs))
        return tuple(found)

    def effects(self, sink: str, *, match: Any = None) -> tuple[SinkEffect, ...]:
        """Return what a sink recorded of this run; with `match`, those whose content matches by subset."""
        watch = self._facts.watches.get(sink)
        run = self._facts.evidence.run
        own = [e for e in (watch.effects if watch else ()) if e.run_named in (None, run) and e.token_fits is not False]
        return tuple(SinkEffect(e.content, (e.ref,)) for e in own if match is None or match_json(match, e.content))

    def watched(self, sink: str) -> bool:
        """Whether a sink is proven to have watched from before the first turn until everything was down."""
        return not sink_unproven(self._facts, sink)

    def files(self, pattern: str = "**") -> tuple[File, ...]:
        """Return every file of a path or glob that is there at the end or was there before, in order of path."""
        world = self._facts.world
        opening, closing = world.opening, world.closing
        if opening is None or closing is None or opening.files is None or closing.files is None:
            return ()
        found = []
        for path in sorted({*opening.files, *closing.files}):
            if is_named([pattern], path):
                after = closing.files.get(path)
                kept = world.held(after) if after is not None else None
                refs = (opening.ref, closing.ref, *((kept[0],) if kept else ()))
                found.append(File(path, opening.files.get(path), after, kept[1] if kept else None, refs))
        return tuple(found)

    def rows(self, database: str, table: str, *, where: Any = None) -> Table:
        """Return the rows of a table of a SQLite file of the world at the end; with `where`, those that match."""
        found = find_table(self._facts.world, database, table, where)
        return Table(found.rows, found.refs, found.why)

    def exit_of(self, validator: str) -> Exit | None:
        """Return how a declared validator (or `subject`) ended; None where none ended on record."""
        role = "subject" if validator == "subject" else f"validator:{validator}"
        ended = [e for e in self._facts.evidence.events("harness", "process.exited") if e.body["role"] == role]
        return Exit(ended[-1].body["code"], (ended[-1].ref,)) if ended else None

    def measured(self, name: str) -> int | None:
        """Return a measurement by its name; None where it was not taken."""
        found = read_measurements(self._facts).get(name)
        return None if found is None else found.value

    def find(self, **matcher: Any) -> Found:
        """Look for a matcher as a case writes it: `find(called="report.status", arguments={"state": "done"})`.

        `state` is `matched`, `other` (looked at, and otherwise), `absent` (watched, and not seen) or `unwatched`.
        Raises: ValueError for a matcher that is none.
        """
        called = matcher.get("called")
        if isinstance(called, str):
            server, _, tool = called.partition(".")
            matcher["called"] = ToolName(server=server, tool=tool)
        if "json" in matcher:
            matcher["json_value"] = matcher.pop("json")
        return find_evidence(EvidenceMatcher(**matcher), self._facts)

    def may_rest_on_absence(self) -> tuple[str, ...]:
        """Return what shows that something that did not happen may prove anything: the subject had an answer to a call
        (and the intervention, where there is one) and ended a turn by itself after it. Empty where that is not so.
        """
        return read_absence(self._facts, None).refs
