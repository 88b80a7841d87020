"""A small suite with sequences of both kinds, run in this process, for tests of what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from series_kit import run, source_of

from oyer.cli.scopes import load_suite
from oyer.cli.selection import judged_by
from oyer.engine import SeriesOutcome, SubjectSpec
from oyer.records import SegmentOutcome

__all__ = ["COUNT", "DAY", "DAYS", "DESK_FILE", "RULES", "TURNED", "WRITE", "hits", "run_suite", "segments_in"]

DESK_FILE = Path(__file__).resolve().parents[1] / "cases" / "sequences" / "desk.yaml"
RULES, WRITE, COUNT = "desk/rules", "desk/write", "desk/count"
DAY, DAYS, TURNED = "desk/a-day", "desk/two-days", "desk/turned"


def run_suite(
    out: Path, *subjects: str | SubjectSpec, file: Path = DESK_FILE, only: Sequence[str] = (), repeat: int = 1
) -> SeriesOutcome:
    """Run a suite, or these of its cases and sequences, against doubles by their names, or other subjects."""
    placed = load_suite(str(file), only=only)
    rubrics, evaluators = judged_by(placed.cases, placed.scope)
    sources = [source_of(one.loaded, one.base) for one in placed.cases]
    judging = {"suite": placed.suite, "rubrics": rubrics, "evaluators": evaluators, "repeat": repeat}
    specs = [f"scripted:{one}" if isinstance(one, str) else one for one in subjects]
    return run(sources, specs, out, jobs=2 if repeat == 1 and not only else 1, **judging)


def segments_in(outcome: SeriesOutcome, sequence: str, subject: str) -> tuple[SegmentOutcome, ...]:
    """What each case of a sequence came to for one subject, in the first repetition."""
    key = (sequence, subject if subject == "model" else f"scripted:{subject}", 1)
    (found,) = [one for one in outcome.result.outcomes.values() if (one.case, one.subject, one.repetition) == key]
    return found.segments


def hits(segments: tuple[SegmentOutcome, ...]) -> dict[tuple[str, str], str]:
    """What the traces of each case did to each later one."""
    return {(hit.earlier, hit.later): hit.state for one in segments for hit in one.pressure.downstream_contamination}
