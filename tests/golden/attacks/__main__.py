"""`make attacks`: try every attack, print the table, and exit with 1 where anything differs from what is declared."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "golden")]

from attacks.catalogue import CANNOT_EXIST, CATALOGUE, empty_cells  # noqa: E402
from attacks.ground import Tried, grounds, try_attack  # noqa: E402
from attacks.kinds import KINDS, MECHANISMS  # noqa: E402


def main(arguments: Sequence[str]) -> int:
    """Try the attacks whose line holds every word that is given (all without any); return the exit code."""
    chosen = [a for a in CATALOGUE if all(word in f"{a.name} {a.mechanism} {a.kind}" for word in arguments)]
    with grounds() as made, TemporaryDirectory() as place:
        tried = [try_attack(attack, made, Path(place)) for attack in chosen]
    for line in (*_table(tried), *([] if arguments else _cells()), *_totals(tried)):
        sys.stdout.write(line + "\n")
    return 1 if any(not one.as_declared for one in tried) or empty_cells() or not tried else 0


def _table(tried: Iterable[Tried]) -> Iterable[str]:
    form = "{:<60} {:<10} {:<17} {:<18} {}"
    yield form.format("attack", "mechanism", "kind of file", "without a key", "with the keys (--key)")
    for one in tried:
        attack = one.attack
        told = form.format(
            attack.name, attack.mechanism, attack.kind, one.unsigned.told(attack.unsigned),
            one.signed.told(attack.signed) if one.signed else "-",
        )  # fmt: skip
        yield told if one.as_declared else f"{told}   DIFFERS: declared {attack.unsigned} / {attack.signed}"


def _cells() -> Iterable[str]:
    yield ""
    yield "cells that cannot exist"
    for (mechanism, kind), why in CANNOT_EXIST.items():
        yield f"  {mechanism:<10} {kind:<17} {why}"
    for mechanism, kind in empty_cells():
        yield f"  {mechanism:<10} {kind:<17} EMPTY, or attacked in spite of a reason"


def _totals(tried: Sequence[Tried]) -> Iterable[str]:
    beyond = [one for one in tried if one.attack.unsigned == "not caught"]
    missed = [one for one in tried if one.unsigned.exit_code == 0 and one not in beyond]
    unsigned = sum(one.unsigned.exit_code == 4 for one in tried)
    opened = sum(one.unsigned.exit_code == 5 for one in tried)
    signed = sum(one.signed is not None and one.signed.exit_code == 4 for one in tried)
    cells = len({(one.attack.mechanism, one.attack.kind) for one in tried})
    yield ""
    yield f"{len(tried)} attacks in {cells} of {len(MECHANISMS) * len(KINDS)} cells, {len(CANNOT_EXIST)} cannot exist"
    yield f"without a key: {unsigned} caught, {opened} left open (exit code 5), {len(missed)} missed,"
    yield f"               {len(beyond)} that only a signature can catch, as declared"
    yield f"with the keys: {signed} caught, {len(tried) - signed} missed"
    yield f"not as declared: {sum(not one.as_declared for one in tried)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
