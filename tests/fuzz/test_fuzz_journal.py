"""Any bytes end as a value or as the one documented error."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from oyer.errors import EvidenceError
from oyer.evidence import (
    Chain,
    Envelope,
    check_attempt,
    check_journal,
    check_ledger,
    check_seals,
    decode_blob,
    digest_of,
    encode_blob,
    make_payload,
    pack,
    parse_event,
    parse_ledger_line,
    parse_seal,
    payload_bytes,
    unpack,
)

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
WALL = "2026-01-01T00:00:00Z"


def _good_journal() -> bytes:
    chain = Chain("harness", ENVELOPE)
    opened = {"vocabulary": 1, "case": digest_of(b""), "case_id": "c", "subject": "s", "repetition": 0, "masks": {}}
    given_ = {"argv": ["a"], "env": {"A": "b"}, "cwd": "/", "files": {"f": make_payload(b"x")[0]}}
    return b"".join(
        [
            chain.append("trial.opened", opened, t_mono_ns=0, t_wall=WALL)[1],
            chain.append(
                "subject.given", {**given_, "configuration": make_payload(b"{}")[0]}, t_mono_ns=1, t_wall=WALL
            )[1],
            chain.append("trial.closed", {"status": "completed", "writers": {}}, t_mono_ns=2, t_wall=WALL)[1],
            chain.seal(t_mono_ns=3, t_wall=WALL),
        ]
    )


GOOD = _good_journal()
TOKENS = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\\", b"null", b"1e999", b"-0", b"9" * 30, b"\xff", b"\x00"]
PIECES = st.sampled_from([*GOOD.split(b'"'), *TOKENS]) | st.binary(max_size=8)


@st.composite
def spoiled(draw: st.DrawFn, good: bytes) -> bytes:
    """A good input with one stretch replaced."""
    start = draw(st.integers(0, len(good)))
    end = draw(st.integers(start, min(len(good), start + 40)))
    return good[:start] + b"".join(draw(st.lists(PIECES, max_size=3))) + good[end:]


ANY = st.binary(max_size=200) | st.lists(PIECES, max_size=12).map(b"".join) | spoiled(GOOD)


def value_or_error(call: Callable[[], object]) -> None:
    try:
        call()
    except EvidenceError as error:
        assert error.code.startswith("E-")


@given(ANY)
def test_checks_never_raise(data: bytes) -> None:
    check = check_journal(data)
    assert check.length == len(check.events)
    assert check.intact == (not check.defects)
    check_ledger(data)
    check_attempt({"harness.jsonl": data, "meter.jsonl": data})
    check_seals([data, data], {})


@given(ANY)
def test_parsers_give_a_value_or_the_error(data: bytes) -> None:
    for parse in (parse_event, parse_ledger_line, parse_seal):
        value_or_error(lambda parse=parse: parse(data))


@given(spoiled(encode_blob(GOOD)) | spoiled(pack({"harness.jsonl": GOOD})) | ANY)
def test_stored_bytes(data: bytes) -> None:
    value_or_error(lambda: decode_blob(data, 1 << 20))
    value_or_error(lambda: unpack(data, 1 << 20))


@given(spoiled(GOOD[:1] + b"\x00" * 1023) | st.binary(max_size=2000))
def test_archives(archive: bytes) -> None:
    value_or_error(lambda: unpack(encode_blob(archive), 1 << 20))


@given(
    st.dictionaries(
        st.sampled_from(["sha256", "size", "text", "base64", "blob", "redacted", "x"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(digest_of(b"")) | st.floats(),
    )
)
def test_payload_objects(payload: dict[str, object]) -> None:
    value_or_error(lambda: payload_bytes(payload, lambda _digest: b""))


def test_deep_nesting_is_an_error_and_not_a_crash() -> None:
    for deep in (b"[" * 100_000, b'{"body":' * 100_000, b'{"body":' + b"[" * 5000 + b"]" * 5000 + b"}"):
        assert not check_journal(deep + b"\n").intact
        assert not check_ledger(deep + b"\n").intact
        value_or_error(lambda deep=deep: parse_seal(deep))
