"""Events keep the bytes in which they came, however the stream is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oyer.protocol import SseEvent, SseSplitter, parse_sse, sse_block_data, with_sse_data

STREAMS = {
    "plain": b"data: one\n\nevent: message\nid: 7\ndata: two\n\n",
    "crlf": b"\xef\xbb\xbf: hello\r\nid: 1\r\nretry: 250\r\ndata:\r\n\r\ndata: x\r\n\r\n",
    "cr": b"data: a\r\rdata: b\r\r",
    "mixed": "data: é\u2028 \n\r\ndata:two\ndata: lines\n\nodd: field\ncolonless\n\n".encode(),
    "unfinished": b"data: x\n\ndata: never",
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("step", [1, 2, 3, 5, 1000])
def test_the_pieces_are_the_stream(name: str, step: int) -> None:
    stream = STREAMS[name]
    splitter = SseSplitter()
    pieces = [piece for at in range(0, len(stream), step) for piece in splitter.feed(stream[at : at + step])]
    assert b"".join(pieces) + splitter.end() == stream
    whole = SseSplitter()
    read = [parse_sse(piece) for piece in whole.feed(stream)]
    assert [event for piece in pieces if (event := parse_sse(piece)).data is not None] == [
        event for event in read if event.data is not None
    ]


@given(
    parts=st.lists(
        st.sampled_from([b"\n", b"\r", b"\r\n", b"data: ", b"data:", b"id: 1", b"x", b": c", b"\xef\xbb\xbf"])
    ),
    cuts=st.lists(st.integers(1, 9)),
)
def test_blocks_of_events_say_what_the_events_say_one_by_one(parts: list[bytes], cuts: list[int]) -> None:
    stream, place = b"".join(parts), 0
    blocks, single, said, told = SseSplitter(), SseSplitter(), [], []
    for size in [*cuts, len(stream)]:
        piece, place = stream[place : place + size], place + size
        told += [event.data for event in map(parse_sse, single.feed(piece)) if event.data is not None]
        said += sse_block_data(blocks.take(piece))
        assert said == told


def test_what_an_event_says() -> None:
    assert parse_sse(b"event: endpoint\ndata: /messages?s=1\n\n") == SseEvent("endpoint", b"/messages?s=1", None, None)
    assert parse_sse(b": ping\n\n") == SseEvent("message", None, None, None)
    assert parse_sse(b"id: 1\nretry: 20\ndata:\n\n") == SseEvent("message", b"", "1", 20)
    assert parse_sse(b"data:a\ndata:  b\n\n").data == b"a\n b"
    assert parse_sse(b"id: a\x00b\nretry: soon\n\n") == SseEvent("message", None, None, None)


def test_other_data_leaves_every_other_byte() -> None:
    raw = b': c\r\nid: 4\r\ndata:{"a": 1}\r\nodd:  x\r\n\r\n'
    assert with_sse_data(raw, b'{"a": 2}') == raw.replace(b"1}", b"2}")
    two = b"data: {\ndata: 1}\nid: 4\n\n"
    assert with_sse_data(two, b"{\n22}") == b"data: {\ndata: 22}\nid: 4\n\n"
    assert with_sse_data(two, b"{22}") == b"data: {22}\nid: 4\n\n"
    assert parse_sse(with_sse_data(two, b"1\n2\n3")).data == b"1\n2\n3"
    assert with_sse_data(b": only\n\n", b"x") == b": only\n\n"


def test_a_byte_order_mark_is_one_at_the_beginning_of_a_stream_and_nowhere_else() -> None:
    stream = b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n\xef\xbb\xbf"
    for step in (1, 2, 3, 4, 100):
        splitter = SseSplitter()
        pieces = [one for at in range(0, len(stream), step) for one in splitter.feed(stream[at : at + step])]
        assert b"".join(pieces) + splitter.end() == stream
        assert [parse_sse(piece).data for piece in pieces] == [None, b"1", None]
    short = SseSplitter()
    assert short.feed(b"\xef\xbb") == [] and (short.pending_bytes, short.end()) == (2, b"\xef\xbb")
