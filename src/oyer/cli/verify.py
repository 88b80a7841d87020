"""`oyer verify`: a series or a bundle checked from its stored bytes, nothing believed and nothing run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option

if TYPE_CHECKING:
    from oyer.report import Look, Page, Style
    from oyer.verify import Verification

__all__ = ["command", "verification_page", "verification_value", "verify_path"]

_STYLES: dict[str, Style] = {"ok": "good", "failed": "bad", "not_applicable": "dim", "not_run": "warn"}
_MOST_FINDINGS = 20


@click.command("verify", short_help=COMMANDS["verify"].about)
@click.argument("series", type=click.Path(path_type=Path), metavar="SERIES|BUNDLE")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The public key that must have signed it (of a SERIES: its plan).",
)
@click.option(
    "--plan-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The public key that must have signed the plan, where that is another one.",
)
@plugin_option
@json_option
def command(series: Path, key: Path | None, plan_key: Path | None, plugins: tuple[Path, ...], as_json: bool) -> int:
    """Check a SERIES directory or a BUNDLE from its stored bytes alone.

    Nothing is run but the plug-ins that you name: their judgements are then made again (check 9). Where a series was
    judged by several revisions of an evaluator, give every file.
    Exit code 0: every check is ok or not applicable; 4: a check failed; 5: a check could not be run.
    """  # fmt: skip
    import sys

    from oyer.cli.terminal import look_of, print_json, print_page

    found = verify_path(series, key, plan_key, plugins)
    if as_json:
        print_json({**verification_value(found), "path": str(series)})
    else:
        print_page(verification_page(found, look_of(sys.stdout)))
    return found.exit_code


def verify_path(
    path: Path, key: Path | None = None, plan_key: Path | None = None, plugins: Sequence[Path] = ()
) -> Verification:
    """Verify what lies at a path: a plain file is a bundle, a directory a series. Raises: UsageError."""
    from oyer.cli.places import open_bundle_reader, open_series_reader
    from oyer.cli.plugins import load_revisions
    from oyer.store import read_public_key
    from oyer.verify import Keys, verify_bundle, verify_series

    keys = Keys(*(None if file is None else read_public_key(file) for file in (key, plan_key)))
    judges = load_revisions(plugins)
    if path.exists() and not path.is_dir():
        with open_bundle_reader(path) as bundle:
            return verify_bundle(bundle, keys, judges)
    with open_series_reader(path) as reader:
        return verify_series(reader, keys, judges)


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
        said = check.findings[0].message if check.findings else ""
        if check.detail and not (check.status == "not_run" and said.startswith(check.detail)):
            page += fold([say(check.detail, "dim")], look, indent=" " * 22)
        for finding in check.findings[:_MOST_FINDINGS]:
            page += fold([say(str(finding), _STYLES[check.status])], look, indent=" " * 22, hanging=" " * 24)
        if len(check.findings) > _MOST_FINDINGS:
            more = f"and {len(check.findings) - _MOST_FINDINGS} more (all with --json)"
            page += (line(" " * 22, say(more, "dim")),)
        for note in check.notes[:_MOST_FINDINGS]:
            page += fold([say(note, "dim")], look, indent=" " * 22, hanging=" " * 24)
    return (*page, (), *fold([say(found.words)], look, indent="  "))
