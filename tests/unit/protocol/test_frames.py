"""Frames: split on 0x0A only, classified without raising."""

from __future__ import annotations

import pytest

from oyer.protocol import LineSplitter, Message, Noise, Overlong, encode_message, id_key, parse_message


def message(raw: bytes) -> Message:
    parsed = parse_message(raw)
    assert isinstance(parsed, Message)
    return parsed


@pytest.mark.parametrize("mark", [b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85", b"\x0b", b"\x0c", b"\x1c", b"\r"])
def test_only_the_line_feed_ends_a_frame(mark: bytes) -> None:
    line = b'{"x":"left' + mark + b'right"}\n'
    assert LineSplitter().feed(line) == [line]


def test_a_carriage_return_stays_in_the_frame_and_out_of_the_view() -> None:
    splitter = LineSplitter()
    stream = b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n{"jsonrpc":"2.0","id":2,"res'
    first, blank = splitter.feed(stream)
    assert splitter.feed(b'ult":{}}\r\n') == [b'{"jsonrpc":"2.0","id":2,"result":{}}\r\n']
    assert isinstance(first, bytes)
    assert first.endswith(b"\r\n")
    assert message(first).result == {}
    assert blank == b"\r\n"
    assert parse_message(b"\r\n") == Noise(b"\r\n", "blank")


def test_the_rest_is_given_back_at_the_end() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"a\nb") == [b"a\n"]
    assert splitter.pending_bytes == 1
    assert splitter.end() == b"b"
    assert splitter.end() is None


def test_a_frame_above_the_bound_keeps_its_beginning_and_its_size() -> None:
    splitter = LineSplitter(max_frame_bytes=4)
    assert splitter.feed(b"abc\nabcd\nx") == [b"abc\n", Overlong(b"abcd", 5)]
    assert splitter.feed(b"y" * 9) == []
    assert splitter.end() == Overlong(b"xyyy", 10)


def test_kinds_and_fields() -> None:
    call = message(b'{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"run","arguments":{"n":1.0}}}\n')
    assert (call.kind, call.id, call.tool, call.defects) == ("request", "1", "run", ())
    assert call.arguments == {"n": 1}
    assert message(b'{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"run"}}').arguments == {}
    assert message(b'{"jsonrpc":"2.0","method":"x"}').kind == "notification"
    assert message(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}').is_error
    read = message(b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b"}}')
    assert (read.target, read.tool, read.arguments) == ("a:b", None, {"uri": "a:b"})


@pytest.mark.parametrize(
    ("raw", "defect"),
    [
        (b'{"id":1,"result":{}}', "no_version"),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', "null_id"),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"x"}', "bad_id"),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', "bad_id"),
        (b'{"jsonrpc":"2.0","result":{}}', "bad_id"),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', "result_and_error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":3}', "bad_params"),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', "duplicate_key"),
    ],
)
def test_what_a_strict_peer_would_refuse_is_named(raw: bytes, defect: str) -> None:
    assert message(raw).defects == (defect,)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"Fake server version: 1.2.3\n", "not_json"),
        (b'{"level":"info"}\n', "not_a_message"),
        (b"5\n", "not_a_message"),
        (b"[]\n", "not_a_message"),
        (b"[1]\n", "not_a_message"),
        (b'{"method":5}\n', "not_a_message"),
        (b"\xff\n", "not_utf8"),
        (b"[" * 600 + b"\n", "too_deep"),
        (b"\n", "blank"),
    ],
)
def test_noise_is_never_taken_for_a_message(raw: bytes, why: str) -> None:
    assert parse_message(raw) == Noise(raw, why)


def test_a_batch_keeps_the_bytes_of_each_part() -> None:
    batch = message(b'[ {"jsonrpc":"2.0","id":1,"method":"a"} , 7, {"jsonrpc":"2.0","method":"b"}]\n')
    assert batch.kind == "batch"
    first, second, third = batch.parts
    assert first.raw == b'{"jsonrpc":"2.0","id":1,"method":"a"}'
    assert isinstance(second, Noise)
    assert isinstance(third, Message)
    assert third.method == "b"


def test_ids_compare_by_type_and_value() -> None:
    assert id_key(1) != id_key("1")
    assert id_key(1) != id_key(True)
    assert id_key(None) != id_key("")
    assert id_key(10**30) == id_key(10**30)


def test_our_own_messages_end_in_one_line_feed() -> None:
    assert encode_message({"id": 1, "result": {"t": "\u2028"}}) == (
        b'{"jsonrpc":"2.0","id":1,"result":{"t":"\xe2\x80\xa8"}}\n'
    )
