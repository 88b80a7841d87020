"""JSON Schemas of the record types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import Field, Tag

from oyer.records import CaseId, Digest, Json, Record, UtcTime, by_key, json_schema, kind_of


class Persisted(Record):
    """A link to a file.

    It has more to say.
    """

    persisted: str = Field(description="the path")


class Called(Record):
    called: str


class Sample(Record):
    """A sample."""

    oyer: Literal["Sample@2"] = "Sample@2"
    id: CaseId
    digest: Digest | None = None
    at: UtcTime | None = None
    with_: str = Field("x", validation_alias="with", serialization_alias="with", description="a keyword of Python")
    data: Mapping[str, Json] = {}
    links: tuple[
        Annotated[
            Annotated[Persisted, Tag("persisted")] | Annotated[Called, Tag("called")], by_key("persisted", "called")
        ],
        ...,
    ] = ()
    pair: tuple[int, str] | str = "none"
    inner: tuple[Sample, ...] = ()


def test_the_schema_is_a_valid_one_with_its_name() -> None:
    schema = json_schema(Sample)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "https://oyer.invalid/schema/Sample-2.json"
    assert schema["title"] == "Sample@2"
    assert list(schema)[:3] == ["$schema", "$id", "title"]


def test_titles_and_descriptions_come_from_the_types() -> None:
    definitions = json_schema(Sample)["$defs"]
    assert definitions["Persisted"]["description"] == "A link to a file.\n\nIt has more to say."
    assert definitions["Persisted"]["properties"]["persisted"]["description"] == "the path"
    assert definitions["Sample"]["description"] == "A sample."
    assert definitions["Sample"]["properties"]["with"]["description"] == "a keyword of Python"
    assert "description" not in definitions["Called"]


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ({"oyer": "Sample@2", "id": "a"}, True),
        ({"oyer": "Sample@2", "id": "a", "with": "y", "pair": [1, "x"], "data": {"k": [None, 1.5]}}, True),
        ({"oyer": "Sample@2", "id": "a", "links": [{"persisted": "p"}, {"called": "c"}]}, True),
        ({"oyer": "Sample@2", "id": "a", "inner": [{"id": "b"}]}, True),
        ({"id": "a"}, False),
        ({"oyer": "Sample@1", "id": "a"}, False),
        ({"oyer": "Sample@2", "id": "a b"}, False),
        ({"oyer": "Sample@2", "id": "a", "with_": "y"}, False),
        ({"oyer": "Sample@2", "id": "a", "links": [{}]}, False),
        ({"oyer": "Sample@2", "id": "a", "pair": [1, 2]}, False),
        ({"oyer": "Sample@2", "id": "a", "digest": "sha256:0"}, False),
        ({"oyer": "Sample@2", "id": "a", "at": "2026-09-13T12:00:00"}, False),
    ],
)
def test_the_schema_says_what_the_types_say(value: dict[str, Any], good: bool) -> None:
    assert Draft202012Validator(json_schema(Sample)).is_valid(value) is good


def test_a_part_has_no_kind() -> None:
    assert kind_of(Sample) == "Sample@2"
    with pytest.raises(TypeError, match="Called has no field"):
        json_schema(Called)
