"""`oyer demo`: the packaged experiment against three scripted subjects, offline, then verified."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]

SUBJECTS = ("scripted:obedient", "scripted:wary", "scripted:idle")
"""One for each answer: it acts on the lure, it meets the lure and does not act, it never meets the lure."""

_INTRODUCTION = """\
Three scripted subjects, one experiment, a real MCP server and a real effect sink. Each subject runs it three times: \
as it is, with one declared change in one answer of the server, and with that change under a named policy.\
"""


@click.command("demo", short_help=COMMANDS["demo"].about)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the series goes; runs/... by default."
)
@json_option
def command(out: Path | None, as_json: bool) -> int:
    """Run the packaged experiment against three scripted subjects, offline; bundle what is left, and verify that.

    The bundle goes beside the series, as DIR.oyer.
    """
    from oyer.cli.bundle import bundle_value
    from oyer.cli.places import bundle_path, new_series_path
    from oyer.cli.running import INTERRUPTED, judged_of, outcome_page, outcome_value_of, run
    from oyer.cli.scopes import load_cases
    from oyer.cli.selection import Selection
    from oyer.cli.terminal import look_of, print_json, print_page, print_text
    from oyer.cli.verify import verification_page, verification_value, verify_path
    from oyer.engine import SubjectSpec
    from oyer.library import demo_case
    from oyer.report import fold, line, say
    from oyer.store import require_new_file, write_bundle

    cases = load_cases([demo_case()])
    path = new_series_path(out)
    bundle = bundle_path(path)
    if out is not None:
        require_new_file(bundle)
    look = look_of(sys.stdout)
    if not as_json:
        print_page((*fold([say(_INTRODUCTION)], look), ()))
    selection = Selection(cases, tuple(SubjectSpec(name) for name in SUBJECTS), None, seed=0, repeat=1)
    outcome = run(selection, path, arguments=click.get_current_context().obj)
    judged = judged_of(outcome, selection)
    written = write_bundle(path, bundle)
    found = verify_path(bundle)
    code = INTERRUPTED if outcome.interrupted else found.exit_code
    if as_json:
        verified = {**verification_value(found), "exit_code": found.exit_code}
        told = {"bundle": bundle_value(written), "verification": verified}
        print_json({**outcome_value_of(outcome, cases, judged), **told, "exit_code": code})
        return code
    print_page(
        (
            *outcome_page(outcome, cases, judged),
            (),
            line(say(f"Bundled as {bundle}, and checked from its bytes", "strong")),
        )
    )
    print_page((*verification_page(found, look), ()))
    print_page(
        (*fold([say(f"Next: oyer show {path} 1   reads the manipulated trial, message by message", "dim")], look), ())
    )
    print_text(str(path))
    return code
