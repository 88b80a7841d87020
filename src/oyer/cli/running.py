"""Running a series from the command line: everything is checked first, then run, then told.

Owns the way from arguments to a `RunRequest` and from a `SeriesOutcome` to a page, shared by `run` and `demo`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oyer.cli.gating import judged_series, judged_value
from oyer.cli.loading import PlacedCase
from oyer.cli.progress import ProgressLine
from oyer.cli.selection import Selection
from oyer.cli.terminal import look_of, print_error, print_page, print_text
from oyer.engine import CaseSource, Registered, RunRequest, SeriesOutcome, SubjectSpec, run_series, scripts_of
from oyer.errors import OyerError, Problem, UsageError
from oyer.host import hide_secrets
from oyer.records import CONDITIONS, Condition, Order
from oyer.report import (
    Judged,
    Page,
    comparison_value,
    declared_request,
    fold,
    outcome_value,
    render_series,
    say,
)
from oyer.subjects import check_subject

__all__ = [
    "INTERRUPTED",
    "announce",
    "judged_of",
    "outcome_page",
    "outcome_value_of",
    "read_conditions",
    "request_of",
    "require_subjects",
    "run",
]

INTERRUPTED = 130


def read_conditions(text: str | None, cases: Sequence[PlacedCase]) -> tuple[Condition, ...] | None:
    """Read `baseline,manipulated`. Raises: UsageError for a word that is no condition of every experiment here."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    problems = [
        Problem("E-CONDITION-UNKNOWN", f"{word!r} is no condition", "--conditions", "one of " + ", ".join(CONDITIONS))
        for word in words
        if word not in CONDITIONS
    ]
    if not words:
        problems.append(Problem("E-CONDITION-UNKNOWN", "no condition is named", "--conditions"))
    for placed in cases:
        own = placed.loaded.case.conditions
        problems += [
            Problem("E-CONDITION-UNKNOWN", f"case {placed.loaded.case.id} has no condition {word!r}", "--conditions",
                    f"it has {', '.join(own)}")
            for word in words
            if own and word in CONDITIONS and word not in own
        ]  # fmt: skip
    if problems:
        raise UsageError.of(problems)
    return tuple(name for name in CONDITIONS if name in words)


def require_subjects(subjects: Sequence[SubjectSpec], cases: Sequence[PlacedCase]) -> None:
    """Refuse every subject that does not exist or makes no sense for a case, all at once. Raises: UsageError."""
    problems: list[Problem] = []
    records = {placed.loaded.case.id: placed.loaded.case for placed in cases}
    for spec in subjects:
        for case in records.values():
            try:
                check_subject(spec.what, scripts=scripts_of(case, records), model=spec.model)
            except OyerError as error:
                problems += [p._replace(where=p.where or f"--subject {spec.name}") for p in error.problems]
            if case.intervention is not None and case.intervention.at.gateway and spec.model is None:
                told = f"{case.id} changes requests to a model, and {spec.name} asks none through the gateway"
                hint = "run it with a model: --subject model, with --base-url scripted:NAME for a scripted one"
                problems.append(Problem("E-SUBJECT-GATEWAY", told, f"--subject {spec.name}", hint))
    names = [spec.name for spec in subjects]
    problems += [
        Problem("E-SUBJECT-TWICE", f"subject {name} is named twice", "--subject")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise UsageError.of(dict.fromkeys(problems))


def run(
    selection: Selection,
    out: Path,
    *,
    jobs: int = 1,
    arguments: Sequence[str] = (),
    registered: Registered | None = None,
    neutral: bool = True,
    said: Mapping[str, Mapping[str, Any]] | None = None,
    replay: Path | None = None,
    quiet: bool = False,
) -> SeriesOutcome:
    """Run a series with its progress on standard error unless `quiet`; with `registered`, exactly that plan.

    Without `neutral`, traps run pressed alone. `said` is what the series says of those that it cites, by extension,
    `replay` the one whose recorded answers stand in for model endpoints.
    """
    asked = request_of(selection, out)
    request = replace(
        asked,
        jobs=jobs,
        arguments=tuple(arguments),
        registered=registered,
        neutral=neutral,
        cited=said or {},
        replay=replay,
    )
    keys = {spec.key for spec in request.subjects if spec.key}
    hide_secrets(keys | set(request.secrets.values()), os.environ)
    if quiet:
        return run_series(request)
    with ProgressLine() as progress:
        return run_series(request, on_progress=progress)


def request_of(selection: Selection, out: Path) -> RunRequest:
    """Return what the engine is asked to run, or to plan."""
    return RunRequest(
        cases=tuple(CaseSource(placed.loaded, placed.base, placed.world) for placed in selection.cases),
        subjects=selection.subjects,
        out=out,
        conditions=selection.conditions,
        seed=selection.seed,
        repeat=selection.repeat,
        order=selection.order or Order(),
        sequential=selection.sequential,
        budget=selection.budget,
        suite=None if selection.suite is None else selection.suite.suite,
        rubrics=selection.rubrics,
        evaluators=selection.evaluators,
        judges=selection.judges,
        qualifications=selection.qualifications,
        secrets=selection.secrets,
        admits=None if selection.project is None else selection.project.project.environment.admits,
    )


def outcome_page(outcome: SeriesOutcome, cases: Sequence[PlacedCase], judged: Judged | None = None) -> Page:
    """Lay out what a series shows."""
    look = look_of(sys.stdout)
    by_id = {placed.loaded.case.id: placed.loaded.case for placed in cases}
    page = render_series(outcome.plan, by_id, outcome.result.outcomes, outcome.result.comparisons, look, judged)
    for note in outcome.notes:
        page += fold([say(note, "warn")], look)
    return page


def announce(
    outcome: SeriesOutcome, cases: Sequence[PlacedCase], judged: Judged | None = None, more: Page = ()
) -> None:
    """Print what a series shows, then `more`, and its path as the last line."""
    print_page((*outcome_page(outcome, cases, judged), (), *((*more, ()) if more else ())))
    if outcome.interrupted:
        print_error([Problem("E-INTERRUPTED", "interrupted: what ran is sealed, the rest was not started")])
    print_text(str(outcome.path))


def judged_of(outcome: SeriesOutcome, selection: Selection) -> Judged:
    """Read what a series shows as a whole: its sets, its gates, and what is not qualified."""
    by_id = {placed.loaded.case.id: placed.loaded.case for placed in selection.cases}
    suite = None if selection.suite is None else selection.suite.suite
    qualified = frozenset(selection.qualifications)
    return judged_series(outcome.plan, by_id, outcome.result, suite, qualified=qualified, course=outcome.course)


def outcome_value_of(outcome: SeriesOutcome, cases: Sequence[PlacedCase], judged: Judged) -> dict[str, Any]:
    """Return what a series shows as JSON."""
    result = outcome.result
    by_id = {placed.loaded.case.id: placed.loaded.case for placed in cases}
    return {
        "path": str(outcome.path),
        "interrupted": outcome.interrupted,
        **judged_value(outcome.plan, judged),
        "comparisons": [
            comparison_value(c, result.outcomes, declared_request(by_id.get(c.case))) for c in result.comparisons
        ],
        "trials": [outcome_value(one) for one in result.outcomes.values()],
        "notes": list(outcome.notes),
    }
