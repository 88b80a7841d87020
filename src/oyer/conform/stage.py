"""One arm while its journals are made: what the vector says of it, its clock, and the names its parts share."""

from __future__ import annotations

from oyer.conform.declaring import own_sessions, session_names
from oyer.conform.timeline import Timeline
from oyer.conform.vectors import ArmState, Given
from oyer.evidence import Envelope
from oyer.records import Case, Condition

__all__ = ["Stage"]


class Stage:
    """One arm of a vector.

    `first` and `last` are the ticks between which everything it mentions happened; `quiet` is the last tick at which
    subject, servers or model did anything (effects may come later).
    """

    def __init__(self, given: Given, case: Case, condition: Condition, state: ArmState) -> None:
        self.given = given
        self.case = case
        self.condition = condition
        self.state = state
        self.envelope = Envelope("series", f"trial-{condition}", state.run_id, condition, 1, "boot")
        self.timeline = Timeline(self.envelope)
        self.sessions = dict(zip(own_sessions(state), session_names(given), strict=False))
        ticks = [event.at for event in state.in_order]
        asked = [exchange.request_at for exchange in state.model or ()]
        answered = [exchange.response_at for exchange in state.model or ()]
        turns = [turn.at for turn in state.turns]
        ends = [state.end.at] if state.end else []
        effects = [record["at"] for record in state.sink.records if isinstance(record["at"], int)]
        self.first = min([*ticks, *asked, *turns] or [1])
        self.quiet = max([*ticks, *answered, *ends, *(turn.end_at for turn in state.turns), self.first])
        self.last = max([self.quiet, *effects, *(rejected.at for rejected in state.sink.rejected)])

    def session(self, name: str) -> str:
        """Return the case's name of a session of the arm."""
        return self.sessions.get(name, self.case.sessions[0].id)
