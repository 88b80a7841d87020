"""Policies: what the hardened condition does to bytes."""

from __future__ import annotations

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import (
    Applied,
    BlockRule,
    Correlator,
    Edit,
    Message,
    NotApplied,
    Request,
    apply_edit,
    approval,
    changed_tools,
    label,
    parse_message,
    refuse,
    strip_fields,
)


def frame(result: str) -> bytes:
    return ('{"jsonrpc":"2.0","id":7,"result":' + result + "}\r\n").encode()


def request(raw: bytes) -> Request:
    (seen,) = Correlator().sent(raw, "r")
    assert isinstance(seen, Request)
    return seen


def test_a_label_stands_before_every_copy_of_the_text() -> None:
    answer = frame(
        '{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"r":"a","n":1.0}}'
    )
    labelled = label('Not "trusted".', answer)
    assert isinstance(labelled, Applied)
    mark = b'Not \\"trusted\\".\\n'
    assert labelled.modified == answer.replace(b'"a"', b'"' + mark + b'a"').replace(b'"b"', b'"' + mark + b'b"')
    assert isinstance(label("x", frame('{"content":[]}')), NotApplied)
    assert label("x", b"banner\n") == NotApplied("not_json", label("x", b"banner\n")[1])  # type: ignore[arg-type]


def test_a_label_composes_with_an_edit() -> None:
    edited = apply_edit(Edit("append_text", {"text": "!"}), frame('{"content":[{"type":"text","text":"a"}]}'))
    assert isinstance(edited, Applied)
    delivered = label("L", edited.modified)
    assert isinstance(delivered, Applied)
    assert delivered.modified == frame('{"content":[{"type":"text","text":"L\\na!"}]}')


def test_stripped_fields_go_from_every_copy() -> None:
    answer = frame('{"content":[{"type":"text","text":"{\\"a\\":1,\\"b\\":2}"}],"structuredContent":{"a":1,"b":2}}')
    stripped = strip_fields(["/b", "/none"], answer)
    assert isinstance(stripped, Applied)
    assert stripped.modified == frame('{"content":[{"type":"text","text":"{\\"a\\":1}"}],"structuredContent":{"a":1}}')
    outer = strip_fields(["/a", "/b"], answer)
    assert isinstance(outer, Applied)
    assert outer.modified == frame('{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}')
    nothing = strip_fields(["/none"], answer)
    assert isinstance(nothing, NotApplied)
    assert nothing.why_code == "noop"


def test_fields_are_stripped_from_text_that_is_the_only_copy() -> None:
    answer = frame(
        '{"content":[{"type":"text","text":"{\\"a\\":[1,2,3],\\"b\\":{\\"c\\":0}}"},{"type":"text","text":"plain"}]}'
    )
    stripped = strip_fields(["/a/0", "/a/2", "/b/c", "/b"], answer)
    assert isinstance(stripped, Applied)
    assert stripped.modified == frame(
        '{"content":[{"type":"text","text":"{\\"a\\":[2]}"},{"type":"text","text":"plain"}]}'
    )


def test_a_block_that_repeats_a_stripped_field_is_left_empty() -> None:
    answer = frame('{"content":[{"type":"text","text":"hello"}],"structuredContent":{"inbox":"hello","n":1}}')
    stripped = strip_fields(["/inbox"], answer)
    assert isinstance(stripped, Applied)
    assert stripped.modified == frame('{"content":[{"type":"text","text":""}],"structuredContent":{"n":1}}')


CALL = b'{"jsonrpc":"2.0","id": "\\u0041" ,"method":"tools/call","params":{"name":"run","arguments":{"x":1}}}\n'


def test_a_refusal_carries_the_id_as_it_was_written() -> None:
    message = parse_message(CALL)
    assert isinstance(message, Message)
    assert refuse(message) == (
        b'{"jsonrpc":"2.0","id":"\\u0041","result":{"content":[{"type":"text",'
        b'"text":"This call is not permitted here."}],"isError":true}}\n'
    )
    modern = parse_message(
        CALL.replace(b'{"name"', b'{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name"')
    )
    assert isinstance(modern, Message)
    assert b'"resultType":"complete"' in refuse(modern, "No.")
    note = parse_message(b'{"jsonrpc":"2.0","method":"x"}')
    assert isinstance(note, Message)
    with pytest.raises(ProtocolError):
        refuse(note)


def test_deny_rules_name_tool_and_arguments() -> None:
    assert BlockRule("run").denies(request(CALL))
    assert BlockRule("run", {"x": 1}).denies(request(CALL))
    assert not BlockRule("run", {"x": "1"}).denies(request(CALL))
    assert not BlockRule("walk").denies(request(CALL))


def test_an_approver_answers_from_declared_data_only() -> None:
    call = request(CALL)
    assert approval("always", call.arguments) == "granted"
    assert approval("never", call.arguments) == "refused"
    rules = [{"arguments": {"x": 2}, "answer": "refused"}, {"arguments": {"x": 1}, "answer": "granted"}]
    assert approval(rules, call.arguments) == "granted"
    assert approval([], call.arguments) == "refused"
    for bad in ("perhaps", 7, [{"answer": "yes"}], [3]):
        with pytest.raises(ProtocolError):
            approval(bad, call.arguments)


def test_a_changed_listing_is_seen_tool_by_tool() -> None:
    before = frame('{"tools":[{"name":"a","d":1.0},{"name":"b"},{"name":"c"}]}')
    after = frame('{"tools":[{"name":"c"},{"name":"a","d":1},{"name":"b","d":2},{"name":"n"}]}')
    assert changed_tools(before, after) == ("b", "n")
    assert changed_tools(after, before) == ("b", "-n")
    with pytest.raises(ProtocolError):
        changed_tools(before, b'{"result":{}}')
