"""The store room: a series on disk, written so that a crash leaves something true.

Owns files: journals, blobs, ledger, packed attempts, seals, bundles, public keys, and reading them back without
following links. Must never judge evidence, know what a trial is about, or read a clock (it is handed one).
"""

from __future__ import annotations

from oyer.store.attempt import AttemptStore, attempt_dir, packed_path
from oyer.store.blobs import BlobStore
from oyer.store.bundle import Sign, WrittenBundle, make_parents, require_new_file, write_bundle
from oyer.store.drafting import Payloads
from oyer.store.durable import FAULT_POINTS, FaultPoint, no_fault
from oyer.store.journal import Clock, Journal, JournalWriter, MemoryJournal
from oyer.store.keys import PublicKey, encode_public_key, read_public_key
from oyer.store.reader import BundleReader, ReadLimits, SeriesReader, StoredAttempt
from oyer.store.series import Interrupted, SeriesStore

__all__ = [
    "FAULT_POINTS",
    "AttemptStore",
    "BlobStore",
    "BundleReader",
    "Clock",
    "FaultPoint",
    "Interrupted",
    "Journal",
    "JournalWriter",
    "MemoryJournal",
    "Payloads",
    "PublicKey",
    "ReadLimits",
    "SeriesReader",
    "SeriesStore",
    "Sign",
    "StoredAttempt",
    "WrittenBundle",
    "attempt_dir",
    "encode_public_key",
    "make_parents",
    "no_fault",
    "packed_path",
    "read_public_key",
    "require_new_file",
    "write_bundle",
]
