"""Where pages become output: styled on a terminal, plain everywhere else, JSON for programs.

Owns the choice (terminal, pipe, dumb terminal, `NO_COLOR`), which colour a style has, and the form of error lines.
Every text is neutralised once more here, whatever made the page.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from oyer.cli.streams import can_encode, without_hidden, write_out
from oyer.errors import Problem
from oyer.report import Look, Page, Segment, Style, fold, line, neutralise, page_text, say

__all__ = ["is_lively", "look_of", "print_error", "print_json", "print_note", "print_page", "print_text"]

_WIDEST = 100
_NARROWEST = 60
_GLYPHS = "●○✕◌·─→←◆"
_COLOURS: Mapping[Style, str] = {
    "plain": "",
    "strong": "bold",
    "dim": "dim",
    "accent": "cyan",
    "good": "bold green",
    "warn": "yellow",
    "bad": "bold red",
    "added": "green",
    "removed": "red",
}


def is_lively(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def look_of(stream: TextIO) -> Look:
    """Find out what a stream can show: at most 100 columns, glyphs only where its encoding has them."""
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns if stream.isatty() else _WIDEST
    return Look(max(_NARROWEST, min(_WIDEST, columns)), can_encode(stream, _GLYPHS))


def print_page(page: Page, stream: TextIO | None = None) -> None:
    """Print a page, in colour where the stream is a terminal that wants it."""
    target = sys.stdout if stream is None else stream
    sealed = tuple(tuple(Segment(neutralise(part.text), part.style) for part in one) for one in page)
    if not is_lively(target) or os.environ.get("NO_COLOR"):
        write_out(target, page_text(sealed))
        return
    write_out(target, _coloured(sealed))


def _coloured(page: Page) -> str:
    from rich.style import Style as Colour

    made = {style: Colour.parse(colour) for style, colour in _COLOURS.items()}
    lines = ("".join(made[part.style].render(part.text) for part in one) for one in page)
    return "".join(text + "\n" for text in lines)


def print_text(text: str) -> None:
    """Print one line of plain text on standard output."""
    write_out(sys.stdout, neutralise(text) + "\n")


def print_json(value: Any) -> None:
    """Print one JSON value on standard output. ASCII only: nothing in it can act on a terminal."""
    write_out(sys.stdout, json.dumps(without_hidden(value), indent=2, allow_nan=False) + "\n")


def print_note(text: str) -> None:
    """Print one line on standard error that is no error."""
    write_out(sys.stderr, f"note: {neutralise(text)}\n")


def print_error(problems: Sequence[Problem]) -> None:
    """Print every problem on standard error: what, where, and what to do."""
    look = look_of(sys.stderr)
    page: Page = ()
    for problem, after in zip(problems, (*problems[1:], None), strict=True):
        place = f"{problem.where}: " if problem.where else ""
        for index, text in enumerate(problem.message.split("\n")):
            told = [say("error: ", "bad"), say(place), say(text)] if index == 0 else [say(f"  {text}")]
            tail = [say(f" [{problem.code}]", "dim")] if index == 0 else []
            # A place must stay on one line, so that editors and terminals can follow it.
            page += (line(*told, *tail),)
        # One thing to do about several problems in a row is said once, after the last of them.
        if problem.hint and (after is None or after.hint != problem.hint):
            page += fold([say("hint: ", "accent"), say(problem.hint)], look, indent="  ", hanging="    ")
    if len(problems) > 1:
        page += (line(say(f"{len(problems)} problems", "strong")),)
    print_page(page, sys.stderr)
