"""Rates over repetitions: never without their counts, and nothing that is no number."""

from __future__ import annotations

import json

from oyer.adjudicate import Tally
from oyer.report import Look, page_text, render_tallies, tally_value


def tally(planned: int, words: dict[str, int], why: dict[str, int]) -> Tally:
    parts = " + ".join(f"{word} {number}" for word, number in words.items())
    line = f"{planned} planned = {parts} + undecided {sum(why.values())}"
    return Tally("verdict(c, said)", "c", "s", planned, words, why, line)


def test_a_rate_stands_with_its_four_counts_and_both_bounds() -> None:
    """EVAL-01: planned, scored, failed and missing, 0.66 to 0.78, and no bare 0.75."""
    text = page_text(render_tallies([tally(50, {"FAIL": 11, "PASS": 33}, {"harness_error": 6})], Look()))
    flat = " ".join(text.split())
    assert "50 planned = FAIL 11 + PASS 33 + undecided 6" in flat
    assert "PASS 33 of 44 decided, 6 undecided: 0.66 of all if each of these had failed, 0.78" in flat
    assert "0.75" not in flat


def test_one_repetition_is_no_rate() -> None:
    assert render_tallies([tally(1, {"PASS": 1}, {})], Look()) == ()
    assert render_tallies([], Look()) == ()


def test_what_cannot_be_estimated_is_null_with_its_reason() -> None:
    """EVAL-03: strict JSON, no NaN, and a named reason."""
    for words, why in (({"PASS": 1}, {"blocked": 2}), ({}, {"blocked": 3})):
        value = tally_value(tally(3, words, why))
        json.dumps(value, allow_nan=False)
        rate = value["rates"]["PASS"]
        assert (rate["wilson_95"], rate["limits_95"]) == (None, None)
        assert rate["why_not"] in ("fewer than two trials are decided", "no trial is decided")
    whole = tally_value(tally(4, {"FAIL": 2, "PASS": 2}, {}))
    assert whole["rates"]["FAIL"]["value"] == 0.5
    assert whole["rates"]["PASS"]["bounds"] == [0.5, 0.5]
