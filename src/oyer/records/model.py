"""What every record is: a strict, frozen, versioned value.

Owns `Record` and the types its fields are made of. Fields are tuples and read-only mappings all the way down; a list
in the input becomes a tuple, a mapping becomes a `FrozenDict`. A field type that could change later (list, set, a
bare `Any`) is refused when the class is made.

Must never read a file or know a kind by name.

A record type says what is wrong in its own words by raising `refuse(...)` in a validator, with paths relative to
itself; unions that differ by the key that is present use `by_key`.

Source: RFC 7493 (I-JSON) section 2.2 for the range of whole numbers; RFC 3339 for `UtcTime`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, NewType, NoReturn, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from oyer.records.source_text import MAX_DEPTH, Path, is_safe_number

__all__ = [
    "FORMS",
    "CaseId",
    "Digest",
    "Flaw",
    "FrozenDict",
    "Json",
    "RawDigest",
    "Record",
    "RunId",
    "SeriesId",
    "TrialId",
    "UtcTime",
    "by_key",
    "freeze_json",
    "refuse",
]

K = TypeVar("K")
V = TypeVar("V")

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NAME_FORM = rf"^{_NAME}$"
_CASE_FORM = rf"^{_NAME}(?:/{_NAME})*$"
_DIGEST_FORM = r"^sha256:[0-9a-f]{64}$"
_RAW_FORM = r"^raw:[0-9a-f]{64}$"

FORMS: Final = {
    _NAME_FORM: "letters, digits and . _ - only, starting with a letter or digit",
    _CASE_FORM: "names of letters, digits and . _ - joined by /, as in family/member",
    _DIGEST_FORM: "sha256: and 64 digits of lower-case hex",
    _RAW_FORM: "raw: and 64 digits of lower-case hex",
}
"""What each pattern means, in words."""

if TYPE_CHECKING:
    Digest = NewType("Digest", str)
    RawDigest = NewType("RawDigest", str)
    CaseId = NewType("CaseId", str)
    SeriesId = NewType("SeriesId", str)
    TrialId = NewType("TrialId", str)
    RunId = NewType("RunId", str)
else:
    # The same types; at run time their form is checked wherever a record has such a field.
    Digest = NewType("Digest", Annotated[str, StringConstraints(pattern=_DIGEST_FORM)])
    RawDigest = NewType("RawDigest", Annotated[str, StringConstraints(pattern=_RAW_FORM)])
    CaseId = NewType("CaseId", Annotated[str, StringConstraints(pattern=_CASE_FORM, max_length=200)])
    SeriesId = NewType("SeriesId", Annotated[str, StringConstraints(pattern=_NAME_FORM, max_length=200)])
    TrialId = NewType("TrialId", Annotated[str, StringConstraints(pattern=_NAME_FORM, max_length=400)])
    RunId = NewType("RunId", Annotated[str, StringConstraints(pattern=_NAME_FORM, max_length=200)])


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed; equal to a dict with the same items."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a record is frozen: its mappings cannot be changed")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        return f"FrozenDict({dict.__repr__(self)})"


class Flaw(NamedTuple):
    """One thing that is wrong inside a record; `path` is relative to the record that refuses it."""

    path: Path
    message: str
    hint: str = ""
    code: str = "E-RECORD-VALUE"


def refuse(*flaws: Flaw) -> NoReturn:
    """Raise, from a validator of a record type, everything it found wrong. Needs at least one flaw."""
    if not flaws:
        raise TypeError("refuse() needs a flaw")
    told = "; ".join(flaw.message for flaw in flaws).replace("{", "(").replace("}", ")")
    raise PydanticCustomError("oyer_flaws", told, {"flaws": flaws})


def by_key(*keys: str) -> Discriminator:
    """Choose the branch of a union by the key that is present; the branches carry `Tag(key)`.

    Example: `Annotated[Annotated[Persisted, Tag("persisted")] | Annotated[Called, Tag("called")], by_key("persisted",
    "called")]`. With two of the keys present the first named wins and refuses the other as unknown.
    """

    def choose(value: Any) -> str | None:
        if isinstance(value, BaseModel):
            names = {field.validation_alias or name for name, field in type(value).model_fields.items()}
        else:
            names = set(value) if isinstance(value, Mapping) else set()
        return next((key for key in keys if key in names), None)

    return Discriminator(
        choose,
        custom_error_type="oyer_by_key",
        custom_error_message="one of these keys was expected: {keys}",
        custom_error_context={"keys": ", ".join(keys)},
    )


def freeze_json(value: object) -> object:
    """Return any JSON value as tuples and `FrozenDict`s. Raises inside a validator for what JSON cannot hold."""
    flaws: list[Flaw] = []
    frozen = _freeze(value, (), flaws)
    if flaws:
        refuse(*flaws)
    return frozen


def _freeze(value: object, path: Path, flaws: list[Flaw]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            flaws.append(Flaw(path, "the text holds half of a surrogate pair", "", "E-RECORD-VALUE"))
        return value
    if isinstance(value, int | float):
        if not is_safe_number(value):
            flaws.append(Flaw(path, "the number is not finite or beyond 2^53-1", "write it as text"))
        return value
    if len(path) >= MAX_DEPTH:
        flaws.append(Flaw(path, f"nested deeper than {MAX_DEPTH} levels"))
        return None
    if isinstance(value, list | tuple):
        return tuple(_freeze(item, (*path, index), flaws) for index, item in enumerate(value))
    if isinstance(value, Mapping):
        odd = [key for key in value if not isinstance(key, str)]
        flaws.extend(Flaw(path, f"the key {key!r} is not text", "put it in quotes") for key in odd)
        return FrozenDict({key: _freeze(item, (*path, str(key)), flaws) for key, item in value.items()})
    flaws.append(Flaw(path, f"a {type(value).__name__} is not a JSON value"))
    return None


Json = Annotated[object, PlainValidator(freeze_json), WithJsonSchema({"description": "any JSON value"})]
"""A field that takes any JSON value and keeps it frozen."""

_UTC_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?\Z")


def _require_utc(text: str) -> str:
    if text.endswith("Z") and _UTC_TIME.match(text[:-1]) and _moment(text[:-1]) is not None:
        return text
    moment = _moment(text)
    if moment is None:
        refuse(Flaw((), f"{text!r} is not a time", "expected UTC, as in 2026-09-13T12:00:00Z"))
    if moment.tzinfo is None:
        refuse(Flaw((), "a time without its offset is ambiguous", "expected UTC, as in 2026-09-13T12:00:00Z"))
    utc = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    refuse(Flaw((), "a time is written in UTC with a Z", f"write {utc}Z"))


def _moment(text: str) -> datetime | None:
    # datetime takes at most six digits of a second; whether the rest are digits was the pattern's question.
    try:
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d{1,3}", r"\1", text))
    except (ValueError, OverflowError):
        return None


UtcTime = Annotated[
    str,
    AfterValidator(_require_utc),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": "Z$", "description": "a time in UTC, with Z"}),
]
"""RFC 3339 in UTC with `Z`; a time without offset, or with another one, is refused. Never used to order evidence."""


_NESTED = ("schema", "items_schema", "keys_schema", "values_schema", "fields", "choices", "steps", "extras_schema")
_MUTABLE = ("list", "set", "frozenset", "generator", "any", "typed-dict")


def _freeze_schema(node: Any, owner: str, resolve: Callable[[Any], Any]) -> Any:
    """Rewrite a core schema so that what it builds cannot change; parts that are records did this themselves."""
    if isinstance(node, list | tuple):
        return type(node)(_freeze_schema(item, owner, resolve) for item in node)
    if not isinstance(node, dict):
        return node
    kind = node.get("type")
    if not isinstance(kind, str):
        return {key: _freeze_schema(item, owner, resolve) for key, item in node.items()}
    if kind in _MUTABLE:
        raise TypeError(f"{owner}: a field of type {kind} could change; use a tuple, a Mapping or Json")
    if kind == "model":
        return node
    if kind == "definition-ref":
        _require_frozen(resolve(node), owner)
        return node
    fresh = {key: _freeze_schema(item, owner, resolve) if key in _NESTED else item for key, item in node.items()}
    if kind == "tuple":
        return core_schema.no_info_before_validator_function(_as_tuple, fresh)
    if kind == "dict":
        return core_schema.no_info_after_validator_function(FrozenDict, fresh)
    if kind == "union":
        # Labels that no document key can be mistaken for: `validation` tells steps from branches by them.
        fresh["choices"] = [
            (choice[0] if isinstance(choice, tuple) else choice, f"<{index}>")
            for index, choice in enumerate(fresh["choices"])
        ]
    return fresh


def _require_frozen(referred: Any, owner: str) -> None:
    """Refuse a named type that is no record; let an enum be read by its value, which is all a document has."""
    while referred["type"].startswith("function-"):
        referred = referred["schema"]
    kind = referred["type"]
    if kind == "enum":
        referred["strict"] = False
    elif kind != "model" or not issubclass(referred.get("cls", Record), Record):
        raise TypeError(f"{owner}: a field of a named type ({kind}) could change; write the type out or use a Record")


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Record(BaseModel):
    """The base of every record and of every part of one.

    Strict (no value is converted), frozen, closed (unknown fields are refused) and complete (defaults are checked
    too). A top-level record has the field `oyer: Literal["Kind@1"]`. Fields whose document name is a Python keyword
    get an alias; documents use the alias only, Python uses either.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        protected_namespaces=(),
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)

        def resolve(node: Any) -> Any:
            try:
                return handler.resolve_ref_schema(node)
            except LookupError:
                return {"type": "model"}  # a record that is being made right now, as when it holds itself

        # A model is kept apart and referred to, perhaps inside its validators; its own node is what is rewritten.
        model: Any = handler.resolve_ref_schema(schema)
        while model["type"] != "model":
            model = resolve(model["schema"])
        model["schema"] = _freeze_schema(model["schema"], cls.__name__, resolve)
        result: CoreSchema = schema
        return result
