"""What the evidence of one trial says to one matcher, with the events that say it.

Owns the difference between what was found (`matched`), what was looked at and is otherwise (`other`), what a watching
instrument did not see (`absent`) and what nobody watched (`unwatched`). Must never judge, and never answer without
evidence: a yes without references does not exist. Matchers on the state of something (files, rows, exit codes,
measurements) never give `absent`, those on events never give `other`. Source: the records design, "Matchers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple, cast

from oyer.observe.exchanges import Exchange
from oyer.observe.facts import TrialFacts, sink_unproven, tap_unproven
from oyer.observe.matching import match_json
from oyer.observe.measuring import read_measurements
from oyer.observe.rows import find_rows
from oyer.observe.texts import answer_texts, failed, json_or_none
from oyer.observe.worlds import Holds, find_file
from oyer.records import EvidenceMatcher, Rank, fill_matcher

__all__ = ["Found", "FoundState", "call_failed", "call_matches", "find_evidence", "results_of"]

FoundState = Literal["matched", "other", "absent", "unwatched"]

_ONLY_AT_THE_END = "it is looked at only after everything is down"


class Found(NamedTuple):
    """What one matcher found.

    `refs` show it: the events that matched, the look that shows another state, or what proves that the instrument
    watched. `near` are events that come close without matching, or show a content in another form than was asked about;
    while there are any, nothing is proven by absence.
    `t_ns` is when the first match was complete, None where that has no moment. `why` says what is missing.
    """

    state: FoundState
    rank: Rank
    refs: tuple[str, ...] = ()
    why: str = ""
    near: tuple[str, ...] = ()
    t_ns: int | None = None


def find_evidence(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    """Look for a matcher in a trial's evidence, with what the trial recorded that it drew in the place of each name."""
    # By which matcher it is, never by equality: to Python `1` equals `true`, and to a pattern it does not.
    known = facts.found.get(id(matcher))
    if known is not None and known[0] is matcher:
        return cast(Found, known[1])
    placed = fill_matcher(matcher, facts.drawn)
    if placed is None:
        found = Found("unwatched", matcher.rank, why="it names a value that this trial did not record as drawn")
    else:
        found = _FINDERS[matcher.form](placed, facts)
    facts.found[id(matcher)] = (matcher, found)
    return found


# -- calls -----------------------------------------------------------------------------------------------------


def call_matches(matcher: EvidenceMatcher, exchange: Exchange) -> bool:
    """Whether a request is the call that a matcher names, by its arguments: a subset match. Its answer is not asked."""
    return (
        matcher.called is not None
        and (matcher.called.server, matcher.called.tool) == (exchange.server, exchange.tool)
        and (matcher.session is None or matcher.session == exchange.session)
        and match_json(matcher.arguments, exchange.arguments)
    )


def call_failed(exchange: Exchange) -> bool:
    """Whether the server's own answer says that the call failed."""
    return exchange.answer is not None and failed(exchange.answer.message)


def _called(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    server = matcher.called.server if matcher.called else ""
    asked = [call for call in facts.wire.exchanges if call_matches(matcher, call)]
    matched = [call for call in asked if _answered_so(matcher, call)]
    if matched:
        refs = tuple(ref for call in matched for ref in call.refs)
        moments = [call.answer.t_ns for call in matched if call.answer is not None]
        return Found("matched", matcher.rank, _once(refs), t_ns=min(moments, default=None))
    unproven = tap_unproven(facts, server)
    if unproven:
        return Found("unwatched", matcher.rank, why=unproven)
    return Found("absent", matcher.rank, facts.last_of(f"tap:{server}"), why="no call matches")


def _answered_so(matcher: EvidenceMatcher, call: Exchange) -> bool:
    """Whether the answer is as asked for; a call is asked for as such where the matcher says nothing of its answer."""
    if matcher.failed is None and matcher.result is None:
        return True
    if call.answer is None or (matcher.failed is not None and matcher.failed is not call_failed(call)):
        return False
    return matcher.result is None or any(match_json(matcher.result, value) for value in results_of(call))


def results_of(call: Exchange) -> Iterator[object]:
    """Yield the server's own answer in each form it has: its structured value, the JSON that its text is, its text."""
    answer = call.answer
    result = answer.message.result if answer is not None else None
    if isinstance(result, dict) and result.get("structuredContent") is not None:
        yield result["structuredContent"]
    text = "".join(answer_texts(answer.own)) if answer is not None else ""
    inner = json_or_none(text.encode("utf-8", "surrogatepass"))
    if inner is not None:
        yield inner
    yield text


# -- effects ---------------------------------------------------------------------------------------------------


def _witnessed(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    """An effect counts if it is this run's and came while the sink was watching; content matches exactly."""
    name = matcher.witnessed or ""
    watch = facts.watches.get(name)
    closing = watch.t_closing_ns if watch is not None else None
    matched, near, doubtful = [], [], []
    for effect in watch.effects if watch is not None else ():
        own = effect.run_named in (None, facts.evidence.run) and effect.token_fits is not False
        if not own or (closing is not None and effect.t_ns > closing):
            doubtful.append(effect.ref)
        elif matcher.match is None or (
            effect.readable and match_json(matcher.match, effect.content, exact=True, allow_extra=matcher.allow_extra)
        ):
            matched.append(effect)
        elif not effect.readable or match_json(matcher.match, effect.content):
            near.append(effect.ref)
    if matched:
        moment = min(effect.t_ns for effect in matched)
        return Found("matched", matcher.rank, tuple(effect.ref for effect in matched), near=tuple(near), t_ns=moment)
    unproven = sink_unproven(facts, name) or ("an effect came late, or from elsewhere" if doubtful else "")
    if unproven:
        return Found("unwatched", matcher.rank, why=f"sink {name}: {unproven}", near=tuple(near))
    probes = watch.probes if watch is not None else ()
    return Found("absent", matcher.rank, probes, why="no effect matches", near=tuple(near))


# -- states ----------------------------------------------------------------------------------------------------


def _world_path(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    return _state(matcher, find_file(matcher, facts.world))


def _rows(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    return _state(matcher, find_rows(matcher, facts.world))


def _state(matcher: EvidenceMatcher, holds: Holds) -> Found:
    if holds.holds is None:
        return Found("unwatched", matcher.rank, why=holds.why)
    state: FoundState = "matched" if holds.holds else "other"
    return Found(state, matcher.rank, _once(holds.refs), holds.why, near=_once(holds.spoilt))


def _exited(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    """The last process of a declared validator, or of the subject; one that was ended by a signal has no code."""
    if facts.whole is not facts:
        return Found("unwatched", matcher.rank, why=_ONLY_AT_THE_END)
    role = "subject" if matcher.exited == "subject" else f"validator:{matcher.exited}"
    ended = [e for e in facts.evidence.events("harness", "process.exited") if e.body["role"] == role]
    if not ended:
        return Found("unwatched", matcher.rank, why=f"no process of {matcher.exited} ended on record")
    last = ended[-1]
    code = last.body["code"]
    holds = code is not None and (matcher.code is None or match_json(matcher.code, code))
    return Found("matched" if holds else "other", matcher.rank, (last.ref,), f"it ended with code {code}")


def _measured(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    name = matcher.measured or ""
    if facts.whole is not facts:
        return Found("unwatched", matcher.rank, why=_ONLY_AT_THE_END)
    found = read_measurements(facts).get(name)
    unproven = [sink_unproven(facts, sink) for sink in facts.case.sinks] if name.startswith("effects") else []
    if found is None or found.value is None or not found.refs or any(unproven):
        return Found("unwatched", matcher.rank, why=f"{name} was not measured")
    holds = match_json(matcher.value, found.value)
    return Found("matched" if holds else "other", matcher.rank, found.refs, f"{name} is {found.value}")


# -- the model's endpoint --------------------------------------------------------------------------------------


def _provider(matcher: EvidenceMatcher, facts: TrialFacts) -> Found:
    """What the gateway itself kept of each answer of the model's endpoint; never what the model wrote."""
    if "gateway" not in facts.evidence.checks:
        return Found("unwatched", matcher.rank, why="no gateway stood between subject and model")
    matched = []
    for exchange in facts.model:
        receipt = {
            "requested_model": exchange.requested_model,
            "reported_model": exchange.reported_model,
            "http_status": exchange.http_status,
            "finish": exchange.finish,
            "complete": exchange.complete,
            "tokens": exchange.tokens,
        }
        if exchange.response_ref is not None and match_json(matcher.provider, receipt):
            matched.append(exchange)
    if matched:
        moments = [exchange.t_response_ns for exchange in matched if exchange.t_response_ns is not None]
        refs = tuple(exchange.response_ref for exchange in matched if exchange.response_ref is not None)
        return Found("matched", matcher.rank, refs, t_ns=min(moments, default=None))
    if any(exchange.response_ref is None for exchange in facts.model):
        return Found("unwatched", matcher.rank, why="a request to the model has no answer on record")
    return Found("absent", matcher.rank, facts.last_of("gateway"), why="no answer of the model's endpoint matches")


def _once(refs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(refs))


_FINDERS: Mapping[str, Callable[[EvidenceMatcher, TrialFacts], Found]] = {
    "called": _called,
    "world_path": _world_path,
    "witnessed": _witnessed,
    "rows": _rows,
    "exited": _exited,
    "measured": _measured,
    "provider": _provider,
}
