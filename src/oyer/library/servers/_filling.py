"""Marks in what is read: `@NAME@` comes out as what stands for NAME.

Must never fill in what it filled in: a value is data, and a mark in it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

__all__ = ["Fill", "filler"]

Fill = Callable[[str], str]
"""A text as it stands in the directory to the text as it is read."""


def filler(values: Mapping[str, str]) -> Fill:
    """Return what fills in the marks of a text; a mark that nothing stands for is text."""
    # Only the names that there are: the last sign of what is no mark may be the first of one, as in `a@B@TICKET@`.
    named = re.compile("|".join(f"@{re.escape(name)}@" for name in values) or r"(?!)")

    def fill(text: str) -> str:
        return named.sub(lambda mark: values[mark[0][1:-1]], text)

    return fill
