"""`oyer library`: the packaged suites and cases, by the names under which `oyer run` takes them."""

from __future__ import annotations

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]


@click.command("library", short_help=COMMANDS["library"].about)
@json_option
def command(as_json: bool) -> int:
    """List the suites of the project, where there is one, and the packaged suites and cases.

    `oyer run NAME` takes any of them.
    """
    import sys

    from oyer.cli.project import find_project
    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.library import Packaged, packaged_cases, packaged_suites
    from oyer.report import Page, fold, line, say

    project = find_project()
    own = tuple(Packaged(*each) for each in project.listed()) if project is not None else ()
    suites, cases = packaged_suites(), packaged_cases()
    if as_json:
        listed = {
            kind: [{"name": one.name, "title": one.title, "file": str(one.path)} for one in found]
            for kind, found in (("own", own), ("suites", suites), ("cases", cases))
        }
        print_json({**listed, "exit_code": 0})
        return 0
    page: Page = ()
    ours = () if project is None or not own else ((f"Suites of {project.path}", own),)
    for heading, found in (*ours, ("Suites", suites), ("Cases", cases)):
        page += (line(say(heading, "dim")),)
        for one in found:
            page += (line("  ", say(one.name, "strong")),)
            page += fold([say(one.title)], look_of(sys.stdout), indent="    ")
    print_page(page)
    return 0
