"""Places: where an answer says something."""

from __future__ import annotations

from oyer.protocol.jsonvalue import pointer_of
from oyer.protocol.places import Copy, container_in_text, json_in_text, open_answer


def frame(result: str) -> bytes:
    return ('{"jsonrpc":"2.0","id":7,"result":' + result + "}\n").encode()


def test_texts_stand_in_document_order() -> None:
    view = open_answer(
        frame('{"content":[{"type":"text","text":"a"},{"type":"resource","resource":{"text":"b"}},{"text":5},7]}')
    )
    assert [(pointer_of(place.path), place.text) for place in view.texts] == [
        ("/result/content/0/text", "a"),
        ("/result/content/1/resource/text", "b"),
    ]
    assert view.structured_strings() == []


def test_copies_are_recognised_by_what_they_say() -> None:
    whole = open_answer(frame('{"content":[{"text":"{\\"n\\": 1.0}"}],"structuredContent":{"n":1}}'))
    assert whole.copies() == [Copy(0, (), True)]
    wrapped = open_answer(frame('{"content":[{"text":"42"}],"structuredContent":{"result":42}}'))
    assert wrapped.copies() == [Copy(0, ("result",), True)]
    text = open_answer(frame('{"content":[{"text":"x"}],"structuredContent":{"a":{"b":["x"]}}}'))
    assert text.copies() == [Copy(0, ("a", "b", 0), False)]
    apart = open_answer(frame('{"content":[{"text":"x"}],"structuredContent":{"a":"y"}}'))
    assert apart.copies() == []


def test_json_in_text_is_not_guessed() -> None:
    assert json_in_text("null") == (None,)
    assert json_in_text('"x"') is None
    assert json_in_text("x") is None
    assert json_in_text("[\ud800]") is None
    assert container_in_text("5") is None
    assert container_in_text(" [5]") == ([5],)
