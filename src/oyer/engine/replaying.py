"""A sealed series in place of model endpoints: which of its trials answers for which of ours.

Owns the pairing: same case by name, same subject, repetition and condition. Must never pair a trial with one of another
arm, or let a trial without a pair ask anything live.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from oyer.errors import OyerError, UsageError
from oyer.observe import RecordedExchange, read_recording, read_trial
from oyer.records import Plan, PlannedTrial
from oyer.store import SeriesReader
from oyer.verify import parse_record

__all__ = ["Recording", "TrialRecording"]


class TrialRecording(NamedTuple):
    """What a recorded trial's model was asked and answered, and the run tokens of that trial."""

    exchanges: tuple[RecordedExchange, ...]
    masks: Mapping[str, str]


class Recording:
    """The exchanges of a sealed series, read trial by trial when they are asked for.

    Raises: UsageError `E-REPLAY` where its plan cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with SeriesReader(path) as reader:
                plan = parse_record(reader.plan(), Plan, "plan.json")
                latest: dict[str, int] = {}
                for one in reader.attempts():
                    if one.packed:
                        latest[one.trial] = max(one.attempt, latest.get(one.trial, 0))
        except (OyerError, OSError) as error:
            raise UsageError("E-REPLAY", f"no series that can be replayed: {error}", where=str(path)) from error
        self._trials = {_key(planned): planned.trial for planned in plan.trials if planned.trial in latest}
        self._latest = latest

    def of(self, planned: PlannedTrial) -> TrialRecording:
        """Return what was recorded for a trial; nothing where the series has no such trial."""
        trial = self._trials.get(_key(planned))
        if trial is None:
            return TrialRecording((), {})
        with SeriesReader(self._path) as reader:
            evidence = read_trial(reader.journals(trial, self._latest[trial]), reader.content)
            return TrialRecording(read_recording(evidence), evidence.masks)


def _key(planned: PlannedTrial) -> tuple[str, str, int, str]:
    return planned.case, planned.subject, planned.repetition, planned.condition
