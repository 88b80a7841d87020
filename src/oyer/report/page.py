"""A page: lines of styled segments, laid out for a width, before anyone decides how styles look.

Owns the small document model of all text reports, folding and padding by display width, and the plain text of a page.
A style says what a text is, never which colour it has; every meaning also stands in a glyph and a word.

Must never print, and never take a text that has not passed through `neutralise`.

Source: UAX #11 (East Asian Width) for display widths.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from oyer.report.safe import neutralise

__all__ = [
    "Line",
    "Look",
    "Page",
    "Segment",
    "Style",
    "counted",
    "cut",
    "entry",
    "fold",
    "hard_fold",
    "line",
    "page_text",
    "say",
    "text_fold",
    "width_of",
]

Style = Literal["plain", "strong", "dim", "accent", "good", "warn", "bad", "added", "removed"]


class Segment(NamedTuple):
    """A piece of one line with one style. Made by `say`, so that it is safe to print."""

    text: str
    style: Style = "plain"


Line = tuple[Segment, ...]
Page = tuple[Line, ...]


class Look(NamedTuple):
    """What the place a page is printed in can show. `width` is in columns."""

    width: int = 100
    unicode: bool = True


def counted(number: int, thing: str, things: str = "") -> str:
    """Say how many: `1 case`, `2 cases`."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def say(text: str, style: Style = "plain") -> Segment:
    """Make a segment of any text; what could act on a terminal is made visible instead."""
    return Segment(neutralise(text), style)


def line(*parts: Segment | str) -> Line:
    """Make a line of segments and plain texts."""
    return tuple(part if isinstance(part, Segment) else say(part) for part in parts)


def page_text(page: Iterable[Line]) -> str:
    """Return a page as plain text, one line end after each line, without trailing spaces."""
    return "".join("".join(segment.text for segment in one).rstrip(" ") + "\n" for one in page)


def width_of(text: str) -> int:
    """Return how many columns a neutralised text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """Return a text in exactly `width` columns: padded with spaces, or cut and marked with `~`."""
    text = neutralise(text)
    if width_of(text) <= width:
        return text + " " * (width - width_of(text))
    kept = next(iter(hard_fold(text, width - 1)), "")
    return kept + "~" + " " * (width - 1 - width_of(kept))


def entry(text: str, width: int) -> str:
    """Return a name in exactly `width` columns that end in a space. A longer one loses its middle, marked with `~`.

    What tells names of one kind apart stands at their ends: a case begins with its family and ends with its control.
    """
    text = neutralise(text)
    room = width - 1
    if width_of(text) <= room:
        return text + " " * (width - width_of(text))
    end = _last(text, (room - 1) * 2 // 3)
    start = text[: _fitting(text, 0, room - 1 - width_of(end))]
    told = f"{start}~{end}"
    return told + " " * (width - width_of(told))


def _last(text: str, width: int) -> str:
    """The end of a text that fits."""
    start, room = len(text), width
    while start > 0 and width_of(text[start - 1]) <= room:
        start -= 1
        room -= width_of(text[start])
    return text[start:]


def hard_fold(text: str, width: int) -> Iterator[str]:
    """Break one neutralised line wherever it is full; spaces are kept as they are."""
    start = 0
    while start < len(text):
        end = _fitting(text, start, width)
        yield text[start:end]
        start = end
    if not text:
        yield ""


def text_fold(text: str, width: int) -> Iterator[str]:
    """Break one neutralised line after a space where there is one in its second half, else where it is full."""
    start = 0
    while (end := _fitting(text, start, width)) < len(text):
        space = text.rfind(" ", start, end)
        if space - start >= (end - start) // 2:
            end = space + 1
        yield text[start:end]
        start = end
    yield text[start:]


def _fitting(text: str, start: int, width: int) -> int:
    """Return where the part that begins at `start` is full; it holds one letter at least, if there is one."""
    # Looked at piece by piece: a line may be as long as a message is allowed to be.
    piece = text[start : start + max(0, width)]
    if piece.isascii():
        return start + max(len(piece), min(1, len(text) - start))
    used = 0
    for index in range(start, len(text)):
        used += _columns(text[index])
        if used > width and index > start:
            return index
    return len(text)


def fold(parts: Iterable[Segment | str], look: Look, *, indent: str = "", hanging: str | None = None) -> Page:
    """Fold running text into lines of at most the look's width, between words; too long words are broken.

    `hanging` indents every line but the first; it is `indent` where it is not given.
    """
    after = indent if hanging is None else hanging
    lines: list[list[Segment]] = []
    current: list[Segment] = [Segment(indent)] if indent else []
    used = width_of(indent)
    empty = True
    for word in _words(parts):
        size = sum(width_of(piece.text) for piece in word)
        if not empty and used + 1 + size > look.width:
            lines.append(current)
            current, used, empty = ([Segment(after)] if after else []), width_of(after), True
        if not empty:
            current.append(Segment(" ", word[0].style if word[0].style == current[-1].style else "plain"))
            used += 1
        room = max(8, look.width - width_of(after))
        for piece in word if size <= room else _broken(word, room):
            if used + width_of(piece.text) > look.width and not empty:
                lines.append(current)
                current, used = ([Segment(after)] if after else []), width_of(after)
            current.append(piece)
            used += width_of(piece.text)
            empty = False
    lines.append(current)
    return tuple(tuple(_joined(one)) for one in lines)


def _words(parts: Iterable[Segment | str]) -> Iterator[list[Segment]]:
    """Split at spaces; a word may be of several segments where no space stands between them."""
    word: list[Segment] = []
    for part in parts:
        segment = part if isinstance(part, Segment) else say(part)
        for index, text in enumerate(segment.text.split(" ")):
            if index and word:
                yield word
                word = []
            if text:
                word.append(Segment(text, segment.style))
    if word:
        yield word


def _broken(word: list[Segment], room: int) -> Iterator[Segment]:
    for piece in word:
        for text in hard_fold(piece.text, room):
            yield Segment(text, piece.style)


def _joined(parts: list[Segment]) -> Iterator[Segment]:
    """Join neighbours of one style."""
    held: Segment | None = None
    for part in parts:
        if held is not None and held.style == part.style:
            held = Segment(held.text + part.text, held.style)
            continue
        if held is not None:
            yield held
        held = part
    if held is not None:
        yield held
