"""A stored series as `oyer show` needs it: read, derived anew, and looked up by trial.

Owns nothing but the joining: reading is `verify`, deriving is `adjudicate`. Recorded results are never believed here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from oyer.adjudicate import (
    GateInput,
    LaterJudgement,
    SeriesResult,
    course_of,
    derive_series,
    qualified_cases,
    turn_words,
)
from oyer.cli.continuing import REPLAYS, continues_value
from oyer.cli.gating import gate_input, judged_series, judged_value
from oyer.cli.places import open_series_reader
from oyer.errors import Problem, UsageError
from oyer.observe import TrialEvidence
from oyer.records import (
    Comparison,
    Environment,
    Outcome,
    Plan,
    PlannedTrial,
    Qualification,
    Record,
    TrialSuite,
    digest_bytes,
    plain,
)
from oyer.report import (
    Judged,
    comparison_value,
    declared_request,
    later_value,
    message_value,
    outcome_value,
    problem_value,
    read_transcript,
)
from oyer.verify import Later, Reader, Reading, judged_later, parse_record, read_series

R = TypeVar("R", bound=Record)

__all__ = ["Retained", "Wanted", "find_trial", "read_retained", "result_value", "trial_value"]


class Retained(NamedTuple):
    """A series with what it shows. Blobs are fetched when asked for, so it holds only while the series is open."""

    path: Path
    reading: Reading
    result: SeriesResult
    judged: Judged
    later: Later
    given: GateInput
    suite: TrialSuite | None = None
    environments: Mapping[str, Mapping[str, Environment]] = {}

    def evidence(self, trial: str) -> TrialEvidence | None:
        """Return the counted attempt of a trial."""
        given = self.reading.given.trials.get(trial)
        return None if given is None else given.evidence

    def damage(self, trial: str) -> tuple[Problem, ...]:
        """Return why the counted attempt of a trial cannot be unpacked; nothing where it can."""
        self.evidence(trial)
        return self.reading.trials.unreadable.get(trial, ())

    def later_of(self, trial: str) -> tuple[LaterJudgement, ...]:
        """Return the judgements of a trial that no outcome rests on."""
        return tuple(one for one in self.later.judgements if one.judgement.trial == trial)

    def comparison_of(self, trial: str) -> Comparison | None:
        """Return the comparison that a trial is an arm of."""
        for comparison in self.result.comparisons:
            if any(arm.trial == trial for arm in comparison.arms):
                return comparison
        return None


class Wanted(NamedTuple):
    """Which trial is meant: words that all have to match, and perhaps its case and its subject."""

    words: tuple[str, ...] = ()
    case: str | None = None
    subject: str | None = None


def find_trial(retained: Retained, wanted: Wanted) -> PlannedTrial:
    """Find the one planned trial that everything said matches.

    A word is the number of a trial in the plan, its name, its case, its subject, or a part of one of these; where it is
    all of one of them for some trials, it means these alone. A number is never a part of a name, and of two arms of one
    trial the neutral one has to be named. Raises: UsageError E-TRIAL-UNKNOWN, naming those that could be meant.
    """
    trials = list(retained.reading.plan.trials)
    # A word that is one trial's whole name may be a part of the one that is meant: signed-count, and covered.
    found = _all_of(trials, wanted, whole=True) or _all_of(trials, wanted, whole=False)
    pressed = [trial for trial in found if trial.condition != "neutral"]
    if len(found) > 1 and len(pressed) == 1:
        found = pressed
    if len(found) == 1:
        return found[0]
    said = " ".join((*wanted.words, *(text for text in (wanted.case, wanted.subject) if text is not None)))
    told = f"there is no trial {said!r}" if not found else f"{len(found)} trials match {said!r}"
    listed = ", ".join(trial.trial for trial in (found or trials)[:12])
    number = any(word.isdecimal() for word in wanted.words)
    hint = f"one of {listed}" + (f", by number 0 to {len(trials) - 1}" if number else "")
    raise UsageError("E-TRIAL-UNKNOWN", told, hint=hint)


def _all_of(trials: Sequence[PlannedTrial], wanted: Wanted, *, whole: bool) -> list[PlannedTrial]:
    """Return the trials that everything said matches. Each is held against all, so that no order of words matters."""
    asked: list[tuple[str, Callable[[PlannedTrial], Sequence[str]]]] = [(word, _names) for word in wanted.words]
    if wanted.case is not None:
        asked.append((wanted.case, lambda trial: _ends(trial.case)))
    if wanted.subject is not None:
        asked.append((wanted.subject, lambda trial: _without_kind(trial.subject)))
    meant = [{trial.trial for trial in _meant(trials, word, names, whole=whole)} for word, names in asked]
    return [trial for trial in trials if all(trial.trial in each for each in meant)]


def _meant(
    trials: Sequence[PlannedTrial], word: str, names: Callable[[PlannedTrial], Sequence[str]], *, whole: bool
) -> list[PlannedTrial]:
    """Return the trials of which a word is a part of a name; with `whole` those of which it is one, if any."""
    if word.isdecimal():
        return [trial for trial in trials if trial.position == int(word)]
    exact = [trial for trial in trials if word in names(trial)] if whole else []
    return exact or [trial for trial in trials if any(word in name for name in names(trial))]


def _names(trial: PlannedTrial) -> tuple[str, ...]:
    """Everything by which a trial may be called. In its own name a case's slash is a tilde."""
    parts = trial.trial.split(".")
    name = (trial.trial, trial.trial.replace("~", "/"))
    return (*name, *parts, *_ends(trial.case), *_without_kind(trial.subject), trial.condition)


def _ends(case: str) -> tuple[str, ...]:
    """The id of a case, and its ends: its last part may be all that somebody tells it by."""
    parts = case.split("/")
    return tuple("/".join(parts[first:]) for first in range(len(parts)))


def _without_kind(subject: str) -> tuple[str, ...]:
    return (subject, subject.partition(":")[2]) if subject.startswith("scripted:") else (subject,)


def result_value(
    path: Path,
    reading: Reading,
    result: SeriesResult,
    judged: Judged,
    later: Later,
    *,
    trials: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return a series as JSON: where it is, its ledger, its comparisons, its trials."""
    given = reading.given
    comparisons = [
        comparison_value(c, result.outcomes, declared_request(given.cases.get(c.case))) for c in result.comparisons
    ]
    return {
        "series": reading.manifest.series,
        "path": str(path),
        "opened": reading.manifest.opened,
        "continues": continues_value(reading.manifest.extensions),
        "replays": continues_value(reading.manifest.extensions, REPLAYS),
        **judged_value(reading.plan, judged),
        "comparisons": comparisons,
        "trials": list(trials) if trials is not None else [outcome_value(o) for o in result.outcomes.values()],
        "judged_later": [later_value(one) for one in later.judgements],
        "problems": [problem_value(problem) for problem in (*reading.problems, *later.problems)],
    }


def turns_of(retained: Retained, planned: PlannedTrial) -> Mapping[tuple[str, int], str]:
    """Return what each turn of a trial is: a round of pressure, the question, a case of a sequence."""
    cases = retained.reading.given.cases
    case = cases.get(planned.case)
    return {} if case is None else turn_words(case, cases, neutral=planned.condition == "neutral")


def trial_value(retained: Retained, planned: PlannedTrial, *, messages: bool) -> dict[str, Any]:
    """Return one trial as JSON: its outcome, layer facts, link states, reasons, and with `messages` what crossed."""
    outcome: Outcome | None = retained.result.outcomes.get(planned.trial)
    comparison = retained.comparison_of(planned.trial)
    evidence = retained.evidence(planned.trial)
    arm = next((a for a in comparison.arms if a.trial == planned.trial), None) if comparison else None
    value: dict[str, Any] = {
        **plain(planned),
        "outcome": None if outcome is None else outcome_value(outcome),
        "layer_facts": [] if outcome is None else [plain(fact) for fact in outcome.observations],
        "links": [] if arm is None else [plain(link) for link in arm.links],
        "reasons": [plain(reason) for reason in _reasons(comparison, planned.condition)],
        "evaluator_errors": list(retained.judged.errors.get(planned.trial, ())),
        "judged_later": [later_value(one) for one in retained.later_of(planned.trial)],
        "defects": [
            problem_value(defect)
            for defect in (*retained.damage(planned.trial), *(() if evidence is None else evidence.defects))
        ],
    }
    if messages:
        value["messages"] = (
            []
            if evidence is None
            else [message_value(m) for m in read_transcript(evidence, turns_of(retained, planned))]
        )
    return value


def _reasons(comparison: Comparison | None, condition: str) -> list[Any]:
    """The reasons about this arm, and those about no arm in particular."""
    if comparison is None:
        return []
    scored = comparison.hardened if condition == "hardened" else comparison.primary
    return [] if scored is None else [reason for reason in scored.reasons if reason.arm in (None, condition)]


@contextlib.contextmanager
def read_retained(path: Path) -> Iterator[Retained]:
    """Open a series, read it and derive what it shows.

    Raises: UsageError where there is no series, EvidenceError where it cannot be read at all.
    """
    with open_series_reader(path) as reader:
        reading = read_series(reader)
        result = derive_series(reading.given)
        suite = _suite(reader, reading.plan)
        cases = reading.given.cases
        qualified, course = _qualified(reader, reading), course_of(reading.ledger)
        judged = judged_series(reading.plan, cases, result, suite, qualified=qualified, course=course)
        given = gate_input(reading.plan, cases, result, suite, qualified=qualified, course=course)
        environments = _environments(reader, reading)
        later = judged_later(reader, reading.plan)
        yield Retained(path, reading, result, judged, later, given, suite, environments)


def _qualified(reader: Reader, reading: Reading) -> frozenset[str]:
    """Return the cases that the pinned records vouch for: what the plan names is looked at, not believed."""
    environments = {digest for by_case in reading.manifest.environments.values() for digest in by_case.values()}
    harnesses = {
        found.harness.identity for digest in environments if (found := _pinned(reader, digest, Environment)) is not None
    }
    records = {
        digest: kept
        for digest in reading.plan.qualifications.values()
        if (kept := _pinned(reader, digest, Qualification)) is not None
    }
    harness = harnesses.pop() if len(harnesses) == 1 else ""
    return qualified_cases(reading.plan, records, harness, reading.given.cases)


def _environments(reader: Reader, reading: Reading) -> dict[str, dict[str, Environment]]:
    """Return what was pinned about the surroundings, by subject and case, where it is retained."""
    found: dict[str, dict[str, Environment]] = {}
    for subject, by_case in reading.manifest.environments.items():
        pinned = {case: _pinned(reader, digest, Environment) for case, digest in by_case.items()}
        found[subject] = {case: one for case, one in pinned.items() if one is not None}
    return found


def _pinned(reader: Reader, digest: str, kind: type[R]) -> R | None:
    data = reader.pin(digest)
    return None if data is None or digest_bytes(data) != digest else parse_record(data, kind, f"pins/{digest}")


def _suite(reader: Reader, plan: Plan) -> TrialSuite | None:
    """The pinned suite of a series, None where it has none or it cannot be read."""
    if plan.suite is None:
        return None
    data = reader.pin(plan.suite)
    return None if data is None else parse_record(data, TrialSuite, f"pins/{plan.suite}")
