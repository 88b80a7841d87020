"""How fast sealed journals are scored, and whether that stays linear: events a second for 1,000 to 10,000 trials.

Processor time in one process. The floor parses every line of the same journals as JSON once. The journals are those of
real golden experiments; each trial has its own names and run, and is read when it is asked for, as in a series.
``python bench/scoring.py [TRIALS ...]``: 1000, 3000 and 10000 by default.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "golden")]

from golden_build import GoldenSeries  # noqa: E402

from oyer.adjudicate import derive_groups  # noqa: E402
from oyer.evidence import unpack  # noqa: E402
from oyer.store import SeriesReader  # noqa: E402
from oyer.verify import read_series  # noqa: E402

LIMIT_BYTES = 1 << 31
EACH = 4
"""Trials of one repetition: two subjects, two arms."""


def build(place: Path, trials: int) -> Path:
    """Write a golden series with this many trials."""
    golden = GoldenSeries(place / "series", conditions=("baseline", "manipulated"), repeat=trials // EACH)
    for planned in golden.plan.trials:
        script = golden.claim(planned)
        script.open()
        script.session_a()
        script.session_b()
        script.shut()
        script.close()
    golden.finish()
    return place / "series"


def floor(series: Path) -> tuple[float, int]:
    """Return the seconds to unpack every journal and parse its lines once, and how many events there are."""
    began, events = time.process_time(), 0
    for path in series.glob("trials/*/*/*.tar.zst"):
        for data in unpack(path.read_bytes(), LIMIT_BYTES).values():
            for line in data.split(b"\n"):
                if line:
                    json.loads(line)
                    events += 1
    return time.process_time() - began, events


def score(series: Path) -> tuple[float, int]:
    """Return the seconds that scoring every repetition takes, and how many comparisons there are."""
    with SeriesReader(series) as reader:
        given = read_series(reader).given
        began, comparisons = time.process_time(), 0
        for shown in derive_groups(given._replace(named={})):
            comparisons += len(shown.comparisons)
        return time.process_time() - began, comparisons


def main(arguments: list[str]) -> int:
    """Measure every size; the last column is the time of a trial as a multiple of that in the smallest series."""
    first = 0.0
    for trials in [int(argument) for argument in arguments] or [1000, 3000, 10000]:
        with tempfile.TemporaryDirectory() as place:
            series = build(Path(place), trials)
            least, events = floor(series)
            took, comparisons = score(series)
        each = took / trials
        first = first or each
        print(
            f"{trials:6} trials {events:8} events {comparisons:6} comparisons   {events / took:8.0f} events/s   "
            f"{took / least:5.1f} x the floor   {each / first:4.2f} x a trial of the smallest",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
