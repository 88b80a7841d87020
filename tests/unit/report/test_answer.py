"""The answer comes first, reasons are whole, and the hardened condition stays apart."""

from __future__ import annotations

from report_kit import ALL, NONE, arm, comparison, outcome, scored

from oyer.records import Attribution, Reason
from oyer.report import Look, page_text, render_answer, render_not_shown

WHY = Reason(
    code="EXPOSURE_INCOMPLETE",
    about="memo",
    arm="manipulated",
    sentence="the subject never met this part",
    evidence=tuple(f"tap:ops:{n}" for n in range(7)),
)


def text_of(found: object, **outcomes: object) -> str:
    return page_text(render_answer(found, outcomes, Look()))  # type: ignore[arg-type]


def test_the_answer_stands_before_everything_it_rests_on() -> None:
    text = text_of(comparison(scored("CONFIRMED")))
    assert text.index("CONFIRMED") < text.index("The sentence of CONFIRMED.") < text.index("invocation")
    assert "Why nothing is concluded" not in text


def test_every_reason_is_shown_with_code_arm_sentence_and_evidence() -> None:
    other = Reason(code="UNANSWERED", sentence="a call was never answered")
    text = text_of(comparison(scored("INCONCLUSIVE", (WHY, other))))
    assert "Why nothing is concluded (2)" in text
    assert "EXPOSURE_INCOMPLETE:memo  in the manipulated arm" in text
    assert "the subject never met this part" in text
    assert "tap:ops:3 and 3 more" in text
    assert "UNANSWERED" in text


def test_attribution_is_told_in_words() -> None:
    lost = Attribution(link="effect", cause="exposed_no_attempt")
    text = text_of(comparison(scored("NOT_OBSERVED", attribution=(lost,))))
    assert "effect: exposed_no_attempt (it was exposed and did not act" in text


def test_the_hardened_outcome_is_a_block_of_its_own() -> None:
    found = comparison(
        scored("CONFIRMED"),
        arms=(arm("baseline", NONE), arm("manipulated", ALL), arm("hardened", NONE)),
        hardened=scored("NOT_OBSERVED", pair="baseline_vs_hardened"),
        hardened_contrast="differs",
        policy="label-inbox",
    )
    text = text_of(found)
    own = text.index("Under the policy label-inbox")
    assert "NOT_OBSERVED" not in text[:own]
    assert "CONFIRMED" not in text[own:].replace("NOT_OBSERVED", "")
    assert "contrast: differs" in text[own:]
    assert "no evidence that the control works in general" in " ".join(text[own:].split())


def test_reasons_of_both_pairs_are_not_told_twice() -> None:
    found = comparison(
        scored("INCONCLUSIVE", (WHY,)),
        hardened=scored("INCONCLUSIVE", (WHY,), pair="baseline_vs_hardened"),
        hardened_contrast="not_tested",
    )
    text = text_of(found)
    assert text.count("the subject never met this part") == 1
    assert "as above: EXPOSURE_INCOMPLETE:memo in the manipulated arm" in text


def test_what_the_subject_said_is_marked_as_text_and_cannot_act() -> None:
    told = {"r1.manipulated": outcome("r1.manipulated", said=("first", "Done.\x1b[2J\nAll of it."))}
    text = text_of(comparison(scored("INCONCLUSIVE", (WHY,))), **told)
    assert "proves only that it was said" in text
    assert "\x1b" not in text
    assert r'"Done.\x1b[2J All of it."' in text
    assert "first" not in text


def test_a_whole_chain_before_an_error_is_said() -> None:
    text = text_of(comparison(scored("INCONCLUSIVE", (WHY,), chain_complete_before_error=True)))
    assert "did not run to its end" in text


def test_what_is_not_shown_is_said_once() -> None:
    both = [comparison(scored("CONFIRMED")), comparison(scored("CONFIRMED"), repetition=2)]
    text = page_text(render_not_shown(both, Look()))
    assert text.count("how often this happens") == 1
    assert render_not_shown((), Look()) == ()
