"""A document knows where each of its parts was written."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records import document_of, parse_documents

YAML = b"""\
oyer: Case@1
list:
  - {a: 1, b: two}
  - x
"""


def test_places_of_values_and_keys() -> None:
    (document,) = parse_documents(YAML, name="dir/case.yaml")
    assert document.where() == "dir/case.yaml:1:1"
    assert document.where(("oyer",)) == "dir/case.yaml:1:7"
    assert document.where_key(("oyer",)) == "dir/case.yaml:1:1"
    assert document.where(("list", 0, "b")) == "dir/case.yaml:3:15"
    assert document.where_key(("list", 0, "b")) == "dir/case.yaml:3:12"
    assert document.where(("list", 1)) == "dir/case.yaml:4:5"


def test_a_missing_path_falls_back_to_its_nearest_ancestor() -> None:
    (document,) = parse_documents(YAML, name="f.yaml")
    assert document.where(("list", 0, "c", "d")) == "f.yaml:3:5"
    assert document.where(("list", 7)) == document.where(("list", -1)) == "f.yaml:3:3"
    assert document.where(("list", "a")) == "f.yaml:3:3"
    assert document.where((0,)) == "f.yaml:1:1"
    assert document.where(("oyer", "x")) == "f.yaml:1:7"


def test_columns_count_characters() -> None:
    (document,) = parse_documents('{"\u00e9\U0001f600": 1, "b": 2}'.encode(), name="f.json")
    assert document.where(("b",)) == "f.json:1:16"


def test_an_expanded_value_keeps_the_places_of_its_source() -> None:
    (document,) = parse_documents(b"prompt: hello\nvars: {a: 1}\n", name="f.yaml")
    expanded = document.expanded(
        {"sessions": {"main": ["hello"]}, "vars": {"a": 1}},
        {("sessions",): ("prompt",), ("sessions", "main", 0): ("prompt",)},
    )
    assert expanded.where(("sessions", "main", 0)) == "f.yaml:1:9"
    assert expanded.where(("sessions", "main", 0, "text")) == "f.yaml:1:9"
    assert expanded.where_key(("sessions",)) == "f.yaml:1:1"
    assert expanded.where(("vars", "a")) == "f.yaml:2:11"
    assert document.where(("sessions",)) == "f.yaml:1:1"


def test_a_value_without_a_text_has_only_its_name() -> None:
    document = document_of({"a": [1]}, name="<python>")
    assert document.where(("a", 0)) == "<python>"
    assert document.position(("a", 0)) == (0, 0)
    assert document.problem("E-X", ("a", 0), "told").where == "<python>: a[0]"


@pytest.mark.parametrize(
    ("name", "data", "family"),
    [
        ("x.json", b"a: 1", "JSON"),
        ("X.JSON", b"a: 1", "JSON"),
        ("x.yaml", b"{a: [}", "YAML"),
        ("x.yml", b"{a: [}", "YAML"),
        ("-", b" \n{a: 1}", "JSON"),
        ("-", b"a: [}", "YAML"),
    ],
)
def test_the_reader_is_chosen_by_name_then_by_content(name: str, data: bytes, family: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_documents(data, name=name)
    assert caught.value.code == f"E-{family}-SYNTAX"


def test_yaml_reads_a_flow_mapping_and_json_gives_one_document() -> None:
    assert parse_documents(b"{a: no}", name="x.yaml")[0].value == {"a": "no"}
    assert parse_documents(b'{"a": 1}', name="stdin")[0].value == {"a": 1}
    assert [document.line for document in parse_documents(b"a: 1\n---\nb: 2\n", name="x.yaml")] == [1, 3]
