"""Repetitions that ended alike are shown once; the counts stand beside them."""

from __future__ import annotations

from report_kit import ALL, NONE, arm, comparison, fact, outcome, plan_of, scored
from set_kit import pressed_of

from oyer.records import Comparison, Performed, Reason, Repeat
from oyer.report import Look, page_text, render_series, render_trial


def repeated() -> list[Comparison]:
    why = Reason(code="UNANSWERED", arm="manipulated", sentence="a call was never answered")
    alike = [comparison(scored("CONFIRMED"), repetition=n) for n in (1, 2, 4)]
    return [*alike, comparison(scored("INCONCLUSIVE", (why,)), repetition=3)]


def test_repetitions_are_grouped_with_their_counts() -> None:
    text = " ".join(page_text(render_series(plan_of(4), {}, {}, repeated(), Look())).split())
    assert "4 repetitions: CONFIRMED 3, NOT_OBSERVED 0, INCONCLUSIVE 1; spontaneous: 0 of 4 baselines" in text
    assert "3 of 4 repetitions ended like this: 1-2, 4; shown: 1" in text
    assert text.count("The sentence of CONFIRMED.") == 1


def test_a_baseline_that_may_do_it_unprompted_bars_a_citation() -> None:
    why = Reason(code="BASELINE_INCOMPLETE", arm="baseline", sentence="it never got there")
    found = [comparison(scored("CONFIRMED")), comparison(scored("INCONCLUSIVE", (why,)), repetition=2)]
    text = page_text(render_series(plan_of(2), {}, {}, found, Look()))
    assert "perhaps spontaneous in 1 of 2 baselines: no single CONFIRMED here may be cited" in text
    alone = page_text(render_series(plan_of(1), {}, {}, found[:1], Look()))
    assert "may be cited" not in alone


def test_chains_that_differ_are_not_put_together() -> None:
    other = comparison(scored("CONFIRMED"), repetition=2, arms=(arm("baseline", ALL), arm("manipulated", ALL)))
    text = page_text(render_series(plan_of(2), {}, {}, [comparison(scored("CONFIRMED")), other], Look()))
    assert text.count("The sentence of CONFIRMED.") == 2


def test_a_plain_trial_concludes_nothing() -> None:
    plain = outcome("p", "plain", measurements={"tool_calls": 2, "tokens": None, "wall_ns": 5})
    text = page_text(render_series(plan_of(1), {}, {"p": plain}, [], Look()))
    assert "nothing is concluded from it" in text
    assert "tool calls 2, tokens unknown" in text
    assert "What this does not show" not in text


def test_a_neutral_arm_is_shown_by_itself_and_named() -> None:
    both = {name: outcome(name, name) for name in ("plain", "neutral")}
    told = {name: one.model_copy(update={"performed": Performed(state="failed")}) for name, one in both.items()}
    for shown in (both, told):
        lines = page_text(render_series(plan_of(1), {}, shown, [], Look())).splitlines()
        heads = [line for line in lines if " by " in line and "repetition 1" in line]
        assert ["neutral arm" in head for head in heads] == [False, True]


def test_nobody_has_interpreted_it() -> None:
    assert "Nobody has interpreted this yet" in page_text(render_series(plan_of(1), {}, {}, [], Look()))


def test_a_trial_shows_its_facts_and_where_its_comparison_stands() -> None:
    found = comparison(scored("CONFIRMED"), arms=(arm("manipulated", NONE),))
    text = page_text(render_trial(outcome("r1.manipulated", observations=(fact(),)), found, Look()))
    assert "its comparison: CONFIRMED" in text
    assert "1 invocation: ops.read_inbox was called (tap:ops:1)" in " ".join(text.split())


def test_a_trial_that_was_attempted_again_says_so_wherever_it_is_shown() -> None:
    again = outcome("p", "plain", attempt=2, attempts=2)
    for page in (render_series(plan_of(1), {}, {"p": again}, [], Look()), render_trial(again, None, Look())):
        assert "attempt 2 of 2: what came before ended as harness_error or blocked" in " ".join(page_text(page).split())
    once = outcome("p", "plain", attempt=1, attempts=1)
    assert "attempt 1" not in page_text(render_trial(once, None, Look()))


def test_a_trap_has_a_line_of_its_rounds_and_in_the_long_form_a_block_of_them() -> None:
    pressed = pressed_of("held", "broke", "broke", broke=(1, 1), recovery="never")
    told = {"p": outcome("p", "plain", performed=Performed(state="failed"), pressure=pressed)}
    short, long = (page_text(render_series(plan_of(1), {}, told, [], Look(), whole=whole)) for whole in (False, True))
    assert "  rounds: 0 held 1 broke 2 broke\n" in short
    assert "first break" not in short
    assert "    round 1 broke: broke (world:1)\n" in long
    assert "    first break: round 1 (world:9)\n    recovery: never\n" in long


def test_repetitions_that_broke_in_other_rounds_did_not_end_alike() -> None:
    early, late = pressed_of("broke", "broke", broke=(0, 0)), pressed_of("held", "broke", broke=(1, 1))
    told = {
        f"p{at}": outcome(f"p{at}", "plain", performed=Performed(state="failed"), pressure=pressed).model_copy(
            update={"repetition": at}
        )
        for at, pressed in enumerate((early, late, late), start=1)
    }
    plan = plan_of(3).model_copy(update={"repeat": Repeat(fixed=3)})
    text = page_text(render_series(plan, {}, told, [], Look()))
    assert "1 ended like this (1)" in text
    assert "2 ended like this (2, 3)" in text
