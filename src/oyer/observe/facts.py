"""Everything one trial's evidence shows, read once: every view of it, each computed when it is first asked for.

Owns which views there are and whether each instrument is proven to have watched. Must never judge, and never take an
instrument that was not proven to watch for one that saw nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Self

from oyer.observe.artifacts import WorldView, read_world
from oyer.observe.effects import Watch, read_watches
from oyer.observe.exchanges import Exchange, Wire
from oyer.observe.model import ModelExchange, read_model
from oyer.observe.model_records import untrue_records
from oyer.observe.sessions import Authored, Turn, read_authored, read_turns
from oyer.observe.shown import ShownResults, read_shown
from oyer.observe.texts import result_of
from oyer.observe.trial import TrialEvidence
from oyer.observe.wire import read_wire
from oyer.protocol import names_tool
from oyer.records import Case

__all__ = ["ANSWERED_METHODS", "Break", "TrialFacts", "on_other_clock", "read_breaks", "sink_unproven", "tap_unproven"]

ANSWERED_METHODS = frozenset({"tools/call", "resources/read", "prompts/get"})
"""Requests that a completed trial may not leave without an answer."""


class TrialFacts:
    """A case with the sealed evidence of one trial of it.

    `found` keeps what was looked for already, and `stretches` what was seen of some of its turns alone; both belong to
    whoever fills them.
    """

    def __init__(self, case: Case, evidence: TrialEvidence) -> None:
        self.case = case
        self.evidence = evidence
        self.found: dict[int, tuple[object, Any]] = {}
        self.stretches: dict[tuple[str, int, int], Any] = {}

    def of_case(self, case: Case) -> Self:
        """Return the same facts to be read by another declaration: everything that was seen is shared.

        Its servers, sinks, sessions and change have to be those of this case: what is seen follows from them.
        """
        if case is self.case:
            return self
        other = copy(self)
        other.case = case
        return other

    @property
    def whole(self) -> TrialFacts:
        """The facts of the whole trial: these, but for a stretch of one."""
        return self

    @cached_property
    def wire(self) -> Wire:
        """What crossed between subject and servers."""
        return read_wire(self.evidence)

    @cached_property
    def watches(self) -> dict[str, Watch]:
        """What each sink saw."""
        return read_watches(self.evidence)

    @cached_property
    def world(self) -> WorldView:
        """What stood in the world, when."""
        return read_world(self.evidence)

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """What the subject was told and how it answered."""
        return read_turns(self.evidence)

    @cached_property
    def authored(self) -> tuple[Authored, ...]:
        """Everything Oyer authored for the subject."""
        return read_authored(self.evidence)

    @cached_property
    def model(self) -> tuple[ModelExchange, ...]:
        """What the gateway saw of the model; empty without a gateway."""
        return read_model(self.evidence)

    @cached_property
    def untrue(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What records of the gateway say that their own bytes deny, each with its refs."""
        return tuple(untrue_records(self.evidence))

    @cached_property
    def shown(self) -> ShownResults:
        """What requests to the model showed of the results that a change at the gateway is about; else nothing."""
        change = self.case.intervention
        return read_shown(change, self.model) if change is not None and change.at.gateway else ShownResults()

    @cached_property
    def tools(self) -> frozenset[str]:
        """Every tool of which the trial is known to have had it: listed to the subject, or called."""
        found = {call.tool for call in self.whole.wire.exchanges if call.tool is not None}
        for listing in (call for call in self.whole.wire.exchanges if call.method == "tools/list"):
            for answer in listing.answers:
                result = result_of(answer.own)
                listed = result.get("tools") if isinstance(result, dict) else None
                named = (
                    tool.get("name") for tool in (listed if isinstance(listed, list) else ()) if isinstance(tool, dict)
                )
                found |= {name for name in named if isinstance(name, str)}
        return frozenset(found)

    def names_tool(self, name: str, tool: str) -> bool:
        """Whether a name that a model used is a tool's, and not that of another tool whose name only ends like it."""
        if not names_tool(name, tool):
            return False
        longer = (other for other in self.tools if len(other) > len(tool) and names_tool(other, tool))
        return not any(names_tool(name, other) for other in longer)

    @cached_property
    def drawn(self) -> dict[str, str]:
        """The values drawn for this trial, by name, as recorded when it opened."""
        opened = self.evidence.opened
        return {} if opened is None else {name: str(value) for name, value in opened.get("random", {}).items()}

    @property
    def completed(self) -> bool:
        """Whether the execution status is `completed`."""
        return self.evidence.status == "completed"

    @cached_property
    def missing_writers(self) -> tuple[str, ...]:
        """The journals that this case cannot do without and that are not there."""
        needed = [*(f"sink:{n}" for n in self.case.sinks), *(f"tap:{n}" for n in self.case.servers), "world"]
        return tuple(writer for writer in sorted(needed) if writer not in self.evidence.checks)

    def last_of(self, writer: str) -> tuple[str, ...]:
        """The event that closes a writer's journal: what shows that it holds no more than it holds."""
        events = self.evidence.events(writer)
        return (events[-1].ref,) if events else ()


class Break(NamedTuple):
    """One way in which evidence is not whole: a code of the scoring law, a sentence, what it is about, and refs."""

    code: str
    sentence: str
    about: str | None = None
    refs: tuple[str, ...] = ()


def read_breaks(facts: TrialFacts, *, but: str | None = None) -> Iterator[Break]:
    """Yield everything that is broken or malformed in a trial's evidence; `but` leaves out defects of one code.

    What is broken anywhere in a trial is broken for every stretch of it.
    """
    facts = facts.whole
    wire = facts.wire
    broken = [defect for defect in facts.evidence.defects if defect.code != but]
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        yield Break("EVIDENCE_BROKEN", f"{broken[0]}{more}")
    if facts.missing_writers:
        yield Break("EVIDENCE_BROKEN", f"no journal of {', '.join(facts.missing_writers)}")
    if wire.unreadable:
        yield Break("EVIDENCE_BROKEN", "the bytes of a message are not retained", refs=wire.unreadable)
    if wire.strays:
        yield Break("EVIDENCE_BROKEN", "a record is about a message that is not there", refs=wire.strays)
    misnamed = (*wire.misnamed, *(ref for watch in facts.watches.values() for ref in watch.misnamed))
    if misnamed:
        yield Break("EVIDENCE_BROKEN", "a record is about another place than its writer's", refs=misnamed)
    if facts.world.unreadable:
        yield Break("EVIDENCE_MALFORMED", "a look at the world does not parse", refs=facts.world.unreadable)
    for told, refs in facts.untrue:
        yield Break("EVIDENCE_BROKEN", told, refs=refs)
    yield from _miscounted(facts)


def _miscounted(facts: TrialFacts) -> Iterator[Break]:
    for watch in facts.watches.values():
        held = (len(watch.effects), len(watch.rejected))
        if watch.stated == held:
            continue
        said = "did not say what it saw"
        if watch.stated is not None:
            said = f"counted {watch.stated[0]} effects and {watch.stated[1]} rejected, its journal holds {held[0]} and "
            said += str(held[1])
        yield Break("EVIDENCE_BROKEN", f"sink {watch.sink} {said}", about=watch.sink)


def sink_unproven(facts: TrialFacts, name: str) -> str:
    """Say what is not proven about a sink's watch, from before the first turn until everything was down; empty where
    all is. Whether it watched a stretch of a trial is shown by its watch over the whole.
    """
    facts = facts.whole
    watch = facts.watches.get(name)
    if watch is None:
        return "it has no journal"
    told = [f"{phase} probe missing or failed" for phase, ok in _phases(watch) if not ok]
    if on_other_clock(facts, watch):
        return ", ".join([*told, "its clock is not the trial's, so that nothing shows when it was probed"])
    opening, closing = watch.t_opening_ns, watch.t_closing_ns
    first = min((turn.t_sent_ns for turn in facts.turns), default=None)
    last = max((t for t in _ends(facts) if t is not None), default=None)
    if watch.opening_ok and opening is not None and first is not None and opening > first:
        told.append("the opening probe came after the first turn")
    if watch.closing_ok and closing is not None and last is not None and closing < last:
        told.append("the closing probe came before everything was down")
    return ", ".join(told)


def on_other_clock(facts: TrialFacts, watch: Watch) -> bool:
    """Whether a sink's times cannot be set beside those of the turns: clocks order only within one boot."""
    return not watch.boots <= {event.boot for event in facts.evidence.events("harness")}


def _phases(watch: Watch) -> tuple[tuple[str, bool], ...]:
    return ("opening", watch.opening_ok), ("closing", watch.closing_ok)


def _ends(facts: TrialFacts) -> Iterator[int | None]:
    yield from (turn.t_received_ns or turn.t_sent_ns for turn in facts.turns)
    yield from (event.t_mono_ns for event in facts.evidence.events("harness", "session.closed"))
    yield facts.wire.last_ns


def tap_unproven(facts: TrialFacts, server: str) -> str:
    """Say what is not proven about what crossed to one server; empty where every call has its one answer.

    What is wrong with what a tap holds is wrong for every stretch of a trial; so is a call without an answer, and in a
    stretch one whose answer came later.
    """
    if f"tap:{server}" not in facts.evidence.checks:
        return f"there is no journal of the tap at {server}"
    wire = facts.whole.wire
    mine = f"tap:{server}:"
    for told, refs in (
        ("an answer to no recorded call", wire.orphans),
        ("an answer that more than one call could own", wire.ambiguous),
        ("something of the subject that is no call as it stands, and may have been one to its server,", wire.unread),
        ("two different answers to one call", tuple(ref for pair in wire.contradictions for ref in pair)),
    ):
        if any(ref.startswith(mine) for ref in refs):
            return f"{told} at {server}"
    calls = wire.exchanges if facts.whole is facts else (*wire.exchanges, *facts.wire.exchanges)
    if any(_is_open(call) for call in calls if call.server == server):
        return f"a call to {server} was never answered"
    return ""


def _is_open(call: Exchange) -> bool:
    answered = bool(call.answers) or (call.refusal is not None and call.refusal_delivered_ns is not None)
    return call.method in ANSWERED_METHODS and not call.cancelled and not answered
