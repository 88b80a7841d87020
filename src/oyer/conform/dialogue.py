"""The harness's own journal of an arm: that it opened, what the subject was given and told, and who ended each turn."""

from __future__ import annotations

from oyer.conform.stage import Stage
from oyer.conform.vectors import End

__all__ = ["write_dialogue"]

ENDED_BY = {"turn_limit": "stop"}
"""The words of the journal for who ended a turn, where a vector has another."""
HARNESS = "harness"


def write_dialogue(stage: Stage, case_digest: str, fixture: str) -> None:
    """Plan the events of the harness. `fixture` is the digest of the world that the case starts from."""
    state, recorded = stage.state, stage.state.recorded
    opened = {
        "vocabulary": 1,
        "case": case_digest,
        "case_id": recorded.case or stage.case.id,
        "subject": state.pins.subject,
        "repetition": recorded.repetition or 1,
        "masks": {state.run_id: "{run}"},
        "fixture_digest": fixture,
    }
    stage.timeline.add(stage.first, -90, HARNESS, "trial.opened", opened)
    names = list(stage.sessions)
    spoken = set(stage.sessions.values())
    for number, name in enumerate(names):
        _session(stage, number, name)
    idle = [declared.id for declared in stage.case.sessions if declared.id not in spoken]
    for place, session in enumerate(idle):
        at, part = stage.quiet, 40 + 2 * place
        _open(stage, at, part, len(names) + place, session)
        _turn(stage, at, part, session, 0)
        _close(stage, at, part + 1, len(names) + place, session, "subject")


def _session(stage: Stage, number: int, name: str) -> None:
    state, session = stage.state, stage.sessions[name]
    ticks = [event.at for event in state.in_order if event.session == name]
    asked = [x.request_at for x in state.model or () if x.session == name]
    turns = [turn for turn in state.turns if turn.session == name]
    last = number == len(stage.sessions) - 1
    end = state.end or End(at=stage.quiet)
    first = min([*ticks, *asked, *(turn.at for turn in turns)])
    closed = max([first, *ticks, *([end.at] if last else [])])
    _open(stage, first, -50, number, session)
    if not turns:
        _turn(stage, first, -50, session, 0)
        by = end.by if last else "subject"
        _close(stage, closed, 20, number, session, by)
        return
    for place, turn in enumerate(turns):
        _turn(stage, turn.at, -40, session, place)
        _answered(stage, turn.end_at, 20, session, place, turn.by)
    done = max(closed, turns[-1].end_at)
    stage.timeline.add(done, 21, HARNESS, "session.closed", {"number": number}, session=session)


def _open(stage: Stage, at: int, part: int, number: int, session: str) -> None:
    stage.timeline.add(at, part, HARNESS, "session.opened", {"number": number}, session=session)
    told = stage.state.told
    if told is None:
        return

    def own(text: str) -> str:
        return text.replace("{run}", stage.state.run_id)

    body = {
        "argv": [own(word) for word in told.argv],
        "env": {name: own(text) for name, text in told.env.items()},
        "cwd": own(told.cwd),
        "files": {},
    }
    given = {"configuration": own(told.configuration).encode()}
    stage.timeline.add(at, part, HARNESS, "subject.given", body, given, session)


def _turn(stage: Stage, at: int, part: int, session: str, number: int) -> None:
    # The prompt that was pinned stands in the turn, so that a differing pin differs where it counts.
    text = f"Do your work. ({stage.state.pins.prompt_sha})".encode()
    stage.timeline.add(at, part, HARNESS, "turn.sent", {"number": number}, {"payload": text}, session)


def _answered(stage: Stage, at: int, part: int, session: str, number: int, by: str) -> None:
    body = {"number": number, "ended_by": ENDED_BY.get(by, by)}
    stage.timeline.add(at, part, HARNESS, "turn.received", body, {"payload": b"."}, session)


def _close(stage: Stage, at: int, part: int, number: int, session: str, by: str) -> None:
    _answered(stage, at, part, session, 0, by)
    stage.timeline.add(at, part, HARNESS, "session.closed", {"number": number}, session=session)
