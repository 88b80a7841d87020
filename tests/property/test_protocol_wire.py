"""Laws of spans, frames and correlation."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from oyer.protocol import (
    Answer,
    Correlator,
    LineSplitter,
    Span,
    decode_string,
    dumps,
    escape_text,
    find_span,
    loads,
    pointer_of,
    scan,
    string_edit,
)

TEXT = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
WRITERS = st.sampled_from([(True, None), (False, None), (True, 1), (False, (",", ":"))])


def paths(value: object, here: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], object]]:
    found = [(here, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        found += paths(inner, (*here, step))
    return found


def written(value: object, ascii_only: bool, shape: object) -> bytes:
    if isinstance(shape, tuple):
        return json.dumps(value, ensure_ascii=ascii_only, separators=shape).encode("utf-8", "surrogatepass")
    return json.dumps(value, ensure_ascii=ascii_only, indent=2 if shape else None).encode("utf-8", "surrogatepass")


@given(VALUES, WRITERS)
def test_every_value_stands_where_its_span_says(value: object, writer: tuple[bool, object]) -> None:
    raw = written(value, *writer)
    for path, inner in paths(value):
        span = find_span(raw, pointer_of(path))
        assert span is not None
        assert json.loads(raw[span.start : span.end]) == inner


@given(VALUES)
def test_writing_and_reading_are_inverse(value: object) -> None:
    assert loads(dumps(value)) == loads(json.dumps(value).encode())
    assert dumps(loads(dumps(value))) == dumps(value)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,4})?", fullmatch=True))
def test_a_number_keeps_its_literal(literal: str) -> None:
    assert dumps(loads(literal.encode())) == literal.encode()


@given(TEXT, TEXT, st.booleans(), st.data())
def test_a_string_edit_is_a_text_edit(text: str, with_: str, ascii_only: bool, data: st.DataObject) -> None:
    raw = json.dumps(text, ensure_ascii=ascii_only).encode()
    span = Span(0, len(raw), "string")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edited = string_edit(raw, span, start, end, with_)
    offsets = decode_string(raw, span).offsets
    assert json.loads(edited) == text[:start] + with_ + text[end:]
    assert edited.startswith(raw[: offsets[start]])
    assert edited.endswith(raw[offsets[end] :])


@given(st.text(st.characters(), max_size=20))
def test_escaping_any_text_reads_back(text: str) -> None:
    raw = b'"' + escape_text(text) + b'"'
    assert loads(raw) == json.loads(raw)
    assert scan(raw).kind == "string"


@given(st.lists(st.binary(max_size=20), max_size=8), st.data())
def test_frames_do_not_depend_on_the_chunks(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    bound = data.draw(st.integers(1, 30))
    whole, pieces = LineSplitter(bound), LineSplitter(bound)
    expected = [*whole.feed(stream), whole.end()]
    got = []
    rest = stream
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        got += pieces.feed(rest[:cut])
        rest = rest[cut:]
    got.append(pieces.end())
    assert got == expected
    if bound >= len(stream):
        assert b"".join(frame for frame in got if isinstance(frame, bytes)) == stream


@given(st.lists(st.sampled_from(["\u2028", "\u2029", "\x85", "\x0b", "a"]), max_size=9))
def test_unicode_line_ends_never_split(marks: list[str]) -> None:
    frame = dumps({"t": "".join(marks)}) + b"\n"
    assert LineSplitter().feed(frame + frame) == [frame, frame]


IDS = st.lists(
    st.integers(-5, 5) | st.sampled_from(["1", "2", ""]), unique_by=lambda i: (type(i), i), min_size=1, max_size=8
)


@given(IDS, st.data())
def test_permuted_answers_never_pair_wrongly(ids: list[object], data: st.DataObject) -> None:
    wire = Correlator()
    for place, id_ in enumerate(ids):
        wire.sent(dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"n": place}}), str(place))
    for place in data.draw(st.permutations(range(len(ids)))):
        (seen,) = wire.received(dumps({"jsonrpc": "2.0", "id": ids[place], "result": {"n": place}}), "x")
        assert isinstance(seen, Answer)
        assert seen.to == str(place)
    assert wire.pending("to_server") == ()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 3)), max_size=14))
def test_an_owner_is_only_named_when_there_was_one_choice(steps: list[tuple[bool, int, int]]) -> None:
    wire = Correlator()
    asked: dict[int, set[bytes]] = {}
    for number, (is_call, id_, body) in enumerate(steps):
        if is_call:
            raw = dumps({"jsonrpc": "2.0", "id": id_, "method": "m", "params": body})
            wire.sent(raw, f"c{number}")
            asked.setdefault(id_, set()).add(raw)
        else:
            (seen,) = wire.received(dumps({"jsonrpc": "2.0", "id": id_, "result": body}), f"a{number}")
            assert isinstance(seen, Answer)
            assert (seen.to is None) == (len(seen.candidates) != 1)
            assert seen.orphan == (id_ not in asked)
