"""Rules across the fields of one Case: every name that is used is declared, and nothing makes the trial unblind.

Pure: a Case in, all problems out, each with the path of the field it is about. Run after strict validation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oyer.records.canonical import plain
from oyer.records.case import CONDITIONS, Case, NonCompletion, Oracle, Step
from oyer.records.chain import CalledLink, ConsumedLink, PersistedLink, WitnessedLink
from oyer.records.drawn import drawn_in
from oyer.records.matchers import EvidenceMatcher
from oyer.records.placeholders import names_in
from oyer.records.server_address import PORT, address_flaws
from oyer.records.short import Path

__all__ = ["Breach", "case_breaches", "matcher_breaches", "names_an_arm"]


_EXTERNAL = ("external_read", "external_write", "destructive")


class Breach(NamedTuple):
    """One broken rule: the path of the field, what is wrong, what to do."""

    path: Path
    code: str
    message: str
    hint: str = ""


def case_breaches(case: Case) -> Iterator[Breach]:
    """Yield every rule that a Case breaks."""
    yield from _sessions(case)
    yield from _servers_and_sinks(case)
    yield from _experiment(case)
    yield from _drawn_beside_the_change(case)
    yield from _chain(case)
    yield from _matchers(case)
    yield from _doubles(case)
    yield from _blindness(case)


def _sessions(case: Case) -> Iterator[Breach]:
    seen: set[str] = set()
    for index, session in enumerate(case.sessions):
        if session.id in seen:
            yield Breach(("sessions", index, "id"), "E-CASE-TWICE", f"session {session.id!r} is declared twice")
        seen.add(session.id)
    yield from _pressure(case)
    if case.effect_class == "destructive" and case.isolation != "sandbox":
        yield Breach(("isolation",), "E-CASE-ISOLATION", "a destructive effect class requires isolation: sandbox")


def _pressure(case: Case) -> Iterator[Breach]:
    if case.pressure is None:
        return
    if case.pressure.neutral and len(case.pressure.neutral) != len(case.pressure.rounds):
        yield Breach(
            ("pressure", "neutral"), "E-CASE-PRESSURE", "neutral rounds differ in number from the pressured ones"
        )
    nudges = {_words(text) for text in case.pressure.rounds}
    for number, text in enumerate(case.pressure.neutral):
        if _words(text) in nudges:
            told = "a neutral round says what a nudge says, so its arm would be under pressure too"
            hint = "write one that holds nothing, such as: Please go on."
            yield Breach(("pressure", "neutral", number), "E-CASE-PRESSURE", told, hint)
    if case.is_experiment:
        told = "an experiment has one declared change, and pressure would be a second"
        yield Breach(("pressure",), "E-CASE-PRESSURE", told, "make it a trap of its own, or leave `pressure` out")


def _words(text: str) -> str:
    """The words of a turn, however they are laid out or capitalised."""
    return " ".join(text.split()).casefold()


def _servers_and_sinks(case: Case) -> Iterator[Breach]:
    for name, server in case.servers.items():
        for part, texts in (("command", dict(enumerate(server.command))), ("env", dict(server.env))):
            for key, text in texts.items():
                known = text if server.url is None else text.replace(PORT, "")
                yield from _placeholders(case, ("servers", name, part, key), known)
        for told in address_flaws(server, is_external=case.effect_class in _EXTERNAL):
            yield Breach(("servers", name), "E-CASE-SERVER", told)
    for name, validator in case.validators.items():
        for index, text in enumerate(validator.command):
            yield from _placeholders(case, ("validators", name, "command", index), text)
        if case.world is None:
            yield Breach(("validators", name), "E-CASE-NAME", "a validator looks at the world, and the case has none")
    for name, sink in case.sinks.items():
        if sink.kind == "world" and not sink.paths:
            yield Breach(("sinks", name), "E-CASE-SINK", "a world sink names the paths it watches", "add paths: [...]")
        if sink.kind != "world" and sink.paths:
            yield Breach(("sinks", name, "paths"), "E-CASE-SINK", f"a sink of kind {sink.kind} watches no paths")
        for index, path in enumerate(sink.paths):
            yield from _inside_world(("sinks", name, "paths", index), path)
        for index, who in enumerate(sink.reached_by):
            if who not in ("servers", "subject") and who not in case.servers:
                yield Breach(
                    ("sinks", name, "reached_by", index),
                    "E-CASE-NAME",
                    f"{who!r} is no declared server",
                    "name a server, or servers, or subject",
                )


def _placeholders(case: Case, path: Path, text: str) -> Iterator[Breach]:
    for name in names_in(text):
        family, _, rest = name.partition(".")
        if family == "sink":
            sink, _, what = rest.partition(".")
            if sink not in case.sinks or case.sinks[sink].kind != "http" or what not in ("url", "token"):
                yield Breach(path, "E-PLACEHOLDER", f"{{{name}}} names no url or token of a declared http sink")
        elif family not in ("python", "world", "random", "secret"):
            yield Breach(path, "E-PLACEHOLDER", f"{{{name}}} is no known placeholder")


def _inside_world(path: Path, text: str) -> Iterator[Breach]:
    if text.startswith("/") or ".." in text.split("/") or not text:
        yield Breach(path, "E-CASE-PATH", f"{text!r} is not a path inside the world", "write it relative, without ..")


def _drawn_beside_the_change(case: Case) -> Iterator[Breach]:
    """What is drawn per run differs between the arms, and an experiment changes one thing only."""
    for part in ("intervention", "hardened", "chain"):
        value = getattr(case, part)
        for name in () if value is None else drawn_in(plain(value)):
            told = f"{{random.{name}}} is not filled in here: the arms would differ in more than the one change"
            yield Breach((part,), "E-PLACEHOLDER", told, "draw it in a server's `env` and let it be read")


def _experiment(case: Case) -> Iterator[Breach]:
    if case.intervention is None:
        for name in ("hardened", "chain"):
            if getattr(case, name) is not None:
                yield Breach((name,), "E-CASE-PLAIN", f"a case without an intervention has no {name}")
        if case.conditions:
            yield Breach(("conditions",), "E-CASE-PLAIN", "a case without an intervention has no conditions")
        return
    at = case.intervention.at
    if not at.gateway and at.server not in case.servers:
        yield Breach(
            ("intervention", "at", "server"),
            "E-CASE-NAME",
            f"{at.server!r} is no declared server",
            "write at.tool as server.tool",
        )
    yield from _session_named(case, ("intervention", "at", "session"), at.session)
    if case.chain is None:
        yield Breach(
            ("chain",),
            "E-CASE-CHAIN",
            "an experiment declares its causal chain before the run",
            "add chain: or the short form effect:",
        )
    if ("hardened" in case.conditions) != (case.hardened is not None):
        yield Breach(("conditions",), "E-CASE-HARDENED", "the hardened condition and its named policy go together")
    if len(set(case.conditions)) != len(case.conditions):
        yield Breach(("conditions",), "E-CASE-TWICE", "a condition is listed twice")
    if case.hardened is not None:
        policy = case.hardened.policy
        if policy.server not in case.servers:
            yield Breach(
                ("hardened", case.hardened.kind, "server"), "E-CASE-NAME", f"{policy.server!r} is no declared server"
            )
        if at.gateway and case.hardened.kind in ("label", "strip"):
            told = f"{case.hardened.kind} acts on a server's answers, and the change is made after them, at the gateway"
            yield Breach(("hardened", case.hardened.kind), "E-CASE-GATEWAY", told, "use block or reapproval")
    if at.gateway and case.intervention.replace_json is not None and case.intervention.marker is None:
        told = "a change at the gateway is recognised in requests by a text: a patch needs its marker"
        yield Breach(("intervention", "marker"), "E-CASE-MARKER", told, "give a marker of 16 characters or more")
    yield from _marker(case)


def _marker(case: Case) -> Iterator[Breach]:
    change = case.intervention
    if change is None or change.marker is None:
        return
    if change.replace_text is not None:
        if change.marker not in change.replace_text.with_:
            yield Breach(("intervention", "marker"), "E-CASE-MARKER", "the marker is no part of the replacement text")
        if change.marker in change.replace_text.find:
            yield Breach(("intervention", "marker"), "E-CASE-MARKER", "the marker is in the original text too")
    if change.append_text is not None and change.marker not in change.append_text.text:
        yield Breach(("intervention", "marker"), "E-CASE-MARKER", "the marker is no part of the appended text")


def _session_named(case: Case, path: Path, session: str | None) -> Iterator[Breach]:
    if session is not None and session not in {known.id for known in case.sessions}:
        yield Breach(path, "E-CASE-NAME", f"{session!r} is no declared session")


def _server_named(case: Case, path: Path, server: str) -> Iterator[Breach]:
    if server not in case.servers:
        yield Breach(path, "E-CASE-NAME", f"{server!r} is no declared server")


def _chain(case: Case) -> Iterator[Breach]:
    if case.chain is None:
        return
    sessions = {link.id: link.session for link in case.chain.exposure if isinstance(link, PersistedLink)}
    stages = (("exposure", case.chain.exposure), ("promotion", case.chain.promotion))
    for stage, links in stages:
        for index, link in enumerate(links):
            place: Path = ("chain", stage, index)
            if not isinstance(link, WitnessedLink):
                yield from _session_named(case, (*place, "session"), link.session)
            if isinstance(link, PersistedLink):
                yield from _inside_world((*place, "persisted"), link.persisted)
                yield from _server_named(case, (*place, "by", "server"), link.by.server)
            elif isinstance(link, ConsumedLink):
                yield from _server_named(case, (*place, "through", "server"), link.through.server)
                if link.session is not None and link.session == sessions.get(link.consumed):
                    yield Breach(
                        (*place, "session"),
                        "E-CASE-BOUNDARY",
                        "a later read is in another session than the one that persists",
                    )
            elif isinstance(link, CalledLink):
                yield from _server_named(case, (*place, "called", "server"), link.called.server)
            elif link.witnessed not in case.sinks:
                yield Breach((*place, "witnessed"), "E-CASE-NAME", f"{link.witnessed!r} is no declared sink")


def _matchers(case: Case) -> Iterator[Breach]:
    lists: tuple[tuple[str, tuple[EvidenceMatcher, ...]], ...] = (
        ("attempt", case.attempt),
        ("benign", case.benign),
        ("expected", case.expected),
        ("forbidden", case.forbidden),
        ("traces", case.traces),
    )
    seen: dict[str, str] = {}
    for name, matchers in lists:
        for index, matcher in enumerate(matchers):
            if matcher.id is not None and matcher.id in seen:
                yield Breach((name, index, "id"), "E-CASE-TWICE", f"id {matcher.id!r} is used twice")
            if matcher.id is not None:
                seen[matcher.id] = name
            if name in ("expected", "forbidden") and matcher.id is None:
                yield Breach((name, index), "E-CASE-ID", "it needs an id, so that a verdict can cite it")
            yield from matcher_breaches(case, matcher, (name, index))
    for name in ("repair", "refusal"):
        matcher = getattr(case, name)
        if matcher is not None:
            yield from matcher_breaches(case, matcher, (name,))
    if case.non_completion is not None:
        yield from _non_completion(case, case.non_completion)
    yield from _channel(case)
    for number, claim in enumerate(case.claims):
        if claim.id in {each.id for each in case.claims[:number]}:
            yield Breach(("claims", number, "id"), "E-CASE-TWICE", f"claim {claim.id!r} is declared twice")
        if claim.oracle is not None:
            yield from _oracle(case, ("claims", number, "oracle"), claim.oracle)


def _non_completion(case: Case, declared: NonCompletion) -> Iterator[Breach]:
    if declared.said is None and case.refusal is None:
        told = "nothing says how a subject would say that it could not"
        yield Breach(("non_completion", "said"), "E-CASE-NAME", told, "declare `said`, or the case's `refusal`")
    for name in ("said", "claimed"):
        matcher = getattr(declared, name)
        if matcher is None:
            continue
        if matcher.called != case.channel:
            told = "what a subject asserts is read from the declared typed channel, never from prose"
            yield Breach(("non_completion", name), "E-CASE-CHANNEL", told, "match a call of the tool under `channel`")
        yield from matcher_breaches(case, matcher, ("non_completion", name))
    for index, matcher in enumerate(declared.not_done):
        place: Path = ("non_completion", "not_done", index)
        if matcher.rank != "receipt":
            yield Breach(place, "E-CASE-ORACLE", "how the world stands is for a receipt to say, never for a call")
        yield from matcher_breaches(case, matcher, place)


def _channel(case: Case) -> Iterator[Breach]:
    if case.channel is not None:
        yield from _server_named(case, ("channel",), case.channel.server)
    if case.refusal is not None and case.refusal.called != case.channel:
        told = "a refusal is read from the declared typed channel, never from prose"
        yield Breach(("refusal",), "E-CASE-CHANNEL", told, "name the tool under `channel`, and match a call of it")


def _oracle(case: Case, path: Path, oracle: Oracle) -> Iterator[Breach]:
    declared = {m.id for m in (*case.expected, *case.forbidden) if m.id is not None}
    for rank in ("receipt", "protocol"):
        for index, fact in enumerate(getattr(oracle, rank)):
            place = (*path, rank, index)
            if isinstance(fact, str):
                if fact not in declared:
                    yield Breach(place, "E-CASE-NAME", f"no matcher {fact!r} is declared under expected or forbidden")
            elif fact.rank != rank:
                yield Breach(place, "E-CASE-ORACLE", f"a matcher on `{fact.form}` is of rank {fact.rank}, not {rank}")
            else:
                yield from matcher_breaches(case, fact, place)


def matcher_breaches(case: Case, matcher: EvidenceMatcher, path: Path) -> Iterator[Breach]:
    """Yield every name in a matcher that its case does not declare; `path` is where the matcher stands."""
    if matcher.called is not None:
        yield from _server_named(case, (*path, "called"), matcher.called.server)
    if matcher.witnessed is not None and matcher.witnessed not in case.sinks:
        yield Breach((*path, "witnessed"), "E-CASE-NAME", f"{matcher.witnessed!r} is no declared sink")
    yield from _session_named(case, (*path, "session"), matcher.session)
    for name in ("world_path", "rows"):
        text = getattr(matcher, name)
        if text is not None:
            yield from _inside_world((*path, name), text)
            if case.world is None:
                yield Breach((*path, name), "E-CASE-NAME", "the case has no world in which a file could be")
    if matcher.exited is not None and matcher.exited != "subject" and matcher.exited not in case.validators:
        hint = f"declared are {', '.join(case.validators)}" if case.validators else "declare it under `validators`"
        yield Breach((*path, "exited"), "E-CASE-NAME", f"{matcher.exited!r} is no declared validator", hint)


def _doubles(case: Case) -> Iterator[Breach]:
    if case.doubles is None:
        return
    scripts: list[tuple[Path, Mapping[str, tuple[Step, ...]]]] = [
        (("doubles", "proper"), case.doubles.proper),
        (("doubles", "tempted"), case.doubles.tempted),
        *((("doubles", "variants", name), script) for name, script in case.doubles.variants.items()),
    ]
    for where, script in scripts:
        for session, steps in script.items():
            yield from _session_named(case, (*where, session), session)
            yield from _steps(case, (*where, session), steps)
    for name, rounds in case.doubles.rounds.items():
        if name not in ("proper", "tempted", *case.doubles.variants):
            hint = f"there is {', '.join(('proper', 'tempted', *case.doubles.variants))}"
            yield Breach(("doubles", "rounds", name), "E-CASE-NAME", f"{name!r} is no script of this case", hint)
        if case.pressure is None:
            told = "the case has no rounds of pressure in which anything could be played"
            yield Breach(("doubles", "rounds", name), "E-CASE-PRESSURE", told, "add `pressure`, or leave `rounds` out")
        for number, steps in enumerate(rounds):
            yield from _steps(case, ("doubles", "rounds", name, number), steps)


def _steps(case: Case, where: Path, steps: tuple[Step, ...]) -> Iterator[Breach]:
    for index, step in enumerate(steps):
        place: Path = (*where, index)
        if (step.call is None) == (step.say is None):
            yield Breach(place, "E-CASE-STEP", "a step either calls a tool or says something")
        elif step.call is not None:
            yield from _server_named(case, place, step.call.partition(".")[0])


def names_an_arm(text: str, case_id: str) -> str | None:
    """Return the word in a text that would tell a subject its case or condition, if there is one."""
    for word in (case_id, *CONDITIONS):
        if re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text, re.IGNORECASE):
            return word
    return None


def _blindness(case: Case) -> Iterator[Breach]:
    turns: list[tuple[Path, str]] = [
        (("sessions", number, "turns", turn), text)
        for number, session in enumerate(case.sessions)
        for turn, text in enumerate(session.turns)
    ]
    if case.pressure is not None:
        turns += [(("pressure", "rounds", number), text) for number, text in enumerate(case.pressure.rounds)]
        turns += [(("pressure", "neutral", number), text) for number, text in enumerate(case.pressure.neutral)]
        turns += [(("pressure", "ask"), text) for text in (case.pressure.ask,) if text is not None]
    for path, text in turns:
        word = names_an_arm(text, case.id)
        if word is not None:
            told = f"the turn names {word!r}, {_telling(word, case)}, which would tell the subject what is tested"
            yield Breach(path, "E-ARM-WORD", told, _remedy(word, case, "rephrase it"))
    for name in case.servers:
        word = names_an_arm(name, case.id)
        if word is not None:
            told = f"the server name {name!r} holds {_telling(word, case)} and would tell what is tested"
            yield Breach(("servers", name), "E-ARM-WORD", told, _remedy(word, case, "give the server another name"))


def _telling(word: str, case: Case) -> str:
    return "the id of the case" if word == case.id else "a word for an arm"


def _remedy(word: str, case: Case, otherwise: str) -> str:
    """What stands in a turn is often the very thing that the case is called after: the id is easier to change."""
    return (
        f"give the case another id than {word!r}: no subject sees it; or {otherwise}" if word == case.id else otherwise
    )
