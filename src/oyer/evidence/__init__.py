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
from oyer.evidence.canonical import ABSENT_DIGEST, MAX_SAFE_INT, digest_of, encode_canonical
from oyer.evidence.chain import Chain, Envelope, WriterHead
from oyer.evidence.events import Event, encode_event, make_ref, parse_event, split_ref
from oyer.evidence.journal import JournalCheck, check_journal
from oyer.evidence.payloads import INLINE_LIMIT_BYTES, make_payload, payload_bytes
from oyer.evidence.redactor import RedactingStream, Redactor
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
    "INLINE_LIMIT_BYTES",
    "KINDS",
    "MAX_SAFE_INT",
    "RESERVED_KINDS",
    "VOCABULARY",
    "AttemptCheck",
    "Chain",
    "Envelope",
    "Event",
    "JournalCheck",
    "RedactingStream",
    "Redactor",
    "WriterHead",
    "body_payloads",
    "check_attempt",
    "check_body",
    "check_causes",
    "check_journal",
    "check_writer_kind",
    "check_writers",
    "digest_of",
    "encode_canonical",
    "encode_event",
    "journal_name",
    "make_payload",
    "make_ref",
    "parse_event",
    "payload_bytes",
    "split_ref",
    "writer_of",
]
