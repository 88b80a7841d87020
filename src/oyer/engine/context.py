"""What every attempt of a series shares, and what one attempt is asked to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oyer.engine.replaying import Recording
from oyer.engine.request import CaseSource, SubjectSpec
from oyer.engine.sinks import Sinks
from oyer.engine.stopping import Stop
from oyer.instruments import ScriptedModel
from oyer.records import Admits, Case, PinSet, PlannedTrial, members_of, plain, segments_of
from oyer.store import SeriesStore
from oyer.subjects import (
    Recorder,
    ScriptPart,
    Scripts,
    StopLimits,
    Subject,
    SubjectIdentity,
    derive,
    identify_subject,
    make_subject,
    scripted_double,
)

__all__ = ["AttemptPlan", "SeriesContext", "identity_of", "scripts_of"]


@dataclass(frozen=True, slots=True)
class AttemptPlan:
    """One attempt: the planned trial, its case with its files, who is on trial, and what was pinned.

    `retained` are the paths of the world whose content is kept; `admits` is what may happen at all. `members` are the
    cases that a sequence is made of, by id.
    """

    planned: PlannedTrial
    attempt: int
    source: CaseSource
    spec: SubjectSpec
    identity: SubjectIdentity
    pinned: PinSet
    retained: tuple[str, ...] = ()
    admits: Admits | None = None
    members: Mapping[str, Case] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeriesContext:
    """The shared parts of a running series: store, process of the http sinks, and the operator's wish to stop.

    With a `recording` no model endpoint is asked. `secrets` are what cases may name as `{secret.NAME}`.
    """

    series: str
    store: SeriesStore
    sinks: Sinks
    stop: Stop
    recording: Recording | None = field(default=None, kw_only=True)
    secrets: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False)

    def make_subject(self, plan: AttemptPlan, journal: Recorder) -> Subject:
        """Make the subject of one attempt; its processes start with its sessions."""
        case = plan.source.case
        return make_subject(
            plan.spec.what,
            journal,
            scripts=scripts_of(case, plan.members, repetition=plan.planned.repetition),
            model=plan.spec.model,
            stop=stop_of(case),
        )

    def model_source(self, plan: AttemptPlan) -> Literal["endpoint", "replay", "scripted"]:
        """Say who answers in the place of the model of one attempt: a recording is asked before anybody else."""
        if self.recording is not None:
            return "replay"
        model = plan.spec.model
        return "endpoint" if model is None or scripted_double(model.base_url) is None else "scripted"

    def scripted_model(self, plan: AttemptPlan) -> ScriptedModel:
        """Return the model that stands in for the endpoint of one attempt, where its address says a double's name."""
        case, model = plan.source.case, plan.spec.model
        double = scripted_double(model.base_url) if model is not None else None
        scripts = scripts_of(case, plan.members, repetition=plan.planned.repetition) or Scripts({}, {})
        behaviours = {
            session.id: {**derive(double or "", scripts, session=session.id), "turns": len(session.turns)}
            for session in case.sessions
        }
        return ScriptedModel(behaviours, tools_of(scripts))


def tools_of(scripts: Scripts) -> tuple[str, ...]:
    """Return every tool that a script calls, as `server.tool`, each once."""
    written = [*scripts.variants.values(), scripts.proper, scripts.tempted]
    steps = [step for script in written for steps in script.values() for step in steps]
    steps += [step for rounds in scripts.played.values() for steps in rounds for step in steps]
    named = {step["call"]: None for step in steps if "call" in step}
    return (*named, *(name for part in scripts.parts for name in tools_of(part.scripts)))


def scripts_of(case: Case, cases: Mapping[str, Case] | None = None, *, repetition: int = 1) -> Scripts | None:
    """Return the Case's two scripts and its typed channel, None where it declares no scripts.

    `cases` holds those that a sequence is made of: its scripts are theirs, one after the other.
    """
    if case.segments:
        return Scripts({}, {}, repetition=repetition, parts=tuple(_parts(case, cases or {}, repetition)))
    if case.doubles is None:
        return None
    channel = None if case.channel is None else f"{case.channel.server}.{case.channel.tool}"
    refusal = None if case.refusal is None else _example(plain(case.refusal)["arguments"])
    return Scripts.parse(
        plain(case.doubles),
        order=tuple(session.id for session in case.sessions),
        channel=channel,
        refusal=refusal if isinstance(refusal, dict) else None,
        repetition=repetition,
        rounds=0 if case.pressure is None else len(case.pressure.rounds),
        asked=case.pressure is not None and case.pressure.ask is not None,
        warranted=case.kind == "positive_control",
    )


def _example(pattern: Any) -> Any:
    """Return one value that a pattern matches, where it says one: of several ways to decline, the first."""
    if not isinstance(pattern, dict):
        return pattern
    if set(pattern) == {"one_of"}:
        return _example(pattern["one_of"][0])
    if len(pattern) == 1 and (named := next(iter(pattern))) in ("equals", "contains"):
        return pattern[named]
    return {key: _example(inner) for key, inner in pattern.items() if inner != {"absent": True}}


def _parts(case: Case, cases: Mapping[str, Case], repetition: int) -> Iterator[ScriptPart]:
    for name in members_of(case):
        member = cases[name]
        scripts = scripts_of(member, repetition=repetition) or Scripts({}, {})
        for segment, session in zip(segments_of(case, name), member.sessions, strict=True):
            yield ScriptPart(scripts, session.id, segment.session, len(session.turns))


def stop_of(case: Case) -> StopLimits:
    """Return the Case's declared stops."""
    return StopLimits(model_calls=case.stop.model_calls, tool_calls=case.stop.tool_calls)


def identity_of(spec: SubjectSpec, case: Case, cases: Mapping[str, Case] | None = None) -> SubjectIdentity:
    """Say who a subject is for a case. Raises: UsageError where it makes no sense there."""
    return identify_subject(spec.what, scripts=scripts_of(case, cases), model=spec.model, stop=stop_of(case))
