"""What the subject was given and told, and how each of its turns ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from oyer.observe.texts import without_reasoning
from oyer.observe.trial import HARNESS, TrialEvidence
from oyer.records import Delimiters

__all__ = ["Authored", "Turn", "mask", "read_authored", "read_turns"]


class Turn(NamedTuple):
    """One turn: what was sent, what the subject said, and who ended it (None where nothing came back).

    What it thought between declared delimiters it did not say.
    """

    session: str | None
    number: int
    sent_ref: str
    t_sent_ns: int
    sent: bytes | None
    received_ref: str | None
    t_received_ns: int | None
    said: bytes | None
    ended_by: str | None


class Authored(NamedTuple):
    """One string that Oyer authored for the subject: where it stands, and its text with run tokens masked."""

    place: str
    ref: str
    text: str
    masked: str
    is_turn: bool


def read_turns(evidence: TrialEvidence) -> tuple[Turn, ...]:
    """Read every turn of a trial, in order."""
    turns: list[Turn] = []
    for event in evidence.events(HARNESS, "turn.sent", "turn.received"):
        if event.kind == "turn.sent":
            turns.append(
                Turn(
                    event.session,
                    event.body["number"],
                    event.ref,
                    event.t_mono_ns,
                    evidence.payload(event),
                    None,
                    None,
                    None,
                    None,
                )
            )
        elif (
            turns
            and turns[-1].received_ref is None
            and (turns[-1].session, turns[-1].number) == (event.session, event.body["number"])
        ):
            turns[-1] = turns[-1]._replace(
                received_ref=event.ref,
                t_received_ns=event.t_mono_ns,
                said=_spoken(evidence.payload(event), evidence.reasoning_delimiters),
                ended_by=event.body["ended_by"],
            )
    return tuple(turns)


def _spoken(raw: bytes | None, delimiters: Delimiters) -> bytes | None:
    """Return what was said without what was thought between the delimiters; bytes that hold none stay as they are."""
    if raw is None or not any(mark.encode() in raw for pair in delimiters for mark in pair):
        return raw
    return without_reasoning(raw.decode("utf-8", "backslashreplace"), delimiters).encode()


def mask(text: str, masks: Mapping[str, str]) -> str:
    """Put the placeholder of each recorded run token in its place; where tokens overlap, the longest that begins first.

    One pass: what a placeholder says is never taken for a token.
    """
    tokens = sorted(filter(None, masks), key=lambda found: (-len(found), found))
    if not tokens:
        return text
    return re.sub("|".join(map(re.escape, tokens)), lambda match: masks[match.group()], text)


def read_authored(evidence: TrialEvidence) -> tuple[Authored, ...]:
    """Collect everything Oyer authored for the subject: turns, argv, environment, paths, files, configuration.

    No two have the same place: what was given again in a session is numbered.
    """
    masks = evidence.masks
    found: list[Authored] = []
    seen: Counter[str] = Counter()

    def add(place: str, ref: str, text: str, is_turn: bool = False) -> None:
        found.append(Authored(place, ref, text, mask(text, masks), is_turn))

    for event in evidence.events(HARNESS, "subject.given", "turn.sent"):
        at = event.session or "-"
        if event.kind == "turn.sent":
            at = f"{at}/turn/{event.body['number']}"
        again = f"/again/{seen[at]}" if seen[at] else ""
        seen[at] += 1
        at += again
        if event.kind == "turn.sent":
            add(at, event.ref, _text(evidence.payload(event)), is_turn=True)
            continue
        for index, word in enumerate(event.body["argv"]):
            add(f"{at}/argv/{index}", event.ref, word)
        for name in sorted(event.body["env"]):
            add(f"{at}/env/{name}", event.ref, f"{name}={event.body['env'][name]}")
        add(f"{at}/cwd", event.ref, event.body["cwd"])
        for path in sorted(event.body["files"]):
            content = _text(_file(evidence, event.body["files"][path]))
            add(f"{at}/file/{mask(path, masks)}", event.ref, f"{path}\n{content}")
        add(f"{at}/configuration", event.ref, _text(evidence.payload(event, "configuration")))
    return tuple(found)


def _file(evidence: TrialEvidence, payload: dict[str, object]) -> bytes | None:
    return evidence.payload_of(payload)


def _text(raw: bytes | None) -> str:
    return "" if raw is None else raw.decode("utf-8", "backslashreplace")
