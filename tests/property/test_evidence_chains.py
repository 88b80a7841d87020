"""Laws of journals, payloads, packing and redaction."""

from __future__ import annotations

from typing import Any

import msgspec
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from oyer.evidence import (
    Chain,
    Envelope,
    RedactingStream,
    Redactor,
    check_journal,
    decode_blob,
    encode_blob,
    encode_canonical,
    encode_event,
    make_payload,
    pack,
    parse_event,
    payload_bytes,
    unpack,
)

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
WALL = "2026-01-01T00:00:00Z"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def journal(payloads: list[bytes]) -> bytes:
    chain = Chain("tap:mail", ENVELOPE)
    lines = []
    for at, raw in enumerate(payloads):
        payload, blob = make_payload(raw)
        body = {"server": "mail", "connection": 0, "payload": payload, "side": "server"}
        blobs = [payload["sha256"]] if blob is not None else []
        lines.append(chain.append("mcp.noise", body, t_mono_ns=at, t_wall=WALL, blobs=blobs)[1])
    return b"".join([*lines, chain.seal(t_mono_ns=len(payloads), t_wall=WALL)])


PAYLOADS = st.lists(st.binary(max_size=30) | TEXT.map(str.encode) | st.just(b"x" * 5000), max_size=5)


@given(PLAIN)
def test_the_canonical_form_is_that_of_rfc_8785(value: Any) -> None:
    encoded = encode_canonical(value)
    assert encoded == rfc8785.dumps(value)
    assert msgspec.json.decode(encoded) == value


@given(PAYLOADS)
def test_what_is_written_reads_intact_and_gives_the_bytes_back(payloads: list[bytes]) -> None:
    check = check_journal(journal(payloads), expect=ENVELOPE, writer="tap:mail")
    assert check.defects == ()
    for event, raw in zip(check.events, payloads, strict=False):
        assert payload_bytes(event.body["payload"], lambda _digest, raw=raw: raw) == raw
        assert parse_event(encode_event(event)) == event


@given(PAYLOADS, st.data())
def test_no_changed_byte_passes(payloads: list[bytes], data: st.DataObject) -> None:
    whole = journal(payloads)
    at = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    changed = check_journal(whole[:at] + bytes([value]) + whole[at + 1 :])
    # The last line is bound by trial.closed, not by a line after it: there the head must differ.
    assert changed.defects or (changed.length, changed.head) != (len(payloads) + 1, check_journal(whole).head)
    assert len(changed.events) <= len(payloads) + 1


@given(PAYLOADS, st.data())
def test_no_cut_end_passes(payloads: list[bytes], data: st.DataObject) -> None:
    whole = journal(payloads)
    cut = check_journal(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert cut.defects and not cut.sealed
    assert cut.events == check_journal(whole).events[: cut.length]


@given(st.binary(max_size=6000))
def test_blobs_round_trip(raw: bytes) -> None:
    assert decode_blob(encode_blob(raw), len(raw)) == raw


@given(st.dictionaries(st.sampled_from(["harness.jsonl", "world.jsonl", "tap.a.jsonl", "sink.b.jsonl"]), st.binary()))
def test_packing_round_trips(journals: dict[str, bytes]) -> None:
    assert unpack(pack(journals), 1 << 20) == journals


SECRETS = {"KEY": b'p/s"s+\xc3\xa9word', "PIN": b"aaaa", "LONG": b"aaaab-aaaab"}
REDACTOR = Redactor(SECRETS)
CHUNKS = st.lists(st.sampled_from([*SECRETS.values(), b"a", b"aaa", b"b-", b"word", b"p/s"]) | st.binary(max_size=4))


@given(CHUNKS, st.integers(1, 9))
def test_redacting_a_stream_is_redacting_the_whole(pieces: list[bytes], size: int) -> None:
    raw = b"".join(pieces)
    stream = RedactingStream(REDACTOR)
    out = b"".join(stream.feed(raw[at : at + size]) for at in range(0, len(raw), size)) + stream.finish()
    kept, names = REDACTOR.apply(raw)
    assert (out, stream.names) == (kept, names)
    assert not REDACTOR.holds_secret(kept)
    assert REDACTOR.apply(kept) == (kept, ())
