"""`make transparency`: ask the conformance suite directly, through the tap, and with something spoilt; print the page.

Exits with 1 where a cell is not what it must be, or the page in `docs/` is not what came out (`--write` writes it).
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tests" / "kits")]

from conftest import TOOLS, Missing  # noqa: E402
from transparency.forwarder import ABLATIONS, CLEAN, Ablation  # noqa: E402
from transparency.measure import Compared, Spoilt, compare, spoil  # noqa: E402
from transparency.page import DECLARED, FIXTURES, NPM, Measured, complaints, page  # noqa: E402
from transparency.servers import everything_server, fixture_server  # noqa: E402
from transparency.suite import WIRES, Suite, Verdicts  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "transparency.md"


def say(text: str) -> None:
    """Show that something goes on."""
    sys.stderr.write(text + "\n")


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0 as it must be, 1 not, 2 where something to run is missing."""
    parser = argparse.ArgumentParser(prog="make transparency", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page anew")
    options = parser.parse_args(arguments)
    try:
        suite, everything = Suite(TOOLS["node24"](), TOOLS["conformance"]()), TOOLS["npm-everything"]()
    except Missing as missing:
        say(str(missing))
        return 2
    began = time.monotonic()
    with TemporaryDirectory() as place:
        measured = asyncio.run(measure(suite, everything, Path(place)))
    text = page(measured)
    sys.stdout.write(text)
    wrong = list(complaints(measured))
    if options.write and not wrong:
        PAGE.write_text(text, encoding="utf-8")
    elif (published := PAGE.read_text(encoding="utf-8") if PAGE.exists() else "") != text:
        wrong += difflib.unified_diff(
            published.split("\n"), text.split("\n"), "published", "came out", lineterm="", n=0
        )
        wrong.append(f"{PAGE.relative_to(ROOT)} is not what came out; once it must be, add --write")
    for complaint in wrong:
        say(complaint)
    say(f"{'not as it must be' if wrong else 'as it must be'}, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


async def measure(suite: Suite, everything: Path, place: Path) -> Measured:
    """Run all of it: first what is compared, with nothing beside it; then the ablations."""
    compared: dict[tuple[str, str], Compared] = {}
    for name, serving in ((FIXTURES, fixture_server()), (NPM, everything_server(suite.node, everything))):
        with serving as url:
            for wire in WIRES:
                say(f"{name}, {wire}")
                declared = {scenario for server, at, scenario in DECLARED if (server, at) == (name, wire)}
                compared[name, wire] = await compare(suite, url, wire, place / name / wire, say, declared)
    direct = {wire: compared[FIXTURES, wire].direct for wire in WIRES}
    # What buffers makes the suite wait for most of its time, so that it has a lane of its own.
    others = [CLEAN, *(one for one in ABLATIONS if not one.buffer)]
    shared = others[::2], others[1::2], [one for one in ABLATIONS if one.buffer]
    lanes = await asyncio.gather(*(_spoil(suite, lane, direct, place) for lane in shared))
    spoilt = {ablation.name: found for lane in lanes for ablation, found in lane}
    return Measured(compared, [(one, spoilt[one.name]) for one in (CLEAN, *ABLATIONS)])


async def _spoil(
    suite: Suite, ablations: Sequence[Ablation], direct: dict[str, Verdicts], place: Path
) -> list[tuple[Ablation, Spoilt]]:
    found = []
    with fixture_server() as url:
        for one in ablations:
            say(f"spoilt: {one.name}")
            found.append((one, await spoil(suite, url, one, direct, place / one.name, say)))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
