"""Looking for text in evidence, and taking the compared value out of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oyer.observe import (
    answer_texts,
    answer_value,
    any_holds,
    content_value,
    failed,
    printable,
    result_of,
    strings_in,
    without_reasoning,
)
from oyer.protocol import Message, parse_message
from oyer.records import Value

WHOLE = Value()


def answer(result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode() + b"\n"


def message(raw: bytes) -> Message:
    parsed = parse_message(raw)
    assert isinstance(parsed, Message)
    return parsed


def test_every_string_is_yielded_and_those_of_json_inside() -> None:
    value = {"k": ["a", {"inner": json.dumps({"deep": [json.dumps(["deeper"])]})}], "n": 5}
    found = set(strings_in(value))
    assert {"k", "a", "inner", "deep", "deeper"} <= found


def test_hidden_members_and_types_are_passed_over() -> None:
    value = {"reasoning": "no", "parts": [{"type": "thinking", "x": "no"}, {"type": "text", "text": "yes"}]}
    assert set(strings_in(value, hidden={"reasoning", "thinking"})) == {"parts", "type", "text", "yes"}


THINK = (("<think>", "</think>"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("a<think>never closed", "a"),
        ("never opened</think>b", "b"),
        ("a<think>b</think>c</think>d", "d"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think></think>", ""),
        ("", ""),
    ],
)
def test_what_stands_between_delimiters_is_not_said(text: str, said: str) -> None:
    assert without_reasoning(text, THINK) == said
    assert without_reasoning(text, ()) == text


def test_several_pairs_and_a_pair_of_one_text() -> None:
    assert without_reasoning("a[x]b<think>c</think>d", (*THINK, ("[", "]"))) == "abd"
    assert without_reasoning("a||b||c", (("||", "||"),)) == "ac"


def test_many_delimiters_take_no_longer_than_few() -> None:
    assert without_reasoning("</think>" * 200_000 + "a", THINK) == "a"
    assert without_reasoning("<think>" * 200_000, THINK) == ""
    assert without_reasoning("b<think></think>" * 100_000, THINK) == "b" * 100_000


def test_only_what_a_model_says_is_read_without_its_reasoning() -> None:
    told = [
        {"role": "assistant", "content": [{"type": "text", "text": "<think>mine</think>said"}]},
        {"role": "tool", "content": "<think>shown</think>"},
        {"role": "model", "parts": [{"text": json.dumps({"a": "<think>mine too</think>"})}]},
    ]
    found = "\n".join(strings_in(told, delimiters=THINK))
    assert "said" in found and "shown" in found and "mine" not in found
    assert "mine" in "\n".join(strings_in(told))


def test_depth_of_foreign_data_is_no_depth_of_ours() -> None:
    value: Any = "bottom"
    for _ in range(5000):
        value = [value]
    assert list(strings_in(value)) == ["bottom"]
    text = "x"
    for _ in range(12):
        text = json.dumps([text])
    assert "x" in set(strings_in(text))


@pytest.mark.parametrize("form", ["said: {}", "{}", 'he "said" {}'])
def test_text_is_found_escaped_too(form: str) -> None:
    needle = 'line one\n"zwei" — drei'
    assert any_holds([form.format(needle)], needle)
    assert any_holds([form.format(json.dumps(needle)[1:-1])], needle)
    assert any_holds([form.format(json.dumps(needle, ensure_ascii=False)[1:-1])], needle)
    assert not any_holds([form.format("other")], needle)


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}, ("a", "b")),
        ({"contents": [{"uri": "x", "text": "c"}]}, ("c",)),
        ({"content": "a"}, ()),
        ({"content": [{"text": 5}, None]}, ()),
        ([], ()),
        (None, ()),
    ],
)
def test_texts_of_an_answer(result: Any, texts: tuple[str, ...]) -> None:
    assert answer_texts(answer(result)) == texts


def test_what_is_no_answer_says_nothing() -> None:
    for raw in (None, b"", b"noise\n", b"[]\n", b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'):
        assert result_of(raw) is None
        assert answer_texts(raw) == ()
        assert answer_value(raw, Value(field="a")) is None


def test_the_compared_value() -> None:
    assert answer_value(answer({"content": [{"text": "a"}, {"text": "b"}]}), WHOLE) == "ab"
    assert answer_value(answer({"content": [{"text": '{"a": {"b": 1}}'}]}), Value(field="a.b")) == 1
    structured = {"content": [{"text": "see below"}], "structuredContent": {"a": {"b": 2}}}
    assert answer_value(answer(structured), Value(field="a.b")) == 2
    assert content_value("plain", WHOLE) == "plain"
    assert content_value("plain", Value(field="a")) is None
    assert content_value('{"a": "\ud800"', Value(field="a")) is None


def test_failure_as_the_server_says_it() -> None:
    assert failed(message(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}\n'))
    assert failed(message(answer({"content": [], "isError": True})))
    for result in ({"content": []}, {"isError": "true"}, {"isError": 1}, [], None):
        assert not failed(message(answer(result)))


def test_printable_text() -> None:
    assert printable("é\u2028 ok") == "é\u2028 ok"
    assert printable("a\ud800b") == "a\\ud800b"
