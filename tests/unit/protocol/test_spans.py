"""Spans: the place of each value, in bytes."""

from __future__ import annotations

import itertools

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import Span, decode_string, find_span, loads, scan, string_edit

FRAME = (
    b'{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"a\\u00e9\\ud83d\\ude00\xc3\xa9z"}],'
    b'"structuredContent":{"id":1234567890123456789,"x":1.0,"y/z":1e2}}}\r\n'
)


def at(path: str) -> bytes | None:
    span = find_span(FRAME, path)
    return None if span is None else FRAME[span.start : span.end]


def test_a_pointer_finds_the_lexical_form() -> None:
    assert at("/result/structuredContent/id") == b"1234567890123456789"
    assert at("/result/structuredContent/x") == b"1.0"
    assert at("/result/structuredContent/y~1z") == b"1e2"
    assert at("/result/content/0/type") == b'"text"'
    assert at("") == FRAME.rstrip()


@pytest.mark.parametrize(
    "path", ["/result/none", "/result/content/1", "/result/content/00", "/id/0", "/result/content/-"]
)
def test_a_pointer_to_nothing_finds_nothing(path: str) -> None:
    assert find_span(FRAME, path) is None


def test_decoded_characters_know_their_raw_bytes() -> None:
    span = find_span(FRAME, "/result/content/0/text")
    assert span is not None
    text, offsets = decode_string(FRAME, span)
    assert text == "a\u00e9\U0001f600\u00e9z"
    assert [FRAME[a:b] for a, b in itertools.pairwise(offsets)] == [
        b"a", b"\\u00e9", b"\\ud83d\\ude00", b"\xc3\xa9", b"z",
    ]  # fmt: skip


def test_an_edit_splices_only_its_range() -> None:
    span = find_span(FRAME, "/result/content/0/text")
    assert span is not None
    edited = string_edit(FRAME, span, 1, 3, 'q"\n\u2028')
    assert edited == FRAME.replace(b"\\u00e9\\ud83d\\ude00", b'q\\"\\n\xe2\x80\xa8')


def test_lone_halves_stay_single_characters() -> None:
    raw = b'"\\ude00\\ud83dx\\ud83d\\ud83d\\ude00"'
    text, offsets = decode_string(raw, Span(0, len(raw), "string"))
    assert text == loads(raw) == "\ude00\ud83dx\ud83d\U0001f600"
    assert len(offsets) == len(text) + 1


def test_a_repeated_key_on_the_path_is_an_error_and_elsewhere_is_not() -> None:
    raw = b'{"a":{"x":1,"\\u0078":2},"b":3}'
    assert find_span(raw, "/b") == Span(28, 29, "number")
    with pytest.raises(ProtocolError) as caught:
        find_span(raw, "/a/x")
    assert caught.value.code == "E-JSON-DUPLICATE-KEY"


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[1,]", b'{"a":1,}', b"{,}", b"[,1]", b"01", b"+1", b"1.", b".5", b"NaN", b"truex", b"[1 2]", b"{1:2}",
     b'"\x01"', b'"\\x"', b'"\\u12"', b"\xef\xbb\xbf1", b"1 1", b'{"a"}', b"]", b"\xff"],
)  # fmt: skip
def test_what_the_grammar_refuses_both_readers_refuse(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        scan(raw)
    with pytest.raises(ProtocolError):
        loads(raw)


def test_depth_is_bounded_by_a_count() -> None:
    assert scan(b"[" * 512 + b"]" * 512).kind == "array"
    for reader in (scan, loads):
        with pytest.raises(ProtocolError) as caught:
            reader(b"[" * 513 + b"]" * 513)
        assert caught.value.code == "E-JSON-DEPTH"
        with pytest.raises(ProtocolError):
            reader(b"[" * 200_000)
