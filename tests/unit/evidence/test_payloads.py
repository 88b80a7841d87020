"""Payloads give back exactly the bytes that went in, or an error."""

from __future__ import annotations

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import INLINE_LIMIT_BYTES, digest_of, make_payload, payload_bytes


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"", "text"),
        (b'{"id":1234567890123456789,"x":1.0,"y":1e2}', "text"),
        ("left\u2028right".encode(), "text"),
        (b"\xff\xfe", "base64"),
        (b"\xed\xa0\x80", "base64"),
        (b"a\x00b", "base64"),
        (b"x" * INLINE_LIMIT_BYTES, "text"),
        (b"x" * (INLINE_LIMIT_BYTES + 1), "blob"),
    ],
)
def test_round_trip(raw: bytes, place: str) -> None:
    payload, blob = make_payload(raw)
    assert set(payload) == {"sha256", "size", place}
    assert (blob == raw) if place == "blob" else blob is None
    assert payload_bytes(payload, {digest_of(raw): raw}.get) == raw


def test_what_was_redacted_is_named() -> None:
    payload, _ = make_payload(b"mark", ("API_KEY",))
    assert payload["redacted"] == ["API_KEY"]
    assert payload_bytes(payload, {}.get) == b"mark"


GOOD = {"sha256": digest_of(b"abc"), "size": 3}


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({**GOOD, "text": "abd"}, "E-PAYLOAD-DIGEST"),
        ({**GOOD, "size": 4, "text": "abc"}, "E-PAYLOAD-DIGEST"),
        ({**GOOD, "text": "abc", "base64": "YWJj"}, "E-PAYLOAD-FORM"),
        (GOOD, "E-PAYLOAD-FORM"),
        ({**GOOD, "base64": "YW Jj"}, "E-PAYLOAD-FORM"),
        ({**GOOD, "blob": True}, "E-PAYLOAD-FORM"),
        ({**GOOD, "text": "abc", "surprise": 1}, "E-PAYLOAD-FORM"),
        ({"sha256": digest_of(b"x" * 5000), "size": 5000, "text": "x" * 5000}, "E-PAYLOAD-FORM"),
        ({"sha256": digest_of(b"x" * 5000), "size": 5000, "blob": True}, "E-BLOB-MISSING"),
        ({**GOOD, "text": "abc", "redacted": []}, "E-PAYLOAD-FORM"),
    ],
)
def test_a_payload_that_lies(payload: dict[str, object], code: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        payload_bytes(payload, {}.get)
    assert caught.value.code == code


def test_a_blob_with_other_content_is_refused() -> None:
    payload, _ = make_payload(b"x" * 5000)
    with pytest.raises(EvidenceError, match="E-PAYLOAD-DIGEST"):
        payload_bytes(payload, lambda _digest: b"y" * 5000)
