"""A registered secret leaves no form of itself behind."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from oyer.errors import UsageError
from oyer.evidence import RedactingStream, Redactor

SECRET = b'canary/12+345 "quoted" \xc3\xa9'
REDACTOR = Redactor({"API_KEY": SECRET, "PIN": b"4711!"})
TEXT = SECRET.decode()


@pytest.mark.parametrize(
    "raw",
    [
        SECRET,
        json.dumps({"key": TEXT}).encode(),
        json.dumps({"key": TEXT}, ensure_ascii=False).encode(),
        json.dumps({"key": TEXT}).replace("/", "\\/").encode(),
        json.dumps({"inner": json.dumps({"key": TEXT})}).encode(),
        quote(TEXT).encode(),
        quote(TEXT, safe="").lower().encode(),
        base64.b64encode(SECRET),
        base64.b64encode(b"user:" + SECRET),
        base64.b64encode(b"user1:" + SECRET + b"tail"),
        base64.urlsafe_b64encode(b"ab" + SECRET + b"t"),
    ],
)
def test_every_form_is_replaced(raw: bytes) -> None:
    kept, names = REDACTOR.apply(b"before " + raw + b" after")
    assert names == ("API_KEY",)
    assert "\u27e6secret:API_KEY:".encode() in kept
    assert not REDACTOR.holds_secret(kept)
    assert kept.startswith(b"before ") and kept.endswith(b" after")


def test_what_holds_no_secret_is_the_same_object() -> None:
    raw = b"nothing here"
    assert REDACTOR.apply(raw) == (raw, ())
    assert REDACTOR.apply(raw)[0] is raw


def test_a_secret_split_over_chunks_is_caught() -> None:
    raw = b"a" * 10 + SECRET + b"b" * 40 + b"4711!" + b"c"
    for size in range(1, len(raw)):
        stream = RedactingStream(REDACTOR)
        out = b"".join(stream.feed(raw[at : at + size]) for at in range(0, len(raw), size)) + stream.finish()
        assert out == REDACTOR.apply(raw)[0]
        assert stream.names == ("API_KEY", "PIN")


def test_values_and_keys_are_redacted_but_digests_are_not() -> None:
    digest = "sha256:" + "47110" * 12 + "0000"
    redactor = Redactor({"PIN": b"4711"})
    found = redactor.apply_value({"4711": ["x4711", 4711, None, digest]})
    mark = redactor.apply(b"4711")[0].decode()
    assert found == {mark: ["x" + mark, 4711, None, digest]}


@pytest.mark.parametrize(
    ("secrets", "code"),
    [
        ({"A": b""}, "E-SECRET-SHORT"),
        ({"A": b"abc"}, "E-SECRET-SHORT"),
        ({"bad name": b"abcdefgh"}, "E-SECRET-NAME"),
        ({"A": b"secret"}, "E-SECRET-MARK"),
        ({"A": "\u27e6abcd".encode()}, "E-SECRET-MARK"),
    ],
)
def test_what_cannot_be_redacted_is_refused(secrets: dict[str, bytes], code: str) -> None:
    with pytest.raises(UsageError, match=code):
        Redactor(secrets)


def test_without_secrets_nothing_is_held_back() -> None:
    stream = RedactingStream(Redactor({}))
    assert stream.feed(b"abc") == b"abc"
    assert stream.finish() == b""
