"""Journals, ledgers, seals, packed attempts, archives, manifests and signed statements out of any bytes."""

from __future__ import annotations

import json

from guided import named, total

from oyer.errors import EvidenceError
from oyer.evidence import (
    ABSENT_DIGEST,
    check_archive,
    check_attempt,
    check_journal,
    check_ledger,
    check_seals,
    check_unfolding,
    compare_statements,
    decode_blob,
    digest_of,
    encode_blob,
    encode_canonical,
    encode_event,
    encode_manifest,
    encode_seal,
    encode_signed,
    make_plan_statement,
    measure_blob,
    pack,
    parse_event,
    parse_ledger_line,
    parse_manifest,
    parse_plan_statement,
    parse_seal,
    parse_signed,
    unpack,
)

LIMIT_BYTES = 1 << 20
EXPECTED = make_plan_statement(b"{}", "2026-01-01T00:00:00Z")


class MemoryBytes:
    """An archive in memory. Satisfies `evidence.StoredBytes`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read_at(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def _chained(data: bytes) -> bytes:
    """Give the lines of a journal or ledger their canonical form and a chain, so that what they say is looked at."""
    lines: list[bytes] = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
            value["seq"], value["prev"] = len(lines), digest_of(lines[-1]) if lines else ABSENT_DIGEST
            lines.append(encode_canonical(value))
        except (ValueError, TypeError, RecursionError, EvidenceError):
            continue  # no line of a journal, and no part of the chain
    return b"".join(line + b"\n" for line in lines)


def journal(data: bytes) -> None:
    """Check a journal and an attempt; read each line as an event."""
    for again in (data, _chained(data)):
        check = total(lambda again=again: check_journal(again))
        assert check.length == len(check.events)
        assert check.intact == (not check.defects)
        total(lambda again=again: check_attempt({"harness.jsonl": again, "meter.jsonl": again}))
    for line in data.split(b"\n")[:20]:
        event = named(EvidenceError, lambda line=line: parse_event(line))
        assert event is None or encode_event(event) == line


def ledger(data: bytes) -> None:
    """Check a ledger; read each line of it."""
    for again in (data, _chained(data)):
        check = total(lambda again=again: check_ledger(again))
        assert check.intact == (not check.defects)
    for line in data.split(b"\n")[:20]:
        named(EvidenceError, lambda line=line: parse_ledger_line(line))


def seals(data: bytes) -> None:
    """Read a seal, and check a row of them."""
    seal = named(EvidenceError, lambda: parse_seal(data))
    assert seal is None or encode_seal(seal) == data
    total(lambda: check_seals(data.split(b"\n"), {}))


def packing(data: bytes) -> None:
    """Open stored bytes: as they are, and as the archive inside good ones."""
    content = named(EvidenceError, lambda: decode_blob(data, LIMIT_BYTES))
    measured = named(EvidenceError, lambda: measure_blob(data))
    assert content is None or (measured is not None and measured[1] == len(content))
    for stored in (data, encode_blob(data)):
        journals = named(EvidenceError, lambda stored=stored: unpack(stored, LIMIT_BYTES))
        assert journals is None or unpack(pack(journals), LIMIT_BYTES) == journals


def archive(data: bytes) -> None:
    """Walk the headers of an archive, and weigh what its members say they unfold to."""
    source = MemoryBytes(data)
    check = total(lambda: check_archive(source))
    assert check.intact == (not check.defects)
    assert all(defect.where.isprintable() for defect in check.defects)
    total(lambda: check_unfolding(source, check.members))


def signed(data: bytes) -> None:
    """Read a manifest, an envelope and a statement."""
    manifest = named(EvidenceError, lambda: parse_manifest(data))
    assert manifest is None or encode_manifest(manifest) == data
    envelope = named(EvidenceError, lambda: parse_signed(data))
    assert envelope is None or encode_signed(envelope) == data
    for payload in (data, b"" if envelope is None else envelope.payload):
        named(EvidenceError, lambda payload=payload: parse_plan_statement(payload))
        named(EvidenceError, lambda payload=payload: list(compare_statements(payload, EXPECTED)))
