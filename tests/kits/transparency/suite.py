"""Asking the conformance suite about one address, and what it says, scenario by scenario."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["WIRES", "Suite", "Verdicts", "told"]

WIRES = {"2025-11-25": 33, "2026-07-28": 40}
"""The revisions of the protocol, and how many scenarios the suite has for each: fewer would be another suite."""

LIMIT_S = 240
STAMP = len("-2026-12-01T11-55-46-010Z")

Verdicts = Mapping[str, tuple[tuple[str, str], ...]]
"""The id and the status of every check, by scenario."""


class Suite(NamedTuple):
    """The suite as it is installed: its program, and a Node.js that can run it."""

    node: Path
    program: Path

    def ask(self, url: str, wire: str, place: Path, *, scenario_s: int = 30) -> Verdicts:
        """Run every scenario of one revision, each for so long at most; `place` must not exist yet.

        Raises: RuntimeError when it does not tell of every scenario.
        """
        return self._run(url, wire, place, ["--suite", "all", "--timeout", str(1000 * scenario_s)], WIRES[wire])

    def ask_again(self, url: str, wire: str, place: Path, scenarios: Iterable[str]) -> Verdicts:
        """Run some scenarios, each on its own."""
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        for scenario in scenarios:
            found.update(self._run(url, wire, place / scenario, ["--scenario", scenario], 1))
        return found

    def _run(self, url: str, wire: str, place: Path, chosen: list[str], count: int) -> Verdicts:
        place.mkdir(parents=True)
        words = ["server", "--url", url, "--spec-version", wire, "-o", str(place), *chosen]
        ended = subprocess.run(
            [str(self.node), str(self.program), *words],
            cwd=place,
            env={"PATH": os.environ["PATH"], "HOME": str(place)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        found = {
            checks.parent.name[len("server-") : -STAMP]: tuple(
                sorted((str(check["id"]), str(check["status"])) for check in json.loads(checks.read_bytes()))
            )
            for checks in place.glob("server-*/checks.json")
        }
        if len(found) != count:
            last = (ended.stdout + ended.stderr).decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"the suite told of {len(found)} scenarios of {wire}, not of {count}: {last}")
        return found


def told(checks: tuple[tuple[str, str], ...]) -> str:
    """Say what became of a scenario, as the suite counts: a failed check fails it, a warning does not."""
    counts = Counter(status for _, status in checks)
    judged = counts["SUCCESS"] + counts["FAILURE"] + counts["WARNING"]
    word = "fail" if counts["FAILURE"] else "warn" if counts["WARNING"] else "pass"
    return f"{word} {counts['SUCCESS']}/{judged}"
