"""Progress is one changing line on a terminal and rare plain lines elsewhere."""

from __future__ import annotations

import io

import pytest

from oyer.cli.progress import ProgressLine
from oyer.engine import Progress


class Screen(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def progress(done: int, elapsed_s: float, current: str = "t00001.x") -> Progress:
    return Progress(done, 60, {"completed": done}, current, elapsed_s)


def test_a_terminal_has_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    with ProgressLine(screen) as show:
        show(progress(1, 1.0))
        show(progress(2, 2.0, "x" * 500 + "\x1b[2J\n"))
    text = screen.getvalue()
    assert "\n" not in text
    assert "\x1b[2J" not in text
    assert text.endswith("\r\x1b[K")
    assert all(len(one) <= 100 for one in text.split("\r\x1b[K"))
    assert "2/60" in text


def test_elsewhere_a_line_comes_every_ten_seconds() -> None:
    pipe = io.StringIO()
    with ProgressLine(pipe) as show:
        for second in range(35):
            show(progress(second, float(second)))
    lines = pipe.getvalue().splitlines()
    assert len(lines) == 3
    assert "completed 10" in lines[0]
    assert "about 50 s left" in lines[0]
    assert "\x1b" not in pipe.getvalue()
