"""What every record is: strict, frozen, closed, complete."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel, Tag, ValidationError, model_validator

from oyer.records import CaseId, Digest, Flaw, FrozenDict, Json, Record, UtcTime, by_key, freeze_json, refuse


class Part(Record):
    name: str
    weights: Mapping[str, tuple[int, ...]] = {}


class Whole(Record):
    oyer: Literal["Whole@1"] = "Whole@1"
    parts: tuple[Part, ...] = ()
    data: Json = None
    pair: tuple[str, int] = ("a", 1)
    by_name: Mapping[str, Mapping[str, str]] = {}


def test_lists_become_tuples_and_mappings_cannot_change() -> None:
    whole = Whole.model_validate(
        {
            "parts": [{"name": "p", "weights": {"w": [1, 2]}}],
            "data": {"a": [1, {"b": []}]},
            "pair": ["x", 2],
            "by_name": {"k": {"l": "m"}},
        }
    )
    assert whole.parts[0].weights == {"w": (1, 2)}
    assert whole.data == {"a": (1, {"b": ()})}
    assert whole.pair == ("x", 2)
    assert isinstance(hash(whole), int)
    for mapping in (whole.parts[0].weights, whole.by_name, whole.by_name["k"], whole.data):
        assert isinstance(mapping, FrozenDict)
    with pytest.raises(ValidationError):
        whole.pair = ("y", 3)  # type: ignore[misc]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=1),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.__ior__({"b": 1}),
    ],
)
def test_no_door_of_a_frozen_dict_is_open(change: Any) -> None:
    frozen = FrozenDict({"a": 1})
    with pytest.raises(TypeError, match="frozen"):
        change(frozen)
    assert frozen == {"a": 1}


def test_a_frozen_dict_survives_copies_and_pickles() -> None:
    frozen = FrozenDict({"a": (1, 2)})
    for twin in (copy.copy(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert twin == frozen
        assert isinstance(twin, FrozenDict)
    assert hash(frozen) == hash(FrozenDict({"a": (1, 2)}))
    assert repr(frozen) == "FrozenDict({'a': (1, 2)})"


@pytest.mark.parametrize(
    "value",
    [
        {"parts": {"name": "p"}},
        {"parts": [{"name": 1}]},
        {"parts": ({"name": "p"} for _ in range(1))},
        {"parts": {"p"}},
        {"pair": ["x", "2"]},
        {"pair": ["x", True]},
        {"pair": ["x", 2.0]},
        {"pair": ["x"]},
        {"by_name": {1: {}}},
        {"data": float("nan")},
        {"data": 2**53},
        {"data": {1: 2}},
        {"data": {1, 2}},
        {"data": "\ud800"},
        {"unknown": 1},
        {"oyer": "Whole@2"},
    ],
)
def test_nothing_is_converted_and_nothing_unknown_gets_in(value: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Whole.model_validate(value)


@pytest.mark.parametrize(
    "annotation", [list[str], dict[str, list[int]], set[str], Any, tuple[Any, ...], frozenset[str]]
)
def test_a_field_that_could_change_is_refused_when_the_class_is_made(annotation: Any) -> None:
    with pytest.raises(TypeError, match="could change"):
        type("Bad", (Record,), {"__annotations__": {"field": annotation}, "__module__": __name__})


class Pair(NamedTuple):
    items: list[int]


@dataclass
class Plain:
    items: list[int]


class Open(BaseModel):
    items: list[int]


@pytest.mark.parametrize("annotation", [Pair, Plain, Open, tuple[Plain, ...]])
def test_a_named_type_that_is_no_record_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match="could change"):
        type("Bad", (Record,), {"__annotations__": {"field": annotation}, "__module__": __name__})


class Checked(Record):
    items: tuple[str, ...] = ()
    inner: Mapping[str, Checked] = {}

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"items": [value]} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _checked(self) -> Checked:
        return self


def test_validators_do_not_get_in_the_way_of_freezing() -> None:
    checked = Checked.model_validate({"items": ["a"], "inner": {"k": "short"}})
    assert checked.items == ("a",)
    assert checked.inner == {"k": Checked(items=("short",))}
    assert isinstance(checked.inner, FrozenDict)


def test_defaults_are_checked_too() -> None:
    class Wrong(Record):
        count: int = "one"  # type: ignore[assignment]

    with pytest.raises(ValidationError):
        Wrong()


class Level(Enum):
    LOW = "low"


class Typed(Record):
    case: CaseId | None = None
    digest: Digest | None = None
    at: UtcTime | None = None
    level: Level = Level.LOW


def test_enums_are_read_by_value() -> None:
    assert Typed.model_validate({"level": "low"}).level is Level.LOW
    with pytest.raises(ValidationError):
        Typed.model_validate({"level": "high"})


@pytest.mark.parametrize("good", ["a", "cascade-memo", "cascade-memo/genuine-approval", "A1/b_2/c.3"])
def test_case_ids(good: str) -> None:
    assert Typed.model_validate({"case": good}).case == good


@pytest.mark.parametrize("bad", ["", "/a", "a/", "a//b", "a b", "../a", "a/../b", "a\n", "\u00e9", "a" * 201, ".a"])
def test_case_ids_that_are_none(bad: str) -> None:
    with pytest.raises(ValidationError):
        Typed.model_validate({"case": bad})


@pytest.mark.parametrize("bad", ["sha256:" + "0" * 63, "sha256:" + "A" * 64, "0" * 64, "sha256:" + "0" * 64 + "\n"])
def test_digests_that_are_none(bad: str) -> None:
    with pytest.raises(ValidationError):
        Typed.model_validate({"digest": bad})


@pytest.mark.parametrize("good", ["2026-09-13T12:00:00Z", "2026-10-25T00:30:00.123456789Z", "2028-02-29T23:59:59.5Z"])
def test_utc_times(good: str) -> None:
    assert Typed.model_validate({"at": good}).at == good


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("2026-09-13T12:00:00", "ambiguous"),
        ("2026-10-25T02:30:00", "ambiguous"),
        ("2026-09-13T15:00:00.694554+03:00", "UTC with a Z"),
        ("2026-09-13T12:00:00+00:00", "UTC with a Z"),
        ("2026-02-30T12:00:00Z", "is not a time"),
        ("2026-09-13 12:00:00Z", "UTC with a Z"),
        ("2026-09-13", "ambiguous"),
        ("yesterday", "is not a time"),
        ("", "is not a time"),
        ("2026-09-13T12:00:00Z\n", "is not a time"),
    ],
)
def test_a_time_without_utc_is_refused(bad: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Typed.model_validate({"at": bad})


class Persisted(Record):
    persisted: str


class Called(Record):
    called: str
    arguments: Mapping[str, Json] = {}


class Chain(Record):
    links: tuple[
        Annotated[
            Annotated[Persisted, Tag("persisted")] | Annotated[Called, Tag("called")], by_key("persisted", "called")
        ],
        ...,
    ]


def test_a_union_is_decided_by_the_key_that_is_there() -> None:
    chain = Chain.model_validate({"links": [{"persisted": "f"}, {"called": "t", "arguments": {"a": [None]}}]})
    assert chain.links == (Persisted(persisted="f"), Called(called="t", arguments={"a": (None,)}))
    assert Chain(links=(Persisted(persisted="f"),)).links[0] == Persisted(persisted="f")
    for value in ({}, {"persisted": "f", "called": "t"}, 3, None):
        with pytest.raises(ValidationError):
            Chain.model_validate({"links": [value]})


def test_refusing_needs_a_reason() -> None:
    with pytest.raises(TypeError):
        refuse()


def test_flaws_with_braces_are_told_as_they_are() -> None:
    with pytest.raises(Exception, match="unknown"):
        refuse(Flaw((), "{x} is unknown"))


def test_freezing_json_is_deep() -> None:
    assert freeze_json({"a": [{"b": [1]}]}) == FrozenDict({"a": (FrozenDict({"b": (1,)}),)})
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(Exception, match="nested deeper"):
        freeze_json(loop)
