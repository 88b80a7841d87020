"""JSON as it stands on a wire: parsed without losing a digit, written without inventing one.

Owns the strict parser, the writer, number equality and pointers (RFC 6901). Choice for numbers: an integer of up
to 600 digits is a Python int; every other number is a `JsonNumber`, which keeps the literal (`1.0`, `1e2`) and
compares by exact value. Nothing here ever becomes a float, because a float loses digits without saying so.

Must never: accept what RFC 8259 refuses (NaN, a BOM, bytes that are not UTF-8), recurse without a bound, or
re-serialise a message that crosses (edits splice bytes, see `edits`).
Source: RFC 8259, RFC 6901.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import TypeAlias, TypeGuard

from oyer.errors import ProtocolError

__all__ = [
    "MAX_DEPTH",
    "JsonNumber",
    "JsonValue",
    "dumps",
    "escape_text",
    "loads",
    "loads_tolerant",
    "parse_pointer",
    "pointer_of",
    "same_json",
    "subset_of",
]

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | JsonNumber | bool | None"

MAX_DEPTH = 512
"""Objects and arrays may nest this deep; what is deeper is an error, not a crash."""

_INT_DIGITS = 600  # below the smallest limit an interpreter may set for int <-> str
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class JsonNumber:
    """A number as it was written; equal to another number when the exact values are equal."""

    __slots__ = ("lexical",)

    def __init__(self, lexical: str) -> None:
        if _NUMBER.fullmatch(lexical) is None:
            raise ProtocolError("E-JSON-NUMBER", f"{lexical[:40]!r} is no JSON number", side="endpoint")
        self.lexical = lexical

    def __repr__(self) -> str:
        return f"JsonNumber({self.lexical!r})"

    def __eq__(self, other: object) -> bool:
        theirs = _exact(other)
        return NotImplemented if theirs is None else _exact_text(self.lexical) == theirs

    def __hash__(self) -> int:
        sign, digits, power = _exact_text(self.lexical)
        if power >= 0 and power + len(digits) <= _INT_DIGITS:
            return hash(sign * int(digits or "0") * 10**power)  # equal to an int, so the hashes must be equal too
        return hash((sign, digits, power))

    def __lt__(self, other: object) -> bool:
        theirs = _exact(other)
        return NotImplemented if theirs is None else _order(_exact_text(self.lexical), theirs) < 0

    def __le__(self, other: object) -> bool:
        theirs = _exact(other)
        return NotImplemented if theirs is None else _order(_exact_text(self.lexical), theirs) <= 0

    def __gt__(self, other: object) -> bool:
        theirs = _exact(other)
        return NotImplemented if theirs is None else _order(_exact_text(self.lexical), theirs) > 0

    def __ge__(self, other: object) -> bool:
        theirs = _exact(other)
        return NotImplemented if theirs is None else _order(_exact_text(self.lexical), theirs) >= 0


def _exact_text(lexical: str) -> tuple[int, str, int]:
    """Return (sign, digits without outer zeros, power of ten of the last digit): equal exactly for equal numbers."""
    match = _NUMBER.fullmatch(lexical)
    if match is None:
        raise ProtocolError("E-JSON-NUMBER", f"{lexical[:40]!r} is no JSON number", side="endpoint")
    minus, whole, fraction, exponent = match.groups()
    digits = (whole + (fraction or "")).lstrip("0")
    kept = digits.rstrip("0")
    if not kept:
        return (0, "", 0)
    # An exponent of hundreds of digits is clipped: such numbers differ from every sane one, which is all we need.
    power = int((exponent or "0")[:_INT_DIGITS]) - len(fraction or "") + len(digits) - len(kept)
    return (-1 if minus else 1, kept, power)


def _exact(value: object) -> tuple[int, str, int] | None:
    if isinstance(value, JsonNumber):
        return _exact_text(value.lexical)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _exact_text(str(value))
    if isinstance(value, float) and value - value == 0:  # finite; authored records may hold floats
        return _exact_text(repr(value))
    return None


def _order(left: tuple[int, str, int], right: tuple[int, str, int]) -> int:
    if left[0] != right[0] or left[0] == 0:
        return left[0] - right[0]
    magnitude = (len(left[1]) + left[2]) - (len(right[1]) + right[2])
    if magnitude == 0:
        magnitude = (left[1] > right[1]) - (left[1] < right[1])
    return magnitude * left[0]


def _parse_int(digits: str) -> int | JsonNumber:
    return int(digits) if len(digits) <= _INT_DIGITS and digits != "-0" else JsonNumber(digits)


def _refuse_constant(name: str) -> object:
    raise ProtocolError("E-JSON-SYNTAX", f"{name} is not JSON", side="endpoint")


def _too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _STRUCTURE.finditer(text):
        mark = match.group()
        if mark in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark in ("]", "}"):
            depth -= 1
    return False


class _RepeatedKey(Exception):
    """An object names a member twice: the text is parsed again, slowly, to say which."""


def _plain_members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _RepeatedKey
    return built


# Made once: a decoder with hooks costs as much to make as a small message costs to parse.
_PLAIN_DECODER = json.JSONDecoder(
    object_pairs_hook=_plain_members,
    parse_int=_parse_int,
    parse_float=JsonNumber,
    parse_constant=_refuse_constant,
)


def loads_tolerant(raw: bytes) -> tuple[JsonValue, tuple[str, ...]]:
    """Parse one JSON text; a repeated key keeps its last value and is named in the second item.

    Raises: ProtocolError (`E-JSON-UTF8`, `E-JSON-SYNTAX`, `E-JSON-DEPTH`).
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError("E-JSON-UTF8", "not UTF-8", side="endpoint", where=f"byte {error.start}") from None
    if _too_deep(text):
        raise ProtocolError("E-JSON-DEPTH", f"nested deeper than {MAX_DEPTH}", side="endpoint")
    try:
        try:
            return _PLAIN_DECODER.decode(text), ()
        except _RepeatedKey:
            return _loads_repeated(text)
    except json.JSONDecodeError as error:
        where = f"character {error.pos}"
        raise ProtocolError("E-JSON-SYNTAX", f"not JSON: {error.msg}", side="endpoint", where=where) from None
    except RecursionError:  # the caller's own stack was deep already
        raise ProtocolError("E-JSON-DEPTH", "nested too deep to read here", side="endpoint") from None


def _loads_repeated(text: str) -> tuple[JsonValue, tuple[str, ...]]:
    """Parse a text in which some object names a member twice, and collect the names."""
    repeated: list[str] = []

    def members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)
        return dict(pairs)

    value: JsonValue = json.loads(
        text,
        object_pairs_hook=members,
        parse_int=_parse_int,
        parse_float=JsonNumber,
        parse_constant=_refuse_constant,
    )
    return value, tuple(repeated)


def loads(raw: bytes) -> JsonValue:
    """Parse one JSON text strictly.

    Raises: ProtocolError (`E-JSON-UTF8`, `E-JSON-SYNTAX`, `E-JSON-DEPTH`, `E-JSON-DUPLICATE-KEY`).
    """
    value, repeated = loads_tolerant(raw)
    if repeated:
        raise ProtocolError("E-JSON-DUPLICATE-KEY", f"key {repeated[0]!r} occurs twice", side="endpoint")
    return value


def escape_text(text: str) -> bytes:
    """Return `text` as the inside of a JSON string: raw UTF-8, escaped only where JSON or UTF-8 demands it."""
    quoted = encode_basestring(text)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)[1:-1].encode("utf-8")


def dumps(value: object) -> bytes:
    """Write a JSON value compactly; numbers that were parsed keep their literal.

    Accepts mappings and sequences of authored records too. Raises: ProtocolError (`E-JSON-VALUE`, `E-JSON-DEPTH`).
    """
    try:
        return b"".join(_pieces(value, 0))
    except RecursionError:
        raise ProtocolError("E-JSON-DEPTH", "nested too deep to write here", side="endpoint") from None


def _pieces(value: object, depth: int) -> Iterator[bytes]:
    if depth > MAX_DEPTH:
        raise ProtocolError("E-JSON-DEPTH", f"nested deeper than {MAX_DEPTH}", side="endpoint")
    if isinstance(value, str):
        yield b'"' + escape_text(value) + b'"'
    elif isinstance(value, Mapping):
        opening = b"{"
        for key, item in value.items():
            if not isinstance(key, str):
                raise ProtocolError("E-JSON-VALUE", f"key {key!r} is not text", side="endpoint")
            yield opening + b'"' + escape_text(key) + b'":'
            yield from _pieces(item, depth + 1)
            opening = b","
        yield b"}" if opening == b"," else b"{}"
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        opening = b"["
        for item in value:
            yield opening
            yield from _pieces(item, depth + 1)
            opening = b","
        yield b"]" if opening == b"," else b"[]"
    else:
        yield _scalar(value)


def _scalar(value: object) -> bytes:
    if value is None:
        return b"null"
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, JsonNumber):
        return value.lexical.encode("ascii")
    if isinstance(value, int):
        return str(value).encode("ascii")
    if isinstance(value, float) and value - value == 0:
        return repr(value).encode("ascii")
    raise ProtocolError("E-JSON-VALUE", f"{type(value).__name__} {value!r:.40} is no JSON value", side="endpoint")


def same_json(left: object, right: object) -> bool:
    """Say whether two values are equal by JSON type and value: 1 equals 1.0, never "1" nor true."""
    return _agree(left, right, exact=True)


def subset_of(pattern: object, value: object) -> bool:
    """Say whether `value` holds everything `pattern` names: named keys match, lists match by position and length."""
    return _agree(pattern, value, exact=False)


def _agree(left: object, right: object, *, exact: bool) -> bool:
    pairs = [(left, right)]  # an explicit stack: depth of foreign data must not become depth of ours
    while pairs:
        mine, theirs = pairs.pop()
        if isinstance(mine, Mapping):
            if not isinstance(theirs, Mapping) or (exact and len(mine) != len(theirs)) or mine.keys() - theirs.keys():
                return False
            pairs.extend((item, theirs[key]) for key, item in mine.items())
        elif _is_list(mine):
            if not _is_list(theirs) or len(mine) != len(theirs):
                return False
            pairs.extend(zip(mine, theirs, strict=True))
        elif not _same_scalar(mine, theirs):
            return False
    return True


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _same_scalar(left: object, right: object) -> bool:
    number = _exact(left)
    if number is not None:
        return number == _exact(right)
    return type(left) is type(right) and left == right


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """Split an RFC 6901 pointer into its reference tokens; "" is the whole document.

    Raises: ProtocolError (`E-JSON-POINTER`).
    """
    if pointer == "":
        return ()
    if not pointer.startswith("/") or re.search(r"~(?![01])", pointer):
        raise ProtocolError("E-JSON-POINTER", f"{pointer!r} is no JSON pointer", side="endpoint")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def pointer_of(tokens: Sequence[str | int]) -> str:
    """Write reference tokens as an RFC 6901 pointer."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)
