"""After which turns the world is looked at while a trial still runs."""

from __future__ import annotations

from typing import Any

import pytest
from set_kit import DIGEST, case_of

from oyer.records import looked_after

SESSIONS = [{"id": "a", "turns": ["One."]}, {"id": "b", "turns": ["Two.", "Three."]}]


@pytest.mark.parametrize(
    ("pressure", "turns"),
    [
        (None, 0),
        ({"rounds": ["Now."]}, 3),
        ({"rounds": ["Now.", "Now!"], "neutral": ["Go on.", "Go on."]}, 4),
        ({"rounds": ["Now.", "Now!"], "ask": "Is it right?"}, 5),
    ],
)
def test_each_turn_of_the_last_session_under_pressure(pressure: dict[str, Any] | None, turns: int) -> None:
    case = case_of("t", "trap", sessions=SESSIONS, pressure=pressure)
    assert looked_after(case) == {("b", turn) for turn in range(turns)}


def test_each_turn_of_each_case_of_a_sequence() -> None:
    told = [("a", "a", 0, 1), ("b", "b", 0, 1), ("c", "b", 1, 1)]
    segments = [
        {"case": case, "digest": DIGEST, "session": session, "first": first, "turns": turns}
        for case, session, first, turns in told
    ]
    assert looked_after(case_of("s", sessions=SESSIONS, segments=segments)) == {("a", 0), ("b", 0), ("b", 1)}
