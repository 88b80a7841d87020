"""`oyer library`: the packaged cases, by the names under which `oyer run` takes them."""

from __future__ import annotations

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]


@click.command("library", short_help=COMMANDS["library"].about)
@json_option
def command(as_json: bool) -> int:
    """List the packaged cases."""
    import sys

    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.library import packaged_cases
    from oyer.report import Page, fold, line, say

    cases = packaged_cases()
    if as_json:
        listed = [{"name": case.name, "title": case.title, "file": str(case.path)} for case in cases]
        print_json({"cases": listed, "exit_code": 0})
        return 0
    page: Page = ()
    for case in cases:
        page += (line(say(case.name, "strong")),)
        page += fold([say(case.title)], look_of(sys.stdout), indent="  ")
    print_page(page)
    return 0
