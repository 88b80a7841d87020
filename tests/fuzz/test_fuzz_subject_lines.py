"""Any line of a subject process: a value or the one named error."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from oyer.errors import ProtocolError
from oyer.subjects.child_lines import Note, Said, parse_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["said", "note", "text", "ended_by", "calls", "model_calls", "stopped_by", "fault", "class"])
NEAR = st.dictionaries(KEYS, st.dictionaries(KEYS, JSON | st.sampled_from(["subject", "stop", "harness"])), max_size=2)


@example(b'{"said": {"text": "", "ended_by": [], "stopped_by": {}}}')
@given(st.binary(max_size=200) | NEAR.map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_value_or_a_protocol_error(line: bytes) -> None:
    try:
        seen = parse_line(line)
    except ProtocolError as error:
        assert (error.code, error.side) == ("E-SUBJECT-LINE", "subject")
    else:
        assert isinstance(seen, Said | Note)


@given(st.text(max_size=50), st.integers(0, 2**31), st.integers(0, 2**31))
def test_a_said_is_read_as_it_was_written(text: str, calls: int, model_calls: int) -> None:
    said = {"text": text, "ended_by": "subject", "calls": calls, "model_calls": model_calls}
    assert parse_line(json.dumps({"said": said}).encode()) == Said(text, "subject", calls, model_calls, None)


def test_a_line_nested_beyond_reason_is_refused() -> None:
    try:
        parse_line(b"[" * 200_000)
    except ProtocolError as error:
        assert error.side == "subject"
