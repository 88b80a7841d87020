"""`oyer doctor`: what this machine can do, and what it lacks, each with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.cli.machine import Finding
    from oyer.report import Look, Page

__all__ = ["command"]


@click.command("doctor", short_help=COMMANDS["doctor"].about)
@json_option
def command(as_json: bool) -> int:
    """Say what this machine can do. Exit code 1: something Oyer cannot run without is missing."""
    import sys

    from oyer.cli.machine import look_at_machine
    from oyer.cli.terminal import look_of, print_json, print_page

    findings = look_at_machine()
    code = 1 if any(found.needed and found.state == "missing" for found in findings) else 0
    if as_json:
        print_json({"findings": [found._asdict() for found in findings], "exit_code": code})
    else:
        print_page(_page(findings, look_of(sys.stdout)))
    return code


def _page(findings: tuple[Finding, ...], look: Look) -> Page:
    from oyer.report import Style, cut, fold, line, say

    styles: dict[str, Style] = {"ok": "good", "limited": "warn", "missing": "bad"}
    page: Page = ()
    group = ""
    for found in findings:
        if found.group != group:
            page += (*(((),) if group else ()), line(say(found.group, "strong")))
            group = found.group
        head = [say("  "), say(cut(found.state, 9), styles[found.state]), say(cut(found.name, 14))]
        lines = fold([say(found.told)], look._replace(width=look.width - 25))
        for index, text in enumerate(lines):
            page += (line(*(head if index == 0 else [" " * 25]), *text),)
        if found.hint:
            page += fold([say(found.hint, "dim")], look, indent=" " * 25)
    return page
