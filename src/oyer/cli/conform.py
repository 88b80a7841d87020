"""`oyer conform`: a file of scoring vectors, held against the scorer that every run uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from fractions import Fraction

    from oyer.conform import Agreement
    from oyer.report import Look, Page

__all__ = ["agreement_page", "agreement_value", "command"]

_LARGEST_BYTES = 64 * 1024 * 1024


@click.command("conform", short_help=COMMANDS["conform"].about)
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def command(file: Path, as_json: bool) -> int:
    """Score every vector of a FILE and say where the scorer disagrees with it.

    Real journals are made from each vector, sealed, and read again. Nothing is started and nothing is written. Exit
    code 0: all agree; 1: at least one does not; 3: the file is malformed. The vectors that Oyer's own scorer is held to
    are in `tests/conform/own-vectors.yaml` of the repository.
    """
    import sys

    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.conform import agree, parse_vectors

    found = agree(parse_vectors(_read(file), name=str(file)))
    code = 1 if found.disagreeing else 0
    if as_json:
        print_json({"file": str(file), **agreement_value(found), "exit_code": code})
    else:
        print_page(agreement_page(found, look_of(sys.stdout)))
    return code


def _read(file: Path) -> bytes:
    from oyer.errors import RecordError, UsageError

    try:
        if file.stat().st_size > _LARGEST_BYTES:
            told = f"a vector file has at most {_LARGEST_BYTES} bytes"
            raise RecordError("E-VECTOR-FILE", told, where=str(file))
        return file.read_bytes()
    except OSError as error:
        raise UsageError("E-PATH", f"{error.strerror or error}", where=str(file)) from None


def agreement_value(found: Agreement) -> dict[str, Any]:
    """Return an agreement as JSON."""
    return {
        "vectors": len(found.judged),
        "agree": len(found.judged) - len(found.disagreeing),
        "disagreements": [
            {
                "id": one.vector.id,
                "why": one.vector.why,
                "said": {**one.said._asdict()},
                "disagreements": [item._asdict() for item in one.disagreements],
            }
            for one in found.disagreeing
        ],
        "outcomes": {outcome: tally._asdict() for outcome, tally in found.tallies.items()},
        "balanced_accuracy": _figure(found.balanced_accuracy),
        "balanced_outcomes": _figure(found.balanced_outcomes),
    }


def _figure(share: Fraction) -> dict[str, str]:
    return {"fraction": str(share), "decimal": f"{float(share):.6f}"}


def agreement_page(found: Agreement, look: Look) -> Page:
    """Lay out every disagreement, then the counts by outcome and the two figures."""
    from oyer.report import cut, fold, line, say

    page: Page = ()
    for one in found.disagreeing:
        page += (line(say(one.vector.id, "bad")),)
        for item in one.disagreements:
            told = f"{item.what}: expected {item.expected}; the scorer says {item.said}"
            page += fold([say(told)], look, indent="  ", hanging="    ")
        page += fold([say(one.vector.why, "dim")], look, indent="  ")
    if page:
        page += ((),)
    for outcome, tally in found.tallies.items():
        counts = f"{tally.vectors:>5} expected {tally.outcome_right:>5} scored so {tally.agree:>5} agree in everything"
        page += (line("  ", say(cut(outcome, 14)), say(counts)),)
    figure, outcomes = found.balanced_accuracy, found.balanced_outcomes
    total, differ = len(found.judged), len(found.disagreeing)
    last = f"{total - differ} of {total} vectors agree"
    page += (line("  ", say(last, "bad" if differ else "good")),)
    told = f"balanced accuracy {figure} = {float(figure):.6f} (of outcomes alone {outcomes} = {float(outcomes):.6f})"
    return (*page, line("  ", say(told)))
