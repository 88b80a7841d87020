"""The adjudicate room: from facts to mechanical outcomes, with every reason and its evidence.

Owns the scoring law. Pure: the same sealed evidence and pinned records give the same records, byte for byte. Must never
retry, drop or reconstruct; never conclude while a reason stands; never let status, verdict and outcome stand in for
one another.
"""

from __future__ import annotations

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.compare import ComparisonInput, compare
from oyer.adjudicate.ledger import LedgerCount, count_ledger
from oyer.adjudicate.outcomes import derive_outcome
from oyer.adjudicate.pins import observed_pins
from oyer.adjudicate.reasons import REASONS
from oyer.adjudicate.series import (
    SeriesInput,
    SeriesResult,
    TrialInput,
    by_run,
    derive_groups,
    derive_series,
    derived_files,
    groups_of,
    named_aside,
    named_runs,
)

__all__ = [
    "REASONS",
    "Arm",
    "ComparisonInput",
    "LedgerCount",
    "SeriesInput",
    "SeriesResult",
    "TrialInput",
    "by_run",
    "compare",
    "count_ledger",
    "derive_groups",
    "derive_outcome",
    "derive_series",
    "derived_files",
    "groups_of",
    "named_aside",
    "named_runs",
    "observed_pins",
]
