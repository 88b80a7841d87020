"""Check 6: every planned trial is accounted for, and no other.

Proves that each trial of the plan has exactly one counted attempt or is excluded or not run with the reason on record
(a rule or budget that the plan declares, with its line in the ledger, before and after which nothing ran that it bars),
that every attempt the ledger knows has its evidence and every attempt on disk is one the ledger knows, and that no
trial outside the plan was run. Source: the design's scoring page, "The ledger".
"""

from __future__ import annotations

from collections.abc import Sequence

from oyer.verify.attempts import AttemptReading
from oyer.verify.result import Check, Findings
from oyer.verify.stopped import kept_to_plan, left_out
from oyer.verify.survey import Phase, Survey

__all__ = ["check_trials"]

ADVICE = "a series with a missing or added trial proves nothing about its plan: restore it from a copy"

INTERRUPTED = "interrupted"
"""Why the ledger says that an attempt ended, where the operator stopped it."""


def check_trials(survey: Survey, attempts: Sequence[AttemptReading]) -> Check:
    """Compare plan, ledger and disk."""
    found = Findings(6, "trials", ADVICE)
    _on_disk(survey, attempts, found)
    if survey.plan is None:
        found.open("E-VERIFY-UNREAD", "the plan cannot be read", "plan.json", "see check 4")
    elif survey.phase is Phase.BROKEN:
        found.open("E-VERIFY-UNREAD", "the ledger does not hold", "ledger.jsonl", "see check 5")
    elif survey.phase is Phase.UNOPENED:
        found.open("E-SERIES-NONE", "the series was never opened: no trial ran", "ledger.jsonl")
    if survey.plan is not None and survey.phase is not Phase.UNOPENED:
        _unplanned(survey, found)
        _accounted(survey, found)
    left = kept_to_plan(survey, found) if survey.phase is not Phase.UNOPENED else ""
    counted = sum(survey.ledger.counted(trial) is not None for trial in survey.planned)
    excluded = len(survey.ledger.excluded)
    return found.close(f"{len(survey.planned)} planned: {counted} with one counted attempt, {excluded} excluded{left}")


def _on_disk(survey: Survey, attempts: Sequence[AttemptReading], found: Findings) -> None:
    for attempt in attempts:
        if attempt.missing:
            found.failed("E-ATTEMPT-MISSING", f"the evidence of {attempt.name} is not there", attempt.path)
        elif attempt.state is None and survey.phase is not Phase.BROKEN:
            found.failed("E-ATTEMPT-UNKNOWN", f"the ledger knows no {attempt.name}", attempt.path, "remove it")
    for path, part in survey.parts.items():
        if part.kind == "unknown" and path.startswith("trials/"):
            found.failed("E-ATTEMPT-UNKNOWN", "it belongs to no attempt of the ledger", path, "remove it")


def _unplanned(survey: Survey, found: Findings) -> None:
    for trial in sorted({*survey.ledger.attempts, *survey.ledger.excluded} - set(survey.planned)):
        found.failed("E-LEDGER-UNPLANNED", f"trial {trial} was run and is not in the plan", f"ledger.jsonl {trial}")


def _accounted(survey: Survey, found: Findings) -> None:
    """Every planned trial without a counted attempt needs a reason that is on record."""
    waiting: list[str] = []
    cut: list[str] = []
    left = left_out(survey)
    for trial in survey.planned:
        counted = survey.ledger.counted(trial)
        if trial in survey.ledger.excluded:
            _excluded(survey, trial, survey.ledger.excluded[trial], found)
        elif counted is not None:
            if survey.interrupted and counted.why == INTERRUPTED:
                cut.append(trial)
        elif trial in left:
            continue
        elif survey.phase is Phase.CLOSED and not survey.interrupted:
            found.failed(
                "E-LEDGER-ROW", f"trial {trial} is planned and has no counted attempt", f"ledger.jsonl {trial}"
            )
        elif survey.phase is not Phase.BROKEN:
            waiting.append(trial)
    if waiting:
        why = "the operator interrupted the series" if survey.interrupted else "the series was not closed"
        message = f"{len(waiting)} of {len(survey.planned)} planned trials have no counted attempt: {why}"
        found.open("E-LEDGER-ROW", message, f"ledger.jsonl {waiting[0]}", "run the plan again, in a new directory")
    if cut:
        message = f"{len(cut)} of {len(survey.planned)} planned trials were cut short by the operator"
        found.open("E-LEDGER-ROW", message, f"ledger.jsonl {cut[0]}", "run the plan again, in a new directory")
    if not waiting and survey.phase is Phase.OPEN:
        found.open(
            "E-SERIES-OPEN",
            "every trial ran, and the series was not closed",
            "ledger.jsonl",
            "run the plan again, in a new directory",
        )
    if not waiting and not cut and survey.interrupted:
        found.note("the operator interrupted the series after its last trial had ended")


def _excluded(survey: Survey, trial: str, why: str, found: Findings) -> None:
    """An exclusion counts only where the plan had a rule for it before anything ran."""
    if survey.plan is not None and not survey.plan.exclude:
        message = f"trial {trial} was excluded ({why}), and the plan has no rule for that"
        found.failed("E-LEDGER-EXCLUDED", message, f"ledger.jsonl {trial}")
    else:
        found.note(f"excluded: trial {trial}: {why}")
