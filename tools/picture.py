#!/usr/bin/env python3
"""The picture of the demonstration: what `oyer demo` prints, as an SVG that needs no font and no address.

Owns which lines of the output are shown (what is left out is marked by three dots) and how a terminal's colours are
drawn. Must never draw a line that was not printed.

    python tools/picture.py            run the demonstration, and write docs/assets/demo.svg anew
    python tools/picture.py --check    run it, and end with 1 if the picture shows something else

Source: ECMA-48 (select graphic rendition), SVG 1.1.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "assets" / "demo.svg"
COLUMNS = 100
PROMPT = "$ oyer demo"
DOTS = "  ..."
OYER = "import sys; from oyer.cli import main; sys.argv[0] = 'oyer'; sys.exit(main())"

GRAPHIC = re.compile(r"\x1b\[([0-9;]*)m")
ANY_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SUBJECT = re.compile(r"\S+ by scripted:\S+ *( trials? [0-9, ]+)?$")
CHECK = re.compile(r" +\d+  (ok|not applicable) ")
CHANGING = (
    (re.compile(r"sha256:[0-9a-f]{64}"), "sha256:*"),
    (re.compile(r"\b\d+ (files|seals|lines|pins|records|blobs|attempts)\b"), r"N \1"),
)
"""What differs from run to run, or with every new version, and what stands for it in a comparison."""

COLOURS = {"31": "#ff8a80", "32": "#8fd694", "33": "#f0c674", "36": "#7cc7d8"}
INK, FAINT, GROUND, FRAME = "#d8dee4", "#8a949e", "#15191e", "#2b323a"
WIDTH, HEIGHT, SIZE, MARGIN = 7.8, 18.0, 13, 16


class Piece(NamedTuple):
    """A stretch of one line in one style: SGR codes as a terminal is sent them."""

    text: str
    codes: frozenset[str]


Line = tuple[Piece, ...]


def record(place: Path) -> str:
    """Run the demonstration in an empty directory and on a terminal; return what it printed, colours and all."""
    inner, outer = pty.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    environment = {**kept, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    argv = [sys.executable, "-c", OYER, "demo", "--out", "demo"]
    with subprocess.Popen(
        argv, stdin=outer, stdout=outer, stderr=subprocess.DEVNULL, env=environment, cwd=place
    ) as child:
        os.close(outer)
        seen = b"".join(_until_closed(inner))
    os.close(inner)
    if child.returncode:
        raise SystemExit(f"the demonstration ended with {child.returncode}:\n{seen.decode('utf-8', 'replace')}")
    return seen.decode("utf-8").replace("\r\n", "\n")


def _until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says EIO where the other side has gone
            return
        if not data:
            return
        yield data


def read_lines(printed: str) -> list[Line]:
    """Split what was printed into lines of styled pieces."""
    return [_pieces(text) for text in printed.split("\n")]


def _pieces(text: str) -> Line:
    found: list[Piece] = []
    codes: frozenset[str] = frozenset()
    end = 0
    for match in GRAPHIC.finditer(text):
        found.append(Piece(ANY_ESCAPE.sub("", text[end : match.start()]), codes))
        given = frozenset(match[1].split(";")) - {"", "0"}
        codes = codes | given if given else frozenset()
        end = match.end()
    found.append(Piece(ANY_ESCAPE.sub("", text[end:]), codes))
    return tuple(piece for piece in found if piece.text)


def text_of(line: Line) -> str:
    """Return a line without its styles and without spaces at its end."""
    return "".join(piece.text for piece in line).rstrip()


def choose(lines: Sequence[Line]) -> list[Line]:
    """Keep each subject's answer and strip, the list of checks, and what is proven."""
    shown: list[Line] = [(Piece(PROMPT, frozenset()),), ()]
    at = 0
    while at < len(lines):
        text = text_of(lines[at])
        if SUBJECT.match(text):
            for _ in range(3):  # the name, the answer with its sentence, the strip
                block, at = _block(lines, at)
                shown += [*block, ()]
            shown[-1:] = [_dots(), ()]
        elif at + 1 < len(lines) and CHECK.match(text_of(lines[at + 1])) and not CHECK.match(text) and text[:1] > " ":
            shown.append(lines[at])  # the heading of the checks
            at += 1
        elif CHECK.match(text):
            shown.append(lines[at])
            at += 1
        elif text.startswith("  Proven: "):
            block, at = _block(lines, at)
            shown += [(), *block]
        else:
            at += 1
    return shown


def _block(lines: Sequence[Line], at: int) -> tuple[list[Line], int]:
    """Take the lines up to the next empty one, and the place after it."""
    block: list[Line] = []
    while at < len(lines) and text_of(lines[at]):
        block.append(lines[at])
        at += 1
    return block, at + 1


def _dots() -> Line:
    return (Piece(DOTS, frozenset({"2"})),)


def draw(lines: Sequence[Line]) -> str:
    """Draw lines as an SVG: one text element a line, each stretch held to its own columns."""
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    drawn = "\n".join(_drawn(line, MARGIN + (row + 0.72) * HEIGHT) for row, line in enumerate(lines) if text_of(line))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">
<title>What the demonstration prints</title>
<style>
text {{ font: {SIZE}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: {INK} }}
.b {{ font-weight: bold }}
.d {{ fill: {FAINT} }}
{" ".join(f".c{code} {{ fill: {colour} }}" for code, colour in COLOURS.items())}
</style>
<rect width="100%" height="100%" rx="8" fill="{GROUND}" stroke="{FRAME}"/>
{drawn}
</svg>
"""


def _drawn(line: Line, y: float) -> str:
    column, spans = 0, []
    for piece in line:
        kinds = [f"c{code}" for code in COLOURS if code in piece.codes]
        kinds += [name for code, name in (("1", "b"), ("2", "d")) if code in piece.codes]
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        place = f'x="{MARGIN + column * WIDTH:.1f}" textLength="{len(piece.text) * WIDTH:.1f}"'
        spans.append(f'<tspan {place} lengthAdjust="spacingAndGlyphs"{kind}>{escape(piece.text)}</tspan>')
        column += len(piece.text)
    return f'<text y="{y:.1f}" xml:space="preserve">{"".join(spans)}</text>'


def shown_text(svg: str) -> list[str]:
    """Return the lines of text that a picture shows, without spaces at their ends."""
    root = ET.fromstring(svg)  # noqa: S314 - a file of this repository
    return ["".join(text.itertext()).rstrip() for text in root.iter("{http://www.w3.org/2000/svg}text")]


def comparable(lines: Sequence[str]) -> list[str]:
    """Put a mark in the place of everything that changes from run to run; empty lines say nothing."""
    found = []
    for line in filter(None, lines):
        text = line
        for pattern, mark in CHANGING:
            text = pattern.sub(mark, text)
        found.append(text)
    return found


def main(arguments: list[str]) -> int:
    """Write the picture, or say whether it is current."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="oyer-picture-") as place:
        lines = choose(read_lines(record(Path(place))))
    if not chosen.check:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(draw(lines), encoding="utf-8")
        print(PICTURE.relative_to(ROOT))
        return 0
    same = comparable([text_of(line) for line in lines]) == comparable(shown_text(PICTURE.read_text(encoding="utf-8")))
    print("the picture is current" if same else "the picture is not current: run python tools/picture.py")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
