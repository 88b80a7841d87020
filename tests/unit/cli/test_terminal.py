"""Colour only where it is wanted; nothing that was written by others acts on a terminal."""

from __future__ import annotations

import io
import json
import re

import pytest

from oyer.cli.terminal import is_lively, look_of, print_json, print_page
from oyer.report import Segment, line, say

PAGE = (line(say("good", "good"), say(" plain")), line(Segment("raw \x1b[31m", "bad")))


class Screen(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def written(stream: io.StringIO) -> str:
    print_page(PAGE, stream)
    return stream.getvalue()


def test_a_terminal_gets_colour_and_the_same_words() -> None:
    text = written(Screen())
    assert "\x1b[" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == "good plain\nraw \\x1b[31m\n"


def test_a_pipe_gets_none() -> None:
    assert written(io.StringIO()) == "good plain\nraw \\x1b[31m\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_none_gets_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert "\x1b" not in written(Screen())


def test_a_dumb_terminal_is_not_lively(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_lively(Screen())
    monkeypatch.setenv("TERM", "dumb")
    assert not is_lively(Screen())
    assert not is_lively(io.StringIO())


def test_glyphs_only_where_the_encoding_has_them() -> None:
    class Old(Screen):
        encoding = "ascii"

    assert look_of(Screen()).unicode
    assert not look_of(Old()).unicode


def test_json_is_ascii_and_acts_on_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "\x1b]0;x\x07 \u202e \u2028 \x9b é"}
    print_json(value)
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out) == value
