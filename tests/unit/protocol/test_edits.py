"""Edits: every copy changed, nothing else touched."""

from __future__ import annotations

import json

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import Applied, Edit, NotApplied, apply_edit, loads, recompute


def frame(result: str, end: str = "\n") -> bytes:
    return ('{"jsonrpc": "2.0", "id":7 , "result":' + result + "}" + end).encode()


def applied(kind: str, parameters: dict[str, object], original: bytes) -> bytes:
    outcome = apply_edit(Edit(kind, parameters), original)
    assert isinstance(outcome, Applied), outcome
    assert recompute(Edit(kind, parameters), original) == outcome.modified
    position, pieces = 0, []
    for start, end, replacement in outcome.spans:
        pieces += [original[position:start], replacement]
        position = end
    assert b"".join([*pieces, original[position:]]) == outcome.modified
    return outcome.modified


def refused(kind: str, parameters: dict[str, object], original: bytes) -> str:
    outcome = apply_edit(Edit(kind, parameters), original)
    assert isinstance(outcome, NotApplied), outcome
    with pytest.raises(ProtocolError) as caught:
        recompute(Edit(kind, parameters), original)
    assert caught.value.code == "E-EDIT-NOT-APPLIED"
    return outcome.why_code


PENDING = {"find": "pending review", "with": 'approved by "duty"\n'}


def test_text_is_replaced_in_every_copy_and_nothing_else_moves() -> None:
    original = frame(
        '{"content":[{"type":"text","text":"a pending review, pending\\u0020review"}],'
        '"structuredContent":{"result":"a pending review, pending review","n":1234567890123456789,"x":1.0,"y":1e2}}',
        "\r\n",
    )
    modified = applied("replace_text", PENDING, original)
    inside = 'a approved by \\"duty\\"\\n, approved by \\"duty\\"\\n'
    assert modified == frame(
        '{"content":[{"type":"text","text":"' + inside + '"}],'
        '"structuredContent":{"result":"' + inside + '","n":1234567890123456789,"x":1.0,"y":1e2}}',
        "\r\n",
    )


def test_json_inside_a_text_block_stays_json() -> None:
    inner = '{"status": "pending review", "big": 1234567890123456789}'
    original = frame('{"content":[{"type":"text","text":' + json.dumps(inner) + "}]}")
    value = loads(applied("replace_text", PENDING, original))
    assert isinstance(value, dict)
    text = value["result"]["content"][0]["text"]  # type: ignore[index,call-overload]
    assert text == inner.replace("pending review", 'approved by \\"duty\\"\\n')
    assert json.loads(str(text))["status"] == 'approved by "duty"\n'


def test_escaped_text_inside_inner_json_is_found() -> None:
    inner = json.dumps({"a": "one\ntwo \u00e9", "b": json.dumps(["one\ntwo \u00e9"])})
    original = frame('{"content":[{"type":"text","text":' + json.dumps(inner) + "}]}")
    value = json.loads(applied("replace_text", {"find": "one\ntwo \u00e9", "with": "three"}, original))
    assert json.loads(value["result"]["content"][0]["text"]) == {"a": "three", "b": '["three"]'}


def test_text_that_crosses_inner_syntax_is_replaced_as_text() -> None:
    original = frame('{"content":[{"type":"text","text":"{\\"s\\": \\"no\\"}"}]}')
    modified = applied("replace_text", {"find": '"s": "no"', "with": '"s": "yes"'}, original)
    assert modified == frame('{"content":[{"type":"text","text":"{\\"s\\": \\"yes\\"}"}]}').replace(
        b'\\"s\\": \\"no\\"', b'\\"s\\": \\"yes\\"'
    )


def test_resources_and_prompts_have_text_too() -> None:
    for result in (
        '{"contents":[{"uri":"a:b","text":"pending review"}]}',
        '{"messages":[{"role":"user","content":{"type":"text","text":"pending review"}}]}',
        '{"messages":[{"role":"user","content":[{"type":"text","text":"pending review"}]}]}',
        '{"content":[{"type":"resource","resource":{"uri":"a:b","text":"pending review"}}]}',
    ):
        assert b"approved" in applied("replace_text", PENDING, frame(result))


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ('{"content":[{"type":"text","text":"nothing"}]}', "not_found"),
        ('{"content":[],"content":[{"type":"text","text":"pending review"}]}', "duplicate_key"),
        ('{"content":[{"type":"text","text":"x","text":"pending review"}]}', "duplicate_key"),
        ('{"content":[],"structuredContent":{"a":"pending review","\\u0061":1}}', "duplicate_key"),
        ('{"content":[{"type":"text","text":"\\ud83d pending review"}]}', "lone_surrogate"),
        ('{"content":[{"type":"text","text":"{\\"a\\":1,\\"a\\":\\"pending review\\"}"}]}', "duplicate_key"),
        ("5", "not_found"),
    ],
)
def test_what_cannot_be_changed_honestly_is_not_changed(result: str, code: str) -> None:
    assert refused("replace_text", PENDING, frame(result)) == code


@pytest.mark.parametrize(
    ("original", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"pending review"}}\n', "no_result"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"result":"pending review"}}\n', "no_result"),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"result":{"content":[]}}\n', "duplicate_key"),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"result":{}}\n', "duplicate_key"),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]\n', "batch"),
        (b"banner\n", "not_json"),
        (b'"result"\n', "no_result"),
    ],
)
def test_only_one_answer_with_a_result_is_edited(original: bytes, code: str) -> None:
    for kind, parameters in (("replace_text", PENDING), ("replace_result", {"result": {}}), ("error", {"tool": "x"})):
        assert refused(kind, parameters, original) == code


def test_a_repeated_key_elsewhere_does_not_hinder() -> None:
    original = frame('{"_meta":{"a":1,"a":2},"content":[{"type":"text","text":"pending review"}]}')
    assert b'"_meta":{"a":1,"a":2}' in applied("replace_text", PENDING, original)


def test_an_edit_that_changes_nothing_says_so() -> None:
    original = frame('{"content":[{"type":"text","text":"same"}]}')
    assert refused("replace_text", {"find": "same", "with": "same"}, original) == "noop"
    assert refused("replace_result", {"result": {"content": [{"type": "text", "text": "same"}]}}, original) == "noop"
    assert refused("append_text", {"text": ""}, original) == "noop"


def test_bad_parameters_are_refused() -> None:
    original = frame('{"content":[{"type":"text","text":"same"}]}')
    for kind, parameters in (
        ("replace_text", {"find": "", "with": "x"}),
        ("replace_text", {"find": "same"}),
        ("replace_result", {}),
        ("error", {"message": "m"}),
        ("error", {"code": True, "message": "m"}),
        ("no_such_kind", {}),
    ):
        assert refused(kind, parameters, original) == "bad_edit"
    assert refused("replace_result", {"result": object()}, original) == "value"


PATCH: dict[str, object] = {"patch": [{"op": "replace", "path": "/status", "value": "approved"}]}


def test_a_patch_changes_the_structured_copy_and_the_json_text() -> None:
    inner = '{ "status":"pending", "id": 1234567890123456789 }'
    original = frame(f'{{"content":[{{"type":"text","text":{json.dumps(inner)}}}],"structuredContent":{inner}}}')
    new = inner.replace("pending", "approved")
    assert applied("replace_json", PATCH, original) == frame(
        f'{{"content":[{{"type":"text","text":{json.dumps(new)}}}],"structuredContent":{new}}}'
    )


def test_a_patch_reaches_text_when_there_is_no_structured_copy() -> None:
    original = frame('{"content":[{"type":"text","text":"note"},{"type":"text","text":"{\\"status\\":\\"no\\"}"}]}')
    assert b'{\\"status\\":\\"approved\\"}' in applied("replace_json", PATCH, original)
    assert refused("replace_json", PATCH, frame('{"content":[{"type":"text","text":"note"}]}')) == "no_such_path"
    assert refused("replace_json", PATCH, frame('{"content":[{"type":"text","text":"{}"}]}')) == "no_such_path"


def test_a_patch_follows_wrapped_values_into_their_text_blocks() -> None:
    patch: dict[str, object] = {"patch": [{"op": "replace", "path": "/result", "value": 43}]}
    original = frame('{"content":[{"type":"text","text":"42"}],"structuredContent":{"result":42}}')
    assert applied("replace_json", patch, original) == original.replace(b'"42"', b'"43"').replace(b":42", b":43")
    items = frame(
        '{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"result":["a","b"]}}'
    )
    second: dict[str, object] = {"patch": [{"op": "replace", "path": "/result/1", "value": "c"}]}
    assert applied("replace_json", second, items) == items.replace(b'"b"', b'"c"')
    gone: dict[str, object] = {"patch": [{"op": "remove", "path": "/result"}]}
    assert refused("replace_json", gone, original) == "copy_not_editable"


def test_results_and_errors_keep_id_and_line_end() -> None:
    original = frame('{"content":[]}', "\r\n")
    assert applied("replace_result", {"result": {"content": [], "n": 1.5}}, original) == frame(
        '{"content":[],"n":1.5}', "\r\n"
    )
    assert applied("error", {"tool": "no"}, original) == frame(
        '{"content":[{"type":"text","text":"no"}],"isError":true}', "\r\n"
    )
    assert applied("error", {"code": -32000, "message": "m", "data": [1]}, original) == (
        b'{"jsonrpc": "2.0", "id":7 , "error":{"code":-32000,"message":"m","data":[1]}}\r\n'
    )
    modern = frame('{"resultType":"complete","content":[]}')
    assert b'"resultType":"complete"' in applied("error", {"tool": "no"}, modern)


def test_appended_text_goes_to_the_last_block_and_its_structured_copy() -> None:
    original = frame(
        '{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="},{"type":"text","text":"b\\n"}],'
        '"structuredContent":{"result":"b\\u000a","other":"a"}}'
    )
    assert applied("append_text", {"text": '\n"Also"'}, original) == (
        original.replace(b'"b\\n"', b'"b\\n\\n\\"Also\\""').replace(b'"b\\u000a"', b'"b\\u000a\\n\\"Also\\""')
    )
    assert refused("append_text", {"text": "x"}, frame('{"content":[{"type":"image","data":"AA=="}]}')) == "no_text"


LISTING = frame(
    '{"tools":[{"name":"a","description":"old","inputSchema":{}},{"name":"b","inputSchema":{"type":"object"}}]}'
)


def test_listings_are_poisoned_in_one_place() -> None:
    assert applied("tool_description", {"tool": "a", "text": "new"}, LISTING) == LISTING.replace(b"old", b"new")
    described = applied("tool_description", {"tool": "b", "text": "new"}, LISTING)
    assert described == LISTING.replace(b'{"type":"object"}}', b'{"type":"object"},"description":"new"}')
    schema: dict[str, object] = {"tool": "b", "schema": {"type": "string"}}
    assert applied("tool_schema", schema, LISTING) == LISTING.replace(b'"object"', b'"string"')
    extra = applied("shadow_tool", {"definition": {"name": "c"}}, LISTING)
    assert extra == LISTING.replace(b'"object"}}]', b'"object"}},{"name":"c"}]')
    assert applied("shadow_tool", {"definition": {"name": "c"}}, frame('{"tools":[]}')) == frame(
        '{"tools":[{"name":"c"}]}'
    )
    assert refused("tool_description", {"tool": "z", "text": "new"}, LISTING) == "no_tool"
    assert refused("shadow_tool", {"definition": {}}, frame("{}")) == "no_tool"


def test_delay_and_drop_declare_their_bytes() -> None:
    outcome = apply_edit(Edit("delay_ms", {"delay_ms": 5}), LISTING)
    assert outcome == Applied(LISTING, ())
    assert recompute(Edit("drop", {}), LISTING) == b""
