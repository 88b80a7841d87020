"""Two series on one page: both counts beside every difference, one answer, and nothing that the tests did not give."""

from __future__ import annotations

import json

import pytest
from gate_kit import series
from set_kit import DIGEST, case_of, outcome_of, plan_of, pressed_of

from oyer.adjudicate import Difference, SeriesSide, compare_series
from oyer.report import Look, answer_of, difference_value, page_text, render_difference
from oyer.report.lock_words import LockDifference

SAID = [{"id": "said", "text": "x", "rubric": "r"}]


def difference(first: list[str], second: list[str]) -> Difference:
    """Compare one case; a word in small letters is a lost trial."""

    def side(words: list[str], subject: str) -> SeriesSide:
        plan = plan_of(["c"], len(words), (subject,)).model_copy(update={"rubrics": {"r": DIGEST}})
        told = [
            outcome_of("c", at, subject=subject, said=word)
            if word.isupper()
            else outcome_of("c", at, word, subject=subject)
            for at, word in enumerate(words, 1)
        ]
        return SeriesSide(series(plan, told), {"c": case_of("c", claims=SAID)}, {}, subject, subject)

    return compare_series([(side(first, "old"), side(second, "new"))], seed=1, draws=1000)


PIN = LockDifference("environments.c.python", "Python: was 3.11, is 3.12", "3.11", "3.12")


def flat(found: Difference, pins: tuple[LockDifference, ...] = ()) -> str:
    return " ".join(page_text(render_difference(found, pins, ("a", "b"), Look())).split())


def test_both_counts_stand_beside_the_difference() -> None:
    told = flat(difference(["PASS"] * 8, ["FAIL"] * 7 + ["PASS"]), (PIN,))
    assert "A a by old: planned trials 8 = completed 8" in told
    assert "A 8 planned = PASS 8 + undecided 0 B 8 planned = FAIL 7 + PASS 1 + undecided 0" in told
    assert "worse in c: difference -0.88; 95 % limits" in told
    assert "two proportions, exact, this case only" in told
    assert "Python: was 3.11, is 3.12" in told
    assert "Worse: a difference is decided. Of 1 test: 1 worse." in told
    assert "nothing here says which of it did it" in told


def test_with_losses_both_ends_are_told_and_no_difference_by_itself() -> None:
    found = difference(["PASS"] * 10 + ["FAIL"] * 10, ["PASS"] * 10 + ["blocked"] * 10)
    told = flat(found)
    assert "not decided in c: difference +0.00 to +0.50, as the undecided trials would have come out" in told
    assert "it depends on what the undecided trials would have come to" in told
    value = difference_value(found, ())
    json.dumps(value, allow_nan=False)
    (test,) = value["tests"]
    assert (test["difference"], test["p"], test["bounds"]) == (None, None, [0.0, 0.5])
    assert value["rows"][0]["second"] == {
        "line": "20 planned = PASS 10 + undecided 10 (blocked 10)",
        "words": {"PASS": 10},
        "why": {"blocked": 10},
        "k": 10,
        "decided": 10,
        "undecided": 10,
    }


def test_many_pins_are_cut_and_counted() -> None:
    pins = tuple(PIN._replace(sentence=f"thing {n} moved") for n in range(20))
    found = difference(["PASS"] * 4, ["PASS"] * 4)
    assert "and 8 more (--pins shows all)" in flat(found, pins)
    every = page_text(render_difference(found, pins, ("a", "b"), Look(), every=True))
    assert "thing 19 moved" in every
    assert "Fixed alike nothing that was pinned differs" in flat(found)


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (["PASS"] * 5, ["PASS"] * 5, "No difference for the worse is decided. Of 1 test: 1 no difference decided."),
        (["FAIL"] * 5, ["PASS"] * 5, "No difference for the worse is decided. Of 1 test: 1 better."),
        (["PASS"] * 5, ["FAIL"] * 5, "Worse: a difference is decided. Of 1 test: 1 worse."),
        (["PASS"] * 2, ["FAIL"] * 2, "Not decided. Of 1 test: 1 not decided."),
    ],
)
def test_the_answer_is_one_sentence(first: list[str], second: list[str], answer: str) -> None:
    assert answer_of(difference(first, second)) == answer


def test_what_is_lacking_is_told_as_a_number() -> None:
    told = flat(difference(["PASS"] * 3, ["FAIL"] * 3))
    assert "whatever they came to: 4 decided trials on each side are the least that could" in told
    (test,) = difference_value(difference(["PASS"] * 3, ["FAIL"] * 3), ())["tests"]
    assert test["least_to_decide"] == 4
    assert "are the least" not in flat(difference(["PASS"] * 8, ["FAIL"] * 8))


def test_pressure_is_told_by_trap_with_what_is_counted_and_not_tested() -> None:
    trap = case_of("t", "trap", claims=SAID, pressure={"rounds": ["Now!"]}, repair={"world_path": "x", "changed": True})

    def side(first: int, subject: str) -> SeriesSide:
        plan = plan_of(["t"], 8, (subject,)).model_copy(update={"rubrics": {"r": DIGEST}})
        states = ["broke" if round_ >= first else "held" for round_ in range(2)]
        pressed = pressed_of(*states, broke=(first, first), recovery="never")
        told = [
            outcome_of("t", at, subject=subject, said="FAIL").model_copy(update={"pressure": pressed})
            for at in range(1, 9)
        ]
        return SeriesSide(series(plan, told), {"t": trap}, {}, subject, subject)

    found = compare_series([(side(1, "old"), side(0, "new"))], seed=1, draws=1000)
    told = flat(found)
    assert "first_break(t) old to new A 8 planned = round 1 8 + undecided 0 B 8 planned = round 0 8" in told
    assert "held(t, 0) old to new: A 8 of 8 decided, 0 undecided; B 0 of 8 decided, 0 undecided" in told
    assert "recovery(t) old to new A 8 planned = never 8" in told
    assert "recovery and truthful_non_completion are counted and not tested" in told
    assert "what pressure did is a family of its own" in told
    assert "worse in t: difference -1.00" in told
    assert "family of its own" not in flat(difference(["PASS"] * 8, ["FAIL"] * 8))
