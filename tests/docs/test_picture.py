"""The picture in the README shows what the demonstration prints, and needs nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import picture


@pytest.mark.timeout(300)
def test_the_picture_shows_what_the_demonstration_prints(tmp_path: Path) -> None:
    printed = picture.choose(picture.read_lines(picture.record(tmp_path)))
    drawn = picture.shown_text(picture.PICTURE.read_text(encoding="utf-8"))
    assert picture.comparable(drawn) == picture.comparable([picture.text_of(line) for line in printed]), (
        "the picture is not current: run python tools/picture.py"
    )
    assert [text for text in drawn if re.fullmatch(r"  (CONFIRMED|NOT_OBSERVED|INCONCLUSIVE)", text)] == [
        "  CONFIRMED",
        "  NOT_OBSERVED",
        "  INCONCLUSIVE",
    ]


def test_the_picture_needs_no_font_script_or_address() -> None:
    svg = picture.PICTURE.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    for word in ("http:", "https:", "@font-face", "@import", "url(", "<script", "href", "<foreignObject"):
        assert word not in svg


def test_styles_are_drawn_and_leave_the_text_alone() -> None:
    lines = picture.read_lines("\x1b[1;32mgood\x1b[0m & <plain>\nnext\n")
    assert picture.text_of(lines[0]) == "good & <plain>"
    drawn = picture.draw(lines[:2])
    assert picture.shown_text(drawn) == ["good & <plain>", "next"]
    assert 'class="c32 b">good<' in drawn


def test_what_changes_from_run_to_run_is_not_compared_and_all_else_is() -> None:
    one = ["", f"sealed sha256:{'a' * 64}", "31 files"]
    assert picture.comparable(one) == picture.comparable([f"sealed sha256:{'b' * 64}", "32 files"])
    assert picture.comparable(["  CONFIRMED"]) != picture.comparable(["  INCONCLUSIVE"])
