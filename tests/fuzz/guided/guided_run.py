"""Runs guided harnesses one after another and says what came of it: `python guided_run.py --seconds 20 [NAME ...]`.

Owns the limits (time for a harness, time and memory for one input), the place of what is found, and the table. Exit 1
on a finding; the input that showed it is in `build/fuzz/findings`. Exit 2 where there is no fuzzer.
What a harness learns stays in `build/fuzz/corpus`, so that the next run goes on from there; the corpus that is checked
in is only read.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from guided import CORPUS, HARNESSES  # noqa: E402

MAX_INPUT_BYTES = 16_384
INPUT_TIMEOUT_S = 10
RSS_LIMIT_MB = 1_500
START_S = 90
"""What a process may take on top of its time for fuzzing: to start, and to read the corpus."""

_KINDS = {70: "an input took too long", 71: "an input took too much memory", 77: "something escaped"}
_SHOWN = re.compile(
    r"=== Uncaught Python exception: ===\n(?P<what>[^\n]*(?:\n(?!Traceback)[^\n]*){0,3})|ERROR: libFuzzer: (?P<why>.*)"
)


class Limits(NamedTuple):
    """How long a harness is fuzzed, and what one input may take."""

    seconds: int
    input_timeout_s: int = INPUT_TIMEOUT_S
    rss_limit_mb: int = RSS_LIMIT_MB


class Ran(NamedTuple):
    """What came of one harness. `finding` is empty where nothing was found."""

    name: str
    executions: int
    edges: int
    corpus: int
    finding: str
    inputs: tuple[Path, ...]
    log: Path


def run(python: Path, name: str, limits: Limits, place: Path) -> Ran:
    """Fuzz one harness within its limits; the process is ended if it does not end itself."""
    learned, findings = place / "corpus" / name, place / "findings"
    for folder in (learned, findings):
        folder.mkdir(parents=True, exist_ok=True)
    before, log = set(findings.iterdir()), place / f"{name}.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            _command(python, name, limits, learned, findings),
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=_env(),
        )
        try:
            code = child.wait(limits.seconds + limits.input_timeout_s + START_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            code = -1
    told = log.read_text(encoding="utf-8", errors="replace")
    saved = tuple(sorted(set(findings.iterdir()) - before))
    return Ran(name, *_figures(told), _finding(code, told), saved, log)


def _command(python: Path, name: str, limits: Limits, learned: Path, findings: Path) -> list[str]:
    seeds = CORPUS / name
    return [
        *[str(python), str(HERE / "guided_child.py"), name],
        *[f"-max_total_time={limits.seconds}", f"-timeout={limits.input_timeout_s}"],
        *[f"-rss_limit_mb={limits.rss_limit_mb}", f"-max_len={MAX_INPUT_BYTES}", "-print_final_stats=1"],
        *[f"-artifact_prefix={findings}/{name}.", f"-dict={_dictionary(name, learned.parent)}"],
        *[str(learned), *([str(seeds)] if seeds.is_dir() else [])],
    ]


def _dictionary(name: str, folder: Path) -> Path:
    """Write the words between quotes of a harness's corpus as a dictionary."""
    words: set[bytes] = {b'"', b"{}", b"[]", b"null", b"true", b"1e999", b"\\ud800", b"-0"}
    seeds = CORPUS / name
    for path in sorted(seeds.iterdir()) if seeds.is_dir() else []:
        words |= set(re.findall(rb'"[A-Za-z_.@/:]{1,24}"', path.read_bytes()))
    lines = [b'"' + b"".join(b"\\x%02x" % byte for byte in word) + b'"\n' for word in sorted(words)]
    target = folder / f"{name}.dict"
    target.write_bytes(b"".join(lines))
    return target


def _env() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def _figures(told: str) -> tuple[int, int, int]:
    """Return executions, edges covered and size of the corpus, from the last lines that state them."""
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", told) or re.findall(
        r"^#(\d+)\s", told, re.MULTILINE
    )
    covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", told)
    return int(executed[-1]) if executed else 0, *(map(int, covered[-1]) if covered else (0, 0))


def _finding(code: int, told: str) -> str:
    if code == 0 and re.search(r"^#\d+\s+DONE", told, re.MULTILINE):
        return ""
    shown = _SHOWN.search(told)
    detail = (shown["what"] or shown["why"]).strip() if shown else told.strip()[-300:]
    kind = "the process did not end" if code == -1 else _KINDS.get(code, f"the process ended with {code}")
    return f"{kind}: {detail}"


def report(ran: Ran) -> None:
    """Print one line, and what was found below it."""
    print(
        f"{ran.name:20} {ran.executions:>10,} executions {ran.edges:>6,} edges {ran.corpus:>6,} inputs kept  "
        f"{'FOUND' if ran.finding else 'nothing found'}",
        flush=True,
    )
    if ran.finding:
        print("    " + ran.finding.replace("\n", "\n    "))
        for path in ran.inputs or (ran.log,):
            print(f"    {path}")


def main(arguments: Sequence[str]) -> int:
    """Fuzz the named harnesses, or all of them; 1 if something was found, 2 if there is no fuzzer."""
    parser = argparse.ArgumentParser(description="run guided fuzz harnesses")
    parser.add_argument("--python", type=Path, required=True, help="a Python that has atheris")
    parser.add_argument("--seconds", type=int, default=20, help="for each harness")
    parser.add_argument("--place", type=Path, default=ROOT / "build" / "fuzz", help="where logs and findings go")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(HARNESSES))
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(HARNESSES))
    if unknown or not given.python.exists() or given.seconds < 1:
        what = f"no harness {', '.join(unknown)}" if unknown else f"no {given.python}, or no time"
        print(f"{what}; harnesses: {', '.join(HARNESSES)}", file=sys.stderr)
        return 2
    found = 0
    for name in given.names or HARNESSES:
        ran = run(given.python, name, Limits(given.seconds), given.place)
        report(ran)
        found += bool(ran.finding)
    print(f"guided fuzzing: {len(given.names or HARNESSES)} harnesses, {found} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
