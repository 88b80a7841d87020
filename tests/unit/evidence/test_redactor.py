"""A registered secret leaves no form of itself behind."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest
import zstandard

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


LONG = b"canary-0123456789-abcdefghij"
KEEPER = Redactor({"LONG": LONG, "ODD": 'q"u\\o/t-é-abcdefgh'.encode()})
MARK = KEEPER.apply(LONG)[0]


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_secret_is_found_however_deep_it_is_escaped(depth: int, ascii_only: bool) -> None:
    text = 'q"u\\o/t-é-abcdefgh'
    for _ in range(depth):
        text = json.dumps({"inner": text}, ensure_ascii=ascii_only)
    kept, names = KEEPER.keep(text.encode())
    assert names == ("ODD",) and b"abcdefgh" not in kept


def test_a_secret_in_an_error_message_of_python_is_found() -> None:
    assert KEEPER.keep(repr({"key": 'q"u\\o/t-é-abcdefgh'}).encode())[1] == ("ODD",)
    assert KEEPER.keep(repr("it's q\"u\\o/t-é-abcdefgh").encode())[1] == ("ODD",)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_body_that_holds_a_secret_is_replaced_whole(pack: Callable[[bytes], bytes]) -> None:
    assert KEEPER.keep(pack(b"it is " + LONG + b"!" * 500)) == (MARK, ("LONG",))
    clean = pack(b"nothing")
    assert KEEPER.keep(clean) == (clean, ())
    assert KEEPER.keep(pack(pack(LONG))) == (MARK, ("LONG",))


def test_a_packed_body_that_breaks_off_is_searched_as_far_as_it_can_be_read() -> None:
    assert KEEPER.keep(gzip.compress(LONG + bytes(range(256)) * 40)[:-200])[1] == ("LONG",)
    assert KEEPER.keep(b"\x1f\x8b\x08 no gzip at all") == (b"\x1f\x8b\x08 no gzip at all", ())


def streamed(*texts: str) -> bytes:
    return b"".join(
        b"data: %s\n\n" % json.dumps({"choices": [{"delta": {"content": text}}]}).encode() for text in texts
    )


@pytest.mark.parametrize("size", range(1, 15))
def test_a_secret_spread_over_the_events_of_a_stream_leaves_each_of_them(size: int) -> None:
    text = f"before {LONG.decode()} after {LONG.decode()}"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    kept, names = KEEPER.keep(streamed(*pieces) + b"data: [DONE]\n\n")
    said = [json.loads(line[6:])["choices"][0]["delta"]["content"] for line in kept.split(b"\n\n")[:-2]]
    assert names == ("LONG",) and "".join(said) == text.replace(LONG.decode(), MARK.decode())
    assert len(said) == len(pieces)


def test_a_stream_without_a_secret_keeps_every_byte() -> None:
    raw = b'data: {"a" : "caf\\u00e9",  "n": 1.0}\r\n\r\n: comment\ndata: {"a": "\\/"}\n\n'
    assert KEEPER.keep(raw) == (raw, ())
    assert KEEPER.keep(b"data: {broken\ndata: [\ndata: }}}]]\n") == (b"data: {broken\ndata: [\ndata: }}}]]\n", ())


def test_a_secret_spread_over_the_members_of_an_array_is_found() -> None:
    raw = json.dumps([{"parts": [{"text": LONG.decode()[:9]}]}, {"parts": [{"text": LONG.decode()[9:]}]}]).encode()
    kept, names = KEEPER.keep(raw)
    assert names == ("LONG",) and [one["parts"][0]["text"] for one in json.loads(kept)] == [MARK.decode(), ""]


@pytest.mark.parametrize("kept_bytes", range(14, len(LONG)))
def test_what_a_cut_leaves_of_a_secret_is_taken_for_it(kept_bytes: int) -> None:
    assert KEEPER.keep(b"so " + LONG[:kept_bytes]) == (b"so " + MARK, ("LONG",))
    assert KEEPER.keep(LONG[-kept_bytes:] + b" so") == (MARK + b" so", ("LONG",))
    note = b"\n[... 12 bytes cut ...]\n"
    middle = LONG[:kept_bytes] + note + LONG[-kept_bytes:]
    assert KEEPER.keep(b"a " + middle + b" z") == (b"a " + MARK + note + MARK + b" z", ("LONG",))
    assert KEEPER.apply_value(["so " + LONG[:kept_bytes].decode()]) == ["so " + MARK.decode()]


def test_less_than_half_of_a_secret_is_no_secret() -> None:
    assert KEEPER.keep(b"so " + LONG[:13]) == (b"so " + LONG[:13], ())
    assert KEEPER.keep(LONG[-13:]) == (LONG[-13:], ())
    assert Redactor({}).keep(LONG) == (LONG, ())
