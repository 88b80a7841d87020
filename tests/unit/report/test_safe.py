"""Nothing that stands in evidence can act on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oyer.report import neutralise, printable_lines

ATTACKS = {
    "colour": ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
    "title": ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
    "link": ("\x1b]8;;http://evil.test\x1b\\click\x1b]8;;\x1b\\", None),
    "clipboard": ("\x1b]52;c;aGk=\x07", None),
    "c1 csi": ("\x9b31m", r"\x9b31m"),
    "c1 osc": ("\x9d0;x\x9c", r"\x9d0;x\x9c"),
    "carriage return": ("right\rwrong", r"right\x0dwrong"),
    "backspace": ("a\x08b", r"a\x08b"),
    "bidi override": ("user\u202etxt.exe", r"user\u202etxt.exe"),
    "bidi isolate": ("\u2066x\u2069", r"\u2066x\u2069"),
    "line separator": ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
    "zero width": ("pass\u200bword", r"pass\u200bword"),
    "tags": ("x\U000e0041", r"x\U000e0041"),
    "variation selectors": ("x\U000e0100\ufe01", r"x\U000e0100\ufe01"),
    "surrogate": ("\ud800", r"\ud800"),
    "no character": ("\ufffe", r"\ufffe"),
    "filler": ("a\u3164b", r"a\u3164b"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_made_visible(name: str) -> None:
    raw, shown = ATTACKS[name]
    made = neutralise(raw)
    assert "\x1b" not in made
    assert shown is None or made == shown


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in ("plain", "Grüße, 東京, e\u0301, \U0001f600", "[bold]no markup[/bold]", "C:\\path\\x1b"):
        assert neutralise(text) == text


def test_marks_cannot_climb_over_other_lines() -> None:
    made = neutralise("e" + "\u0301" * 20)
    assert made.count("\u0301") == 4
    assert made.count("\\u0301") == 16


@given(st.text(st.characters()))
def test_every_text_becomes_one_visible_line(text: str) -> None:
    made = neutralise(text)
    refused = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert not {unicodedata.category(letter) for letter in made} & refused
    assert neutralise(made) == made


@given(st.text(st.characters()))
def test_lines_break_at_the_line_feed_only(text: str) -> None:
    assert len(printable_lines(text)) == text.count("\n") + 1
