"""The store room: a series on disk, written so that a crash leaves something true.

Owns files: journals, blobs, ledger, packed attempts, seals, and reading them back without following links. Must never
judge evidence, know what a trial is about, or read a clock (it is handed one).
"""

from __future__ import annotations

from oyer.store.attempt import AttemptStore, attempt_dir, packed_path
from oyer.store.blobs import BlobStore
from oyer.store.drafting import Payloads
from oyer.store.durable import FAULT_POINTS, FaultPoint, no_fault
from oyer.store.journal import Clock, Journal, JournalWriter, MemoryJournal
from oyer.store.reader import ReadLimits, SeriesReader, StoredAttempt
from oyer.store.series import Interrupted, SeriesStore

__all__ = [
    "FAULT_POINTS",
    "AttemptStore",
    "BlobStore",
    "Clock",
    "FaultPoint",
    "Interrupted",
    "Journal",
    "JournalWriter",
    "MemoryJournal",
    "Payloads",
    "ReadLimits",
    "SeriesReader",
    "SeriesStore",
    "StoredAttempt",
    "attempt_dir",
    "no_fault",
    "packed_path",
]
