"""All numbers on one page: no share of decided trials alone, strict JSON, every formula on its page."""

from __future__ import annotations

import json
from pathlib import Path

from gate_kit import series
from set_kit import DIGEST, case_of, comparison_of, experiment_of, outcome_of, plan_of, pressed_of, with_arms

from oyer.adjudicate import FORMULAS, SeriesStatistics, statistics_of
from oyer.report import Look, page_text, render_statistics, statistics_value
from oyer.report.statistics import formulas_used

SAID = [{"id": "said", "text": "x", "rubric": "r"}]


def crashing(decided: int, planned: int, word: str = "PASS") -> SeriesStatistics:
    told = [outcome_of("c", n, said=word) for n in range(1, decided + 1)]
    told += [outcome_of("c", n, "subject_error", said="UNKNOWN") for n in range(decided + 1, planned + 1)]
    plan = plan_of(["c"], planned).model_copy(update={"rubrics": {"r": DIGEST}})
    return statistics_of(series(plan, told), {"c": case_of("c", claims=SAID)})


def test_what_crashed_leaves_two_ends_and_no_share_of_the_rest() -> None:
    found = crashing(3, 10)
    flat = " ".join(page_text(render_statistics(found, Look())).split())
    assert "10 planned = PASS 3 + undecided 7 (subject_error 7)" in flat
    assert "0.30 of all if each of these had failed, 1.00 if each had succeeded" in flat
    assert "pass@1 0.30 to 1.00" in flat
    assert "decided, 7 undecided: 1.0" not in flat
    (rate,) = statistics_value(found)["rates"]
    assert (rate["rate"]["value"], rate["rate"]["wilson_95"], rate["standard_error"]) == (None, None, None)
    assert rate["rate"]["bounds"] == [0.3, 1.0]
    assert rate["tries"][0]["pass_at_k"] == {"value": None, "bounds": [0.3, 1.0]}


def test_none_seen_says_what_it_excludes() -> None:
    flat = " ".join(page_text(render_statistics(crashing(59, 59, "FAIL"), Look())).split())
    assert "none seen excludes rates above 0.050 (one-sided 95 %, independent trials, n fixed)" in flat


def test_arms_are_shown_with_both_counts_their_pairs_and_the_time_between() -> None:
    plan = plan_of({"e": ("baseline", "manipulated")}, 6)
    told = [
        with_arms(comparison_of("e", "CONFIRMED", n), baseline="completed", manipulated="completed")
        for n in range(1, 7)
    ]
    found = statistics_of(series(plan, (), told), {"e": experiment_of("e")})
    flat = " ".join(page_text(render_statistics(found, Look())).split())
    assert "e: baseline 0 of 6 decided, 0 undecided; manipulated 6 of 6 decided, 0 undecided" in flat
    assert "higher in e: difference +1.00; p 0.0312" in flat
    assert "baseline always ran before manipulated (order fixed): time is confounded with the condition" in flat
    assert "spontaneous: 0 of 6 baselines" in flat
    value = statistics_value(found)
    assert value["pairs"][0]["tests"][0]["word"] == "higher"
    assert {"mcnemar", "holm"} <= set(value["formulas"])


def test_an_empty_run_is_strict_json_and_a_page() -> None:
    """EVAL-03: nothing is decided, so there is no number, and no NaN."""
    for found in (crashing(0, 3), crashing(1, 1), crashing(0, 1)):
        json.dumps(statistics_value(found), allow_nan=False)
        assert "nan" not in page_text(render_statistics(found, Look())).lower()


PRESSED = case_of("t", "trap", claims=SAID, pressure={"rounds": ["Now!"], "neutral": ["So."]})


def pressing(*rounds: str) -> SeriesStatistics:
    """A trap under pressure, once for each word: held or broke in round 1; its neutral arm held."""
    plan = plan_of({"t": ("plain", "neutral")}, len(rounds)).model_copy(update={"rubrics": {"r": DIGEST}})
    told = []
    for n, state in enumerate(rounds, start=1):
        broke = (1, 1) if state == "broke" else None
        word = "FAIL" if broke else "PASS"
        told += [outcome_of("t", n, said=word).model_copy(update={"pressure": pressed_of("held", state, broke=broke)})]
        calm = pressed_of("held", "held", arm="neutral")
        told += [outcome_of("t", n, condition="neutral", said="PASS").model_copy(update={"pressure": calm})]
    return statistics_of(series(plan, told), {"t": PRESSED})


def test_what_pressure_did_is_among_the_numbers_with_how_it_is_computed() -> None:
    found = pressing("held", "broke", "broke")
    flat = " ".join(page_text(render_statistics(found, Look())).split())
    assert "t, 1 round: 2 broke in round 1, 1 survived" in flat
    assert "round 1: broke 2 of 3 at risk: 0.67; 95 % limits" in flat
    assert "effect of pressure over 3 pairs with the neutral arm: both broke 0, pressed only 2" in flat
    value = statistics_value(found)
    assert value["pressure"][0]["survival"]["rounds"][0]["broke"] == 2
    assert {"survival", "effect_of_pressure"} <= set(value["formulas"])
    assert not {"survival", "effect_of_pressure"} & set(formulas_used(crashing(3, 4)))


def test_questions_stand_by_subject_first_and_what_was_tried_once_has_no_rate() -> None:
    page = page_text(render_statistics(pressing("broke"), Look()))
    assert page.index("Questions by subject  each tried once") < page.index("Under pressure")
    assert "t said FAIL" in [" ".join(line.split()) for line in page.splitlines()]
    assert "Rates, each of one case" not in page
    assert "pass@1" not in page
    lost = page_text(render_statistics(crashing(0, 1), Look()))
    assert "? subject_error" in lost
    several = page_text(render_statistics(crashing(3, 10), Look()))
    assert "3/3 ?7" in several
    assert "Rates, each of one case" in several


def test_cases_that_came_out_alike_stand_together_with_their_names() -> None:
    names = ["t", "u", "v"]
    plan = plan_of(dict.fromkeys(names, ("plain", "neutral"))).model_copy(update={"rubrics": {"r": DIGEST}})
    told = [outcome_of(name, said="PASS") for name in names]
    told += [outcome_of(name, condition="neutral", said="FAIL" if name == "v" else "PASS") for name in names]
    cases = {name: PRESSED.model_copy(update={"id": name}) for name in names}
    flat = " ".join(page_text(render_statistics(statistics_of(series(plan, told), cases), Look())).split())
    assert "t, u: each neutral 1 of 1 decided, 0 undecided; plain 1 of 1 decided" in flat
    assert "v: neutral 0 of 1 decided, 0 undecided; plain 1 of 1 decided" in flat
    assert (
        "t, u: no test, fewer than two trials are decided on a side: 7 decided pairs are the least that could" in flat
    )


def test_one_value_has_no_quartiles() -> None:
    once = outcome_of("c", 1, said="PASS").model_copy(update={"measurements": {"tool_calls": 4, "wall_ns": 2 * 10**9}})
    plan = plan_of(["c"], 1).model_copy(update={"rubrics": {"r": DIGEST}})
    page = page_text(render_statistics(statistics_of(series(plan, [once]), {"c": case_of("c", claims=SAID)}), Look()))
    assert "c plain by s, 1 trial: time 2 s, tool calls 4" in page
    assert "quartiles " not in page.partition("How these")[0]


def test_every_number_has_a_row_on_the_page_of_reference() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "statistics.md").read_text()
    for name, told in FORMULAS.items():
        assert f"| {name.replace('_', ' ')} | {told.formula} | {told.source} |" in page
    assert set(formulas_used(crashing(3, 4))) <= set(FORMULAS)
