"""`oyer verify`: a series checked from its stored bytes, nothing believed and nothing run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.report import Look, Page, Style
    from oyer.verify import Verification

__all__ = ["command", "verification_page", "verification_value"]

_STYLES: dict[str, Style] = {"ok": "good", "failed": "bad", "not_applicable": "dim", "not_run": "warn"}
_MOST_FINDINGS = 20


@click.command("verify", short_help=COMMANDS["verify"].about)
@click.argument("series", type=click.Path(path_type=Path))
@json_option
def command(series: Path, as_json: bool) -> int:
    """Check a SERIES directory from its stored bytes alone.

    Exit code 0: every check is ok or not applicable; 4: a check failed; 5: a check could not be run.
    """
    import sys

    from oyer.cli.places import open_series_reader
    from oyer.cli.terminal import look_of, print_json, print_page

    with open_series_reader(series) as reader:
        from oyer.verify import verify_series

        found = verify_series(reader)
    if as_json:
        print_json({**verification_value(found), "path": str(series)})
    else:
        print_page(verification_page(found, look_of(sys.stdout)))
    return found.exit_code


def verification_value(found: Verification) -> dict[str, Any]:
    """Return a verification as JSON."""
    return found.to_json()


def verification_page(found: Verification, look: Look) -> Page:
    """Lay out the numbered checks, each finding under its check, and last what is proven."""
    from oyer.report import cut, fold, line, say

    page: Page = ()
    for check in found.checks:
        told = check.status.replace("_", " ")
        page += (line(say(f"  {check.number:>2}  "), say(cut(told, 16), _STYLES[check.status]), say(check.name)),)
        if check.detail:
            page += fold([say(check.detail, "dim")], look, indent=" " * 22)
        for finding in check.findings[:_MOST_FINDINGS]:
            page += fold([say(str(finding), _STYLES[check.status])], look, indent=" " * 22, hanging=" " * 24)
        if len(check.findings) > _MOST_FINDINGS:
            more = f"and {len(check.findings) - _MOST_FINDINGS} more (all with --json)"
            page += (line(" " * 22, say(more, "dim")),)
        for note in check.notes[:_MOST_FINDINGS]:
            page += fold([say(note, "dim")], look, indent=" " * 22, hanging=" " * 24)
    return (*page, (), *fold([say(found.words)], look, indent="  "))
