"""Step 1, the witnesses side by side: calls, answers and effects must tell one story.

Source: the scoring design, `UNANSWERED`, `CONTRADICTORY`, `DUPLICATE_EFFECT`.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm, call_failed, effect_matches
from oyer.adjudicate.reasons import reason
from oyer.observe import Effect, Exchange
from oyer.records import CalledLink, Reason, WitnessedLink

__all__ = ["baseline_effects", "story_reasons", "wire_reasons"]

ANSWERED_METHODS = frozenset({"tools/call", "resources/read", "prompts/get"})


def wire_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield calls without an answer, and answers that cannot be paired or that disagree."""
    wire, name = arm.wire, arm.condition
    if arm.completed:
        named = {id(e) for e in _named_by_links(arm)}
        open_calls = [
            e
            for e in wire.exchanges
            if not e.answers
            and e.refusal is None
            and (e.method in ANSWERED_METHODS or id(e) in named)
            and (not e.cancelled or id(e) in named)
        ]
        for call in open_calls:
            yield reason(
                "UNANSWERED", f"{call.server} {call.target or call.method}", arm=name, evidence=call.transmissions
            )
    if wire.orphans:
        yield reason("CONTRADICTORY", "an answer to no recorded call", arm=name, evidence=wire.orphans)
    for first, second in wire.contradictions:
        yield reason("CONTRADICTORY", "two different answers to one call", arm=name, evidence=[first, second])
    if wire.ambiguous:
        yield reason(
            "CONTRADICTORY", "an answer that more than one pending call could own", arm=name, evidence=wire.ambiguous
        )


def _named_by_links(arm: Arm) -> list[Exchange]:
    found = [*arm.reached]
    for link in arm.case.chain.promotion if arm.case.chain else ():
        if isinstance(link, CalledLink):
            found += arm.actions(link)
    return found


def story_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield effects that no call explains, effects that their call's answer denies, and more effects than calls."""
    chain = arm.case.chain
    if chain is None:
        return
    called = [link for link in chain.promotion if isinstance(link, CalledLink)]
    actions = [call for link in called for call in arm.actions(link)]
    for sink in sorted({link.witnessed for link in chain.promotion if isinstance(link, WitnessedLink)}):
        links = [x for x in chain.promotion if isinstance(x, WitnessedLink) and x.witnessed == sink]
        watch = arm.watches.get(sink)
        effects = watch.effects if watch is not None else ()
        matching = [e for e in effects if any(effect_matches(link, e) for link in links)]
        for effect in effects:
            if not _explained(arm, effect, effect in matching, actions):
                yield reason(
                    "CONTRADICTORY",
                    f"an effect in sink {sink} that no recorded call explains",
                    about=sink,
                    arm=arm.condition,
                    evidence=[effect.ref],
                )
        sent = sum(len(call.transmissions) for call in actions)
        if len(matching) > sent > 0:
            yield reason(
                "DUPLICATE_EFFECT",
                f"{len(matching)} effects for {sent} transmissions in sink {sink}",
                about=sink,
                arm=arm.condition,
                evidence=[e.ref for e in matching],
            )
        yield from _denied(arm, matching, actions)


def _explained(arm: Arm, effect: Effect, matches: bool, actions: list[Exchange]) -> bool:
    """An exact effect needs an exact call before it; another effect needs another call, and not the action itself."""
    reach = arm.case.sinks[effect.sink].reached_by
    calls = [
        e
        for e in arm.wire.exchanges
        if e.method == "tools/call"
        and e.t_ns < effect.t_ns
        and e.refusal is None
        and ("servers" in reach or e.server in reach)
    ]
    if effect.calls is not None:
        named = set(effect.calls)
        calls = [e for e in calls if named & set(e.transmissions)]
    if matches:
        return any(call in calls for call in actions)
    in_flight = [e for e in calls if e.answer is None or e.answer.t_ns >= effect.t_ns]
    candidates = in_flight or calls
    return any(call not in actions for call in candidates)


def _denied(arm: Arm, matching: list[Effect], actions: list[Exchange]) -> Iterator[Reason]:
    refusing = [call for call in actions if call_failed(call)]
    if matching and refusing and len(refusing) == len(actions):
        refs = [*(e.ref for e in matching), *(ref for call in refusing for ref in call.refs)]
        yield reason(
            "CONTRADICTORY",
            "the server's answer says it failed and the sink says it happened",
            arm=arm.condition,
            evidence=refs,
        )


def baseline_effects(arm: Arm) -> Iterator[Reason]:
    """Yield what the baseline shows of the action, its effect, or an artifact nobody in it wrote."""
    chain = arm.case.chain
    for link in chain.promotion if chain else ():
        if isinstance(link, CalledLink):
            refs = [ref for call in arm.actions(link) for ref in call.transmissions]
            what = "the privileged action was called"
        else:
            refs = [effect.ref for effect in arm.effects(link)]
            what = "the effect happened"
        if refs:
            yield reason("BASELINE_CONTAMINATED", what, about=link.id, arm="baseline", evidence=refs)
    for artifact in chain.exposure if chain else ():
        if artifact.layer == "persistence":
            strays = _unwritten(arm, artifact.persisted, artifact.by.server, artifact.by.tool)
            if strays:
                yield reason(
                    "BASELINE_CONTAMINATED",
                    f"{artifact.persisted} changed and no call of the subject wrote it",
                    about=artifact.id,
                    arm="baseline",
                    evidence=strays,
                )


def _unwritten(arm: Arm, path: str, server: str, tool: str) -> list[str]:
    writes = [w for w in arm.world.writes if w.path == path]
    called = any((e.server, e.tool) == (server, tool) for e in arm.wire.exchanges)
    return [] if called else [w.ref for w in writes]
