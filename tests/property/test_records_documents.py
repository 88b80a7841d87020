"""Laws of reading: both readers give one value, and every place is the place of what it names."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from oyer.records import Document, parse_documents
from oyer.records.strict_yaml import parse_yaml

SAFE = 2**53 - 1
# Every float that has a canonical form: none that would be written as a bare whole number beyond 2^53-1.
FLOATS = st.floats(-(2.0**53) + 1, 2.0**53 - 1) | st.floats(1e21, 1.7e308) | st.floats(-1.7e308, -1e21)
TEXT = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"), max_size=8
).filter(lambda text: all(ord(one) & 0xFFFE != 0xFFFE for one in text))
SCALARS = st.none() | st.booleans() | st.integers(-SAFE, SAFE) | FLOATS | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=16
)
INDENT = st.sampled_from([None, 1, 4])


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, (*path, index))
    return found


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def written_at(text: str, position: tuple[int, int]) -> Any:
    """What a standard reader finds at a line and column of a JSON text."""
    line, column = position
    offset = sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column - 1
    return json.JSONDecoder().raw_decode(text, offset)[0]


def check_places(document: Document, text: str, value: Any) -> None:
    for path in paths(value):
        assert written_at(text, document.position(path)) == at(value, path)
        if path and isinstance(path[-1], str):
            assert written_at(text, document.position(path, at_key=True)) == path[-1]


@given(VALUES, INDENT)
def test_json_is_read_with_every_place(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    (document,) = parse_documents(text.encode(), name="f.json")
    assert document.value == value
    check_places(document, text, value)


@given(VALUES, INDENT)
def test_json_with_escapes_reads_the_same(value: Any, indent: int | None) -> None:
    (document,) = parse_documents(json.dumps(value, indent=indent).encode(), name="f.json")
    assert document.value == value


@given(VALUES, INDENT)
def test_yaml_reads_json_with_the_same_places(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    (document,) = parse_documents(text.encode(), name="f.yaml")
    assert document.value == value
    check_places(document, text, value)


@given(VALUES, st.booleans())
def test_yaml_that_another_writer_wrote_is_read_by_both_parsers(value: Any, flow: bool) -> None:
    class Writer(yaml.SafeDumper):
        """Writes every text in double quotes, so that 1.1 and 1.2 agree on what is one."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    Writer.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, '"'))
    # With a point, so that the writer, which knows 1.1 only, takes it for a number without a tag.
    Writer.add_representer(
        float,
        lambda dumper, number: dumper.represent_scalar(
            "tag:yaml.org,2002:float", repr(number) if "." in repr(number) else repr(number).replace("e", ".0e")
        ),
    )
    data = yaml.dump(value, Dumper=Writer, default_flow_style=flow, allow_unicode=True).encode()
    fast, slow = parse_yaml(data, name="f"), parse_yaml(data, name="f", pure=True)
    assert [one.value for one in fast] == [value]
    assert fast == slow


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_several_documents_keep_their_order_and_their_lines(values: list[Any]) -> None:
    text = "".join(f"---\n{json.dumps(value, ensure_ascii=False)}\n" for value in values)
    documents = parse_documents(text.encode(), name="f.yaml")
    assert [document.value for document in documents] == values
    assert [document.line for document in documents] == [2 * number + 2 for number in range(len(values))]
    for document, value in zip(documents, values, strict=True):
        check_places(document, text, value)
