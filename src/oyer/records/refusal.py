"""The words in which a record is refused.

Owns one wording for every way a value can be wrong: what it is, and what was expected. A kind of error without words
of its own is told in pydantic's, so that nothing is ever left out.

Must never decide whether something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from oyer.records.model import FORMS
from oyer.records.schema_walk import Trace
from oyer.records.source_text import nearest, shown

__all__ = ["Wording", "describe", "wording"]


class Wording(NamedTuple):
    """One refusal in words."""

    code: str
    message: str
    hint: str


def describe(value: Any) -> str:
    """Say what a value is, in the words a document's author would use."""
    if value is None:
        return "null (nothing)"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, int):
        return f"the whole number {value}"
    if isinstance(value, float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the text "{shown(value, limit=40)}"'
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    return f"a {type(value).__name__}"


_EXPECTED: Final[dict[str, str]] = {
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping",
    "mapping_type": "expected a mapping",
    "model_type": "expected a mapping",
    "model_attributes_type": "expected a mapping",
    "none_required": "expected null",
    "int_from_float": "expected a whole number",
}


_SHORT: Final[dict[str, str]] = {
    "repeat": "a whole number, as in `repeat: 3`",
    "order": "a word, as in `order: shuffled`",
    "channel": "a tool, as in `report.status`",
    "called": "a tool, as in `fs.read_file`",
    "through": "a tool, as in `fs.read_file`",
    "by": "a tool and its argument, as in `fs.write_file.content`",
    "append_text": "a text",
}
"""What an author may write at a field instead of the mapping that it stands for."""


def wording(error: Mapping[str, Any], trace: Trace) -> Wording:
    """Word one error of pydantic."""
    kind, value, context = error["type"], error.get("input"), error.get("ctx", {})
    if kind in _EXPECTED:
        hint = _EXPECTED[kind]
        if kind == "string_type" and isinstance(value, bool | int | float):
            hint += ": put it in quotes"
        if hint == "expected a mapping" and error["loc"] and error["loc"][-1] in _SHORT:
            hint = f"expected {_SHORT[error['loc'][-1]]}, or a mapping"
        return Wording("E-RECORD-TYPE", f"{describe(value)} is not what belongs here", hint)
    if kind == "missing":
        return Wording("E-RECORD-MISSING", f"the field `{error['loc'][-1]}` is missing", "it is required")
    if kind == "extra_forbidden":
        return _unknown_field(error, trace)
    if kind == "oyer_no_branch":
        hint = "expected " + " or ".join(part.removeprefix("expected ") for part in context["expected"])
        return Wording("E-RECORD-TYPE", f"{describe(value)} is not what belongs here", hint)
    worded = _WORDED.get(kind)
    if worded:
        return worded(value, context)
    return Wording("E-RECORD-VALUE", f"{describe(value)} was refused: {error['msg']}", "")


def _unknown_field(error: Mapping[str, Any], trace: Trace) -> Wording:
    name = str(error["loc"][-1])
    close = nearest(name, trace.names)
    known = ", ".join(trace.names)
    hint = f"did you mean `{close}`? known are {known}" if close else f"known are {known}"
    return Wording("E-RECORD-UNKNOWN-FIELD", f"the field `{shown(name)}` is unknown here", hint)


def _literal(value: Any, context: Mapping[str, Any]) -> Wording:
    expected = str(context["expected"]).replace("'", "")
    close = nearest(value, expected.replace(" or ", ", ").split(", ")) if isinstance(value, str) else ""
    hint = f"did you mean `{close}`? expected {expected}" if close else f"expected {expected}"
    return Wording("E-RECORD-VALUE", f"{describe(value)} is none of the values allowed here", hint)


def _tag(value: Any, context: Mapping[str, Any]) -> Wording:
    expected = str(context["expected_tags"]).replace("'", "")
    field = str(context["discriminator"]).replace("'", "")
    told = f"`{shown(str(context['tag']))}` is not known for `{field}`"
    return Wording("E-RECORD-CHOICE", told, f"expected one of {expected}")


def _no_tag(value: Any, context: Mapping[str, Any]) -> Wording:
    if not isinstance(value, Mapping):
        return Wording("E-RECORD-TYPE", f"{describe(value)} is not what belongs here", "expected a mapping")
    field = str(context["discriminator"]).replace("'", "")
    return Wording("E-RECORD-MISSING", f"the field `{field}` is missing", "it says which kind this is")


def _no_key(value: Any, context: Mapping[str, Any]) -> Wording:
    if not isinstance(value, Mapping):
        told = f"{describe(value)} is not what belongs here"
        return Wording("E-RECORD-TYPE", told, f"expected a mapping with one of the keys {context['keys']}")
    return Wording("E-RECORD-CHOICE", "none of the keys that say what this is", f"expected one of {context['keys']}")


def _pattern(value: Any, context: Mapping[str, Any]) -> Wording:
    form = FORMS.get(context["pattern"], f"the form {context['pattern']}")
    return Wording("E-RECORD-VALUE", f"{describe(value)} has the wrong form", f"expected {form}")


def _bound(words: str, key: str) -> Callable[[Any, Mapping[str, Any]], Wording]:
    return lambda value, context: Wording(
        "E-RECORD-VALUE", f"{describe(value)} is out of range", f"expected {words} {context[key]}"
    )


def _length(words: str, key: str, unit: str) -> Callable[[Any, Mapping[str, Any]], Wording]:
    def worded(value: Any, context: Mapping[str, Any]) -> Wording:
        length = len(value) if hasattr(value, "__len__") else "?"
        told = f"{describe(value)} has the length {length}"
        return Wording("E-RECORD-VALUE", told, f"expected {words} {context[key]} {unit}")

    return worded


_WORDED: Final[dict[str, Callable[[Any, Mapping[str, Any]], Wording]]] = {
    "literal_error": _literal,
    "enum": _literal,
    "union_tag_invalid": _tag,
    "union_tag_not_found": _no_tag,
    "oyer_by_key": _no_key,
    "string_pattern_mismatch": _pattern,
    "greater_than": _bound("more than", "gt"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than": _bound("less than", "lt"),
    "less_than_equal": _bound("at most", "le"),
    "too_short": _length("at least", "min_length", "entries"),
    "too_long": _length("at most", "max_length", "entries"),
    "string_too_short": _length("at least", "min_length", "characters"),
    "string_too_long": _length("at most", "max_length", "characters"),
    "finite_number": lambda value, _: Wording(
        "E-RECORD-VALUE", f"{describe(value)} is not finite", "expected a finite number"
    ),
    "value_error": lambda value, context: Wording("E-RECORD-VALUE", str(context.get("error", "refused")), ""),
    "assertion_error": lambda value, context: Wording("E-RECORD-VALUE", str(context.get("error", "refused")), ""),
}
