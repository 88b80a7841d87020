"""The verify room: a stored series in, numbered checks out.

Owns the offline verifier and the reading of a series it shares with the run. Must never run a trial, open a network
connection, execute anything from what it reads, or believe a recorded result it can derive again.
"""

from __future__ import annotations

from oyer.verify.growing import Growing
from oyer.verify.later import Later, judged_later
from oyer.verify.reading import Bundled, Key, Keys, Listed, Reader, Reading, StoredTrials, parse_record, read_series
from oyer.verify.result import Check, Signatures, Status, Verification
from oyer.verify.spending import Spent, spent_in, used_by
from oyer.verify.verifier import verify_bundle, verify_series

__all__ = [
    "Bundled",
    "Check",
    "Growing",
    "Key",
    "Keys",
    "Later",
    "Listed",
    "Reader",
    "Reading",
    "Signatures",
    "Spent",
    "Status",
    "StoredTrials",
    "Verification",
    "judged_later",
    "parse_record",
    "read_series",
    "spent_in",
    "used_by",
    "verify_bundle",
    "verify_series",
]
