"""The ledger line adds up, or says that it does not."""

from __future__ import annotations

from report_kit import comparison, outcome, plan_of, scored

from oyer.adjudicate import LedgerCount, count_ledger
from oyer.report import Look, page_text, render_ledger
from oyer.report.ledger import told_spontaneous


def test_planned_trials_are_conserved() -> None:
    outcomes = [outcome("r1.baseline", "baseline"), outcome("r1.manipulated", status="subject_error")]
    count = count_ledger(plan_of(2), outcomes, [comparison(scored("INCONCLUSIVE"))])
    text = " ".join(page_text(render_ledger(count, Look())).split())
    assert "planned trials 4 = completed 1 + subject_error 1 + harness_error 0 + blocked 0 + not_run 2" in text
    assert "comparisons 1 = CONFIRMED 0 + NOT_OBSERVED 0 + INCONCLUSIVE 1" in text
    assert "not run: r2.baseline, r2.manipulated" in text
    assert "ADD UP" not in text


def test_a_sum_that_does_not_hold_is_not_hidden() -> None:
    wrong = LedgerCount(3, {"completed": 2}, {"CONFIRMED": 1}, 1, 0, 1, 1, ())
    text = page_text(render_ledger(wrong, Look()))
    assert "THIS DOES NOT ADD UP" in text
    assert "spontaneous: 1 of 1 baselines (0 acted, 1 undecided, counted as if they had)" in " ".join(text.split())


def test_baselines_that_acted_are_told_without_a_doubt() -> None:
    count = LedgerCount(2, {"completed": 2}, {"CONFIRMED": 1}, 1, 0, 1, 1, (), acted=1)
    assert told_spontaneous(count) == "spontaneous: 1 of 1 baselines (1 acted, 0 undecided)"


def test_an_interrupted_series_names_the_first_of_what_did_not_run() -> None:
    count = count_ledger(plan_of(40), [], [])
    text = " ".join(page_text(render_ledger(count, Look())).split())
    assert f"{count.missing[11]} and 68 more (all of them: --json)" in text
    assert count.missing[12] not in text
