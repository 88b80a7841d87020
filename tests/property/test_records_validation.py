"""Laws of validation: any document gives a record or problems with a place, and a record comes back from its bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, Tag

from oyer.errors import RecordError
from oyer.records import (
    CaseId,
    Json,
    Record,
    by_key,
    canonical_bytes,
    digest,
    document_of,
    find_problems,
    parse_canonical,
    parse_documents,
    validate,
)


class Http(Record):
    kind: Literal["http"]
    url: str


class World(Record):
    kind: Literal["world"]
    watch: tuple[str, ...] = ()


class Persisted(Record):
    persisted: str


class Called(Record):
    called: str | tuple[str, ...]
    arguments: Mapping[str, Json] = {}


class Sample(Record):
    oyer: Literal["Sample@1"] = "Sample@1"
    id: CaseId
    with_: int | None = Field(None, validation_alias="with", serialization_alias="with")
    sinks: Mapping[str, Annotated[Http | World, Field(discriminator="kind")]] = {}
    links: tuple[
        Annotated[
            Annotated[Persisted, Tag("persisted")] | Annotated[Called, Tag("called")], by_key("persisted", "called")
        ],
        ...,
    ] = ()
    shape: Http | str | tuple[int, ...] | Mapping[str, int] = ""
    parts: tuple[Sample, ...] = ()


KINDS = {"Sample@1": Sample}
# Every float that has a canonical form: none that would be written as a bare whole number beyond 2^53-1.
FLOATS = st.floats(-(2.0**53) + 1, 2.0**53 - 1) | st.floats(1e21, 1.7e308) | st.floats(-1.7e308, -1e21)
WORDS = st.sampled_from(
    ["oyer", "Sample@1", "id", "with", "with_", "sinks", "links", "shape", "parts", "kind", "http", "world", "url",
     "watch", "persisted", "called", "arguments", "a/b", "x y", "\x1b", "<0>", "str", "Http"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-3, 2**53 - 1) | FLOATS | WORDS
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4))
NEAR = st.fixed_dictionaries(
    {"oyer": st.just("Sample@1")},
    optional={
        "id": st.sampled_from(["a", "a/b"]) | ANY,
        "with": st.integers(0, 9) | ANY,
        "sinks": st.dictionaries(WORDS, st.fixed_dictionaries({"kind": WORDS}, optional={"url": ANY, "watch": ANY}))
        | ANY,
        "links": st.lists(st.dictionaries(st.sampled_from(["persisted", "called", "arguments"]), ANY)) | ANY,
        "shape": ANY,
        "parts": st.lists(st.fixed_dictionaries({"id": WORDS}), max_size=2) | ANY,
        "extra": ANY,
    },
)


@given(NEAR | ANY)
def test_any_document_is_a_record_or_problems_with_places(value: Any) -> None:
    (document,) = parse_documents(json.dumps(value, indent=1).encode(), name="f.json")
    problems = find_problems(document, KINDS)
    for problem in problems:
        assert problem.where.startswith("f.json:")
        assert problem.code.startswith("E-RECORD-")
        assert problem.message
        assert str(problem).isprintable()
        assert "<0>" not in problem.where or "<0>" in json.dumps(value)
    try:
        record = validate(document, KINDS)
    except RecordError as error:
        assert list(error.problems) == problems
    else:
        assert problems == []
        data = canonical_bytes(record)
        again = validate(document_of(parse_canonical(data)), KINDS)
        assert again == record
        assert digest(again) == digest(record)


@given(NEAR)
def test_without_problems_only_when_pydantic_agrees(value: Any) -> None:
    problems = find_problems(document_of(value), KINDS)
    try:
        Sample.model_validate(value, by_alias=True, by_name=False)
    except ValueError:
        assert problems
    else:
        assert not problems
