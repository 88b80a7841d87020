"""`oyer diff`: two series of the same cases held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option

if TYPE_CHECKING:
    from oyer.cli.differing import DiffResult

__all__ = ["command"]


@click.command("diff", short_help=COMMANDS["diff"].about)
@click.argument("first", type=click.Path(path_type=Path), metavar="A")
@click.argument("second", type=click.Path(path_type=Path), metavar="B")
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="NAME[=NAME]",
    help="Which subject of A goes with which of B; those of one name, or the only ones, by default.",
)
@click.option("-k", "only", multiple=True, metavar="CASE", help="Only this case.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of what is drawn; that of B's plan by default.")
@click.option(
    "--draws", type=click.IntRange(1000, 1_000_000), default=10_000, show_default=True, help="How many draws."
)
@click.option("--pins", is_flag=True, help="Everything that was fixed otherwise, not only the first of it.")
@plugin_option
@json_option
def command(
    first: Path,
    second: Path,
    subjects: tuple[str, ...],
    only: tuple[str, ...],
    seed: int | None,
    draws: int,
    pins: bool,
    plugins: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Hold series B against series A: what was fixed otherwise, counts, and which differences are decided.

    A and B are directories or bundles. Both are verified first. Cases are the same by id, digest and world; what was
    judged by another rubric or evaluator is not compared. Exit code 0: no difference for the worse is decided; 1: one
    is; 5: something is not decided, because trials are lost or too few; 3: the comparison would mean nothing; 4: one of
    them does not verify.
    """
    from oyer.cli.differing import compared, read_verified
    from oyer.cli.terminal import print_json

    with read_verified(first, plugins) as one, read_verified(second, plugins) as other:
        result = compared(one, other, subjects, seed=seed, draws=draws, only=only)
        series = [each.reading.manifest.series for each in (one, other)]
    if as_json:
        from oyer.report import difference_value

        value = difference_value(result.found, result.pins)
        paths = {"a": str(first), "b": str(second), "series": series}
        print_json({**paths, **value, "exit_code": result.found.exit_code})
    else:
        _print(result, (f"{first} ({series[0]})", f"{second} ({series[1]})"), every=pins)
    return result.found.exit_code


def _print(result: DiffResult, names: tuple[str, str], *, every: bool) -> None:
    import sys

    from oyer.cli.terminal import look_of, print_page
    from oyer.report import render_difference

    print_page(render_difference(result.found, result.pins, names, look_of(sys.stdout), every=every))
