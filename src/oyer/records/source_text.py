"""What the two strict readers share: bytes to text, limits, places, and the list of problems.

Owns the rules that hold before any grammar does: UTF-8 only, no byte order mark, no NUL, a size limit, a depth
limit. A `Place` tree runs beside every parsed value, so that any path can be named as line and column (both count
from 1; a column counts characters).

Must never guess an encoding, repair a byte, or open a file.

Source: RFC 8259 section 8.1 (UTF-8, no byte order mark), YAML 1.2.2 section 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, NoReturn

from oyer.errors import Problem, RecordError

__all__ = [
    "MAX_DEPTH",
    "MAX_NODES",
    "MAX_PROBLEMS",
    "MAX_SAFE_INTEGER",
    "MAX_SIZE_BYTES",
    "Findings",
    "Parsed",
    "Path",
    "Place",
    "Position",
    "decode_text",
    "is_safe_number",
    "nearest",
    "path_text",
    "shown",
]

MAX_SIZE_BYTES: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_NODES: Final = 1_000_000
MAX_PROBLEMS: Final = 200
MAX_SAFE_INTEGER: Final = 2**53 - 1

Path = tuple[str | int, ...]
Position = tuple[int, int]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class Place(NamedTuple):
    """Where a list or mapping starts, and the places of what it holds (for a scalar just its position)."""

    line: int
    column: int
    children: Mapping[str, Place | Position] | Sequence[Place | Position] = ()
    keys: Mapping[str, Position] | None = None


class Parsed(NamedTuple):
    """One parsed document: a plain value and the tree of its places."""

    value: Any
    place: Place | Position


def path_text(path: Path) -> str:
    """Write a path as people read it: `sessions.a[0].text`, with odd keys in quotes."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            quoted = shown(step.replace("\\", "\\\\").replace('"', '\\"'))
            parts.append(f'["{quoted}"]')
    return "".join(parts)


def shown(text: str, *, limit: int = 80) -> str:
    """Make a text from a document safe to print: no control characters, not longer than `limit`."""
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def is_safe_number(number: int | float) -> bool:
    """Tell whether every JSON reader takes the number for the same one.

    Whole numbers go to 2^53-1. A float must be finite, and must not be one that canonical JSON writes as a bare whole
    number beyond that (2^53 up to 1e21).
    """
    size = abs(number)
    if isinstance(number, float):
        return size <= MAX_SAFE_INTEGER or 1e21 <= size < float("inf")
    return size <= MAX_SAFE_INTEGER


def nearest(name: str, known: Sequence[str]) -> str:
    """Name the known word closest to `name`, or return an empty string when none is close."""
    found = get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else ""


class Findings:
    """All problems of one source, in the order they were found."""

    __slots__ = ("family", "name", "problems")

    def __init__(self, name: str, family: str) -> None:
        self.name = name
        self.family = family
        self.problems: list[Problem] = []

    def add(self, rule: str, message: str, at: Position, *, hint: str = "", path: Path = ()) -> None:
        """Keep one problem; `rule` becomes the code `E-<family>-<rule>`. Raises when there are too many."""
        where = f"{self.name}:{at[0]}:{at[1]}"
        if path:
            where = f"{where}: {path_text(path)}"
        self.problems.append(Problem(f"E-{self.family}-{rule}", message, where, hint))
        if len(self.problems) >= MAX_PROBLEMS:
            self.stop("PROBLEMS", f"more than {MAX_PROBLEMS} problems; reading stopped here", at)

    def stop(self, rule: str, message: str, at: Position, *, hint: str = "", path: Path = ()) -> NoReturn:
        """Keep one problem after which reading cannot go on, and raise all of them."""
        where = f"{self.name}:{at[0]}:{at[1]}"
        if path:
            where = f"{where}: {path_text(path)}"
        self.problems.append(Problem(f"E-{self.family}-{rule}", message, where, hint))
        raise RecordError.of(self.problems)

    def require_none(self) -> None:
        """Raise when anything was found."""
        if self.problems:
            raise RecordError.of(self.problems)


def decode_text(data: bytes, findings: Findings) -> str:
    """Decode strict UTF-8. Raises `RecordError` for size, a byte order mark, invalid UTF-8 and NUL."""
    if len(data) > MAX_SIZE_BYTES:
        findings.stop("SIZE", f"{len(data)} bytes; a document has at most {MAX_SIZE_BYTES}", (1, 1))
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        findings.stop("BOM", "the file starts with a byte order mark", (1, 1), hint="save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        findings.stop("UTF8", message, _position_of_byte(data, error.start), hint=hint)
    nul = data.find(b"\0")
    if nul >= 0:
        findings.stop("NUL", "the file holds a NUL byte", _position_of_byte(data, nul), hint="remove it")
    return text


def _position_of_byte(data: bytes, offset: int) -> Position:
    before = data[:offset]
    start = before.rfind(b"\n") + 1
    # The prefix is valid: `offset` is the first byte that is not.
    return before.count(b"\n") + 1, len(before[start:].decode("utf-8")) + 1
