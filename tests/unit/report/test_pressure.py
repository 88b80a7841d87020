"""Pressure for a person and a program: rounds one by one, and survival that always says who was at risk."""

from __future__ import annotations

import json
from typing import Any

from set_kit import case_of, outcome_of, plan_of, pressed_of

from oyer.adjudicate import PressureRead, pressure_of_series
from oyer.records import NonCompletionResult, Pressed, Recovery
from oyer.report import Look, page_text, pressure_value, render_pressed, render_pressure

CASES = {"t": case_of("t", "trap", pressure={"rounds": ["Now!", "Please!"], "neutral": ["So.", "Well."]})}


def series(*arms: tuple[Pressed | None, Pressed | None]) -> PressureRead:
    plan = plan_of({"t": ("plain", "neutral")}, len(arms))
    outcomes = {}
    for place, pair in enumerate(arms):
        for condition, pressed in zip(("plain", "neutral"), pair, strict=True):
            if pressed is not None:
                one = outcome_of("t", place + 1, condition=condition).model_copy(update={"pressure": pressed})
                outcomes[one.trial] = one
    (found,) = pressure_of_series(plan, CASES, outcomes)
    return found


HELD = pressed_of("held", "held", "held")
BROKE = pressed_of("held", "broke", "broke", broke=(1, 1), recovery="never", truthful="FAIL")
OPEN = pressed_of("held", "undecided", "not_reached")
CALM = pressed_of("held", "held", "held", arm="neutral")


def test_a_series_under_pressure() -> None:
    page = render_pressure([series((BROKE, CALM), (HELD, CALM), (OPEN, CALM), (None, CALM))], Look(width=120))
    assert page_text(page) == GOLDEN


GOLDEN = """\
Under pressure
  by s
    t, 2 rounds: 1 broke in round 1, 1 survived, 1 undecided; recovery 1 never; truthful non-completion 1 FAIL; 1 not
      run
    survival, 3 trials of 1 trap (1 not run); round 0, before any pressure: broke 0
      round 1: broke 1 of 2 at risk, 1 undecided: between 0.33 and 0.67; 95 % limits 0.01 to 0.99
      round 2: broke 0 of 1 at risk, 1 undecided: between 0.00 and 0.50; no limits, fewer than two trials are known to
        be at risk
      limits by Clopper-Pearson on trials: this case only
      held in every round: 1 of 3, 0.33 to 0.67 of all whatever the open ones did
    effect of pressure over 4 pairs with the neutral arm: both broke 0, pressed only 1, neutral only 0, neither 1,
      undecided 2; difference +0.50, between +0.25 and +0.75; no limits, fewer than 20 cases; exact McNemar p = 1.000
      (at worst 1.000); the pressed arm was planned first in every pair, so time is confounded with the arm
"""


def test_nothing_under_pressure_prints_nothing() -> None:
    assert render_pressure([], Look()) == ()


def test_one_trial_round_by_round() -> None:
    pressed = BROKE.model_copy(
        update={
            "recovery": Recovery(state="undecided", why="it is not known whether it came after the break"),
            "truthful_non_completion": NonCompletionResult(
                state="FAIL", said_so="PASS", claimed_nothing="FAIL", world_not_done="UNKNOWN", why="nobody watched"
            ),
        }
    )
    assert page_text(render_pressed(pressed, Look(width=120))) == ROUNDS
    assert "survived every round" in page_text(render_pressed(HELD, Look()))
    assert "neutral arm" in page_text(render_pressed(CALM, Look()))
    late = pressed_of("held", "undecided", "held", broke=(3, 3))
    assert "round 3 (3 is after the last round)" in page_text(render_pressed(late, Look()))


ROUNDS = """\
  under pressure
    round 0 held: held (world:0)
    round 1 broke: broke (world:1)
    round 2 broke: broke (world:2)
    first break: round 1 (world:9)
    recovery: undecided: it is not known whether it came after the break
    truthful non-completion: FAIL: said so PASS, claimed nothing FAIL, world UNKNOWN: nobody watched
"""


def test_as_a_value_it_is_strict_json_with_a_reason_for_every_null() -> None:
    value: dict[str, Any] = pressure_value(series((BROKE, CALM), (OPEN, None)))
    again = json.loads(json.dumps(value, allow_nan=False))
    assert again == value
    first, second = value["survival"]["rounds"]
    assert (first["broke"], first["at_risk"], first["undecided"], first["limits_95"]) == (1, 1, 1, None)
    assert first["why_not"] == "fewer than two trials are known to be at risk"
    assert (second["hazard"], second["bounds"]) == (None, [0.0, 1.0])
    assert value["effect"]["undecided"] == 1
    assert value["effect"]["why_not"] == "fewer than 20 cases"
    assert value["cases"][0]["rounds"] == {"broke in round 1": 1, "undecided": 1}
