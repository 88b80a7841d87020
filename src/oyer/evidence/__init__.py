"""The evidence room (bytes in, bytes out): vocabulary, chains, payloads, ledger, seals, packing, redaction.

Owns what a piece of evidence is and when it is intact. Must never touch a file, a clock or a process, never repair
what it reads, and never raise on bad evidence from a `check_` function: defects are values.
"""

from __future__ import annotations

from oyer.evidence.attempt import (
    AttemptCheck,
    check_attempt,
    check_causes,
    check_writers,
    journal_name,
    writer_of,
)
from oyer.evidence.blobs import blob_path, decode_blob, digest_hex, encode_blob, measure_blob
from oyer.evidence.canonical import ABSENT_DIGEST, MAX_SAFE_INT, digest_of, encode_canonical
from oyer.evidence.chain import Chain, Envelope, WriterHead
from oyer.evidence.events import Event, encode_event, make_ref, parse_event, split_ref
from oyer.evidence.journal import JournalCheck, check_journal
from oyer.evidence.ledger import LedgerChain, LedgerCheck, LedgerRecord, check_ledger, parse_ledger_line
from oyer.evidence.packing import attempt_dir, pack, packed_path, unpack
from oyer.evidence.payloads import INLINE_LIMIT_BYTES, make_payload, payload_bytes
from oyer.evidence.redactor import RedactingStream, Redactor
from oyer.evidence.seals import (
    ACTS,
    Act,
    Seal,
    StoredFile,
    check_seals,
    encode_seal,
    is_sealable,
    is_stored_path,
    make_seal,
    parse_seal,
    seal_path,
)
from oyer.evidence.transitions import AttemptState
from oyer.evidence.vocabulary import (
    KINDS,
    RESERVED_KINDS,
    VOCABULARY,
    body_payloads,
    check_body,
    check_writer_kind,
)

__all__ = [
    "ABSENT_DIGEST",
    "ACTS",
    "INLINE_LIMIT_BYTES",
    "KINDS",
    "MAX_SAFE_INT",
    "RESERVED_KINDS",
    "VOCABULARY",
    "Act",
    "AttemptCheck",
    "AttemptState",
    "Chain",
    "Envelope",
    "Event",
    "JournalCheck",
    "LedgerChain",
    "LedgerCheck",
    "LedgerRecord",
    "RedactingStream",
    "Redactor",
    "Seal",
    "StoredFile",
    "WriterHead",
    "attempt_dir",
    "blob_path",
    "body_payloads",
    "check_attempt",
    "check_body",
    "check_causes",
    "check_journal",
    "check_ledger",
    "check_seals",
    "check_writer_kind",
    "check_writers",
    "decode_blob",
    "digest_hex",
    "digest_of",
    "encode_blob",
    "encode_canonical",
    "encode_event",
    "encode_seal",
    "is_sealable",
    "is_stored_path",
    "journal_name",
    "make_payload",
    "make_ref",
    "make_seal",
    "measure_blob",
    "pack",
    "packed_path",
    "parse_event",
    "parse_ledger_line",
    "parse_seal",
    "payload_bytes",
    "seal_path",
    "split_ref",
    "unpack",
    "writer_of",
]
