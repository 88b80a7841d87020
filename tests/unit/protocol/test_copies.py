"""What an edit left standing, and what a schema allows."""

from __future__ import annotations

from oyer.protocol import Applied, Edit, apply_edit, remaining_copies, schema_breach


def frame(result: str) -> bytes:
    return ('{"jsonrpc":"2.0","id":7,"result":' + result + "}\n").encode()


def left(edit: Edit, original: bytes) -> tuple[str, ...]:
    outcome = apply_edit(edit, original)
    assert isinstance(outcome, Applied), outcome
    return remaining_copies(edit, outcome.modified, original)


FIND = Edit("replace_text", {"find": "pending", "with": "not pending any more"})


def test_a_complete_edit_leaves_nothing() -> None:
    assert (
        left(FIND, frame('{"content":[{"type":"text","text":"pending"}],"structuredContent":{"result":"pending"}}'))
        == ()
    )


def test_a_copy_out_of_reach_is_named() -> None:
    original = frame('{"content":[{"type":"text","text":"pending"}],"_meta":{"note":["pending"]}}')
    assert left(FIND, original) == ("/result/_meta/note/0",)
    keyed = frame('{"content":[{"type":"text","text":"pending"}],"structuredContent":{"pending":1}}')
    assert left(FIND, keyed) == ("/result/structuredContent/pending",)


def test_a_copy_hidden_by_a_second_escape_is_named() -> None:
    modified = frame('{"content":[{"type":"text","text":"{\\"a\\":\\"pend\\\\u0069ng\\"}"}]}')
    assert remaining_copies(FIND, modified) == ("/result/content/0/text",)


def test_copies_that_no_longer_agree_are_named() -> None:
    original = frame('{"content":[{"type":"text","text":"{\\"s\\": \\"no\\"}"}],"structuredContent":{"s":"no"}}')
    edit = Edit("replace_text", {"find": '"s": "no"', "with": '"s": "yes"'})
    assert left(edit, original) == ("/result/structuredContent",)


def test_an_old_value_still_quoted_after_a_patch_is_named() -> None:
    original = frame(
        '{"content":[{"type":"text","text":"It is pending review."}],"structuredContent":{"status":"pending review"}}'
    )
    edit = Edit("replace_json", {"patch": [{"op": "replace", "path": "/status", "value": "approved"}]})
    assert left(edit, original) == ("/result/content/0/text",)


def test_whole_replacements_leave_nothing_by_construction() -> None:
    assert left(Edit("replace_result", {"result": {}}), frame('{"content":[{"type":"text","text":"pending"}]}')) == ()


SCHEMA: dict[str, object] = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def test_another_result_that_leaves_one_copy_as_it_was_is_named() -> None:
    original = frame('{"content":[{"type":"text","text":"none is pending"}],"structuredContent":{"pending":0}}')

    def instead(text: str, pending: int) -> tuple[str, ...]:
        result = {"content": [{"type": "text", "text": text}], "structuredContent": {"pending": pending}}
        return left(Edit("replace_result", {"result": result}), original)

    assert instead("one is pending", 1) == ()
    assert instead("one is pending", 0) == ("/result/structuredContent",)
    assert instead("none is pending", 1) == ("/result/content/0/text",)


def test_structured_content_is_owed_unless_the_tool_failed() -> None:
    assert schema_breach(frame('{"content":[]}'), SCHEMA).verdict == "broken"
    assert schema_breach(frame('{"content":[],"structuredContent":{"n":"1"}}'), SCHEMA).where == "/n"
    assert schema_breach(frame('{"content":[],"structuredContent":{"n":1}}'), SCHEMA).verdict == "kept"
    assert schema_breach(frame('{"content":[],"isError":true}'), SCHEMA).verdict == "kept"
    assert schema_breach(frame('{"content":[]}'), None).verdict == "kept"
