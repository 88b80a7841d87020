"""Placeholders: which braces are one, and what becomes of the others."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records import PLACEHOLDER_FORMS, document_of, escape, expand, expand_tree, names_in, names_in_tree

VALUES = {"python": "/py", "world": "/w", "var.a": "A", "sink.s.url": "http://s", "random.r-1": "7"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("{python} -m x", "/py -m x"),
        ("{world}/ops", "/w/ops"),
        ("{var.a}{var.a}", "AA"),
        ("{sink.s.url}/{random.r-1}", "http://s/7"),
        ("{{world}}", "{world}"),
        ("{{world}", "{world}"),
        ("{{{world}}}", "{/w}"),
        ("{{{{world}}}}", "{{world}}"),
        ('{"a": {"b": "{var.a}"}}', '{"a": {"b": "A"}}'),
        ('{"a": {"b": {var.a}}}', '{"a": {"b": A}}'),
        ("{} {0} { world } {a b} {x", "{} {0} { world } {a b} {x"),
        ("{var.} {.a} {a..b}", "{var.} {.a} {a..b}"),
        ("{{ jinja }} ${{ x }} }} {{", "{{ jinja }} ${{ x }} }} {{"),
        ("", ""),
    ],
)
def test_which_braces_are_placeholders(text: str, result: str) -> None:
    assert expand(text, VALUES.get) == result


def test_names_are_listed_in_order_each_once() -> None:
    assert names_in("{var.a} {{no}} {world} {var.a} {{{python}}}") == ("var.a", "world", "python")
    assert names_in_tree({"{key}": ["{a}", {"x": ("{b}", 1, None)}], "y": "{a}"}) == ("a", "b")


def test_an_inserted_value_is_never_looked_into() -> None:
    assert expand("{var.a}", {"var.a": "{world} {{x}}"}.get) == "{world} {{x}}"


def test_unknown_names_are_told_at_once_with_a_suggestion() -> None:
    with pytest.raises(RecordError) as caught:
        expand("{pyhton} {var.b} {nothing-like-it} {sink.s.urk}", VALUES.get, where="f.yaml:1:1: prompt")
    told = [(problem.code, problem.where, problem.hint) for problem in caught.value.problems]
    assert [code for code, _, _ in told] == ["E-PLACEHOLDER-UNKNOWN"] * 4
    assert {where for _, where, _ in told} == {"f.yaml:1:1: prompt"}
    assert told[0][2].startswith("did you mean {python}; ")
    assert told[2][2].startswith("known are " + ", ".join(f"{{{form}}}" for form in PLACEHOLDER_FORMS))
    assert told[3][2].startswith("did you mean {sink.s.url}; ")


def test_known_names_are_suggested_first() -> None:
    with pytest.raises(RecordError, match=r"did you mean \{var.action\}"):
        expand("{var.acton}", VALUES.get, known=["var.action", "world"])


def test_a_tree_keeps_its_shape_and_names_the_places_of_what_is_unknown() -> None:
    assert expand_tree({"a": ["{world}", 1, {"b": "{var.a}"}], "{var.a}": None}, VALUES.get) == {
        "a": ["/w", 1, {"b": "A"}],
        "{var.a}": None,
    }
    document = document_of({"a": ["{x}", {"b": "{y}"}]}, name="f")
    with pytest.raises(RecordError) as caught:
        expand_tree(document.value, VALUES.get, where=document.where)
    assert [problem.where for problem in caught.value.problems] == ["f: a[0]", "f: a[1].b"]


def test_only_some_families_now_leaves_the_rest_for_later() -> None:
    tree = {"a": "{var.a} in {world}, {{world}} and {last.text}"}
    assert expand_tree(tree, VALUES.get, only={"var"}) == {"a": "A in {world}, {{world}} and {last.text}"}


def test_what_was_inserted_early_is_escaped_for_later() -> None:
    early = expand_tree("{var.a}{world}}", {"var.a": "{world}{"}.get, only={"var"})
    assert expand(early, {"world": "/w"}.get) == "{world}{/w}"


def test_escaping_is_undone_by_expanding() -> None:
    for text in ("{world}", "{{world}}", "{{{world}", "{world}}}", "plain {", '{"a":{"b":1}}'):
        assert expand(escape(text), {}.get) == text
