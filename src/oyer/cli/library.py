"""`oyer library`: the packaged suites and cases, by the names under which `oyer run` takes them."""

from __future__ import annotations

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]


@click.command("library", short_help=COMMANDS["library"].about)
@json_option
def command(as_json: bool) -> int:
    """List the packaged suites and cases. `oyer run NAME` takes either."""
    import sys

    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.library import packaged_cases, packaged_suites
    from oyer.report import Page, fold, line, say

    suites, cases = packaged_suites(), packaged_cases()
    if as_json:
        listed = {
            kind: [{"name": one.name, "title": one.title, "file": str(one.path)} for one in found]
            for kind, found in (("suites", suites), ("cases", cases))
        }
        print_json({**listed, "exit_code": 0})
        return 0
    page: Page = ()
    for heading, found in (("Suites", suites), ("Cases", cases)):
        page += (line(say(heading, "dim")),)
        for one in found:
            page += (line("  ", say(one.name, "strong")),)
            page += fold([say(one.title)], look_of(sys.stdout), indent="    ")
    print_page(page)
    return 0
