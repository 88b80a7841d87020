"""`oyer library`: the packaged suites and cases, by the names under which `oyer run` takes them, and each explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.cli.explaining import ExplainedCase, ExplainedSuite
    from oyer.library import Packaged
    from oyer.report import Look, Page

__all__ = ["command"]

_RANKS = {"receipt": "receipts", "protocol": "protocol", "text": "text"}


@click.command("library", short_help=COMMANDS["library"].about)
@click.argument("name", required=False, metavar="[SUITE|CASE]")
@json_option
def command(name: str | None, as_json: bool) -> int:
    """List the suites of the project, where there is one, and the packaged suites and cases.

    `oyer run NAME` takes any of them. With a name: what the suite or case is about, what stands beside each trap as a
    control, and what witnesses how it was done.
    """
    return _listed(as_json) if name is None else _explained(name, as_json)


def _listed(as_json: bool) -> int:
    import sys

    from oyer.cli.project import find_project
    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.library import Packaged, packaged_cases, packaged_suites
    from oyer.report import line, say

    project = find_project()
    own = tuple(Packaged(*each) for each in project.listed()) if project is not None else ()
    suites, cases = packaged_suites(), packaged_cases()
    if as_json:
        listed = {
            kind: [_value(one) for one in found] for kind, found in (("own", own), ("suites", suites), ("cases", cases))
        }
        print_json({**listed, "exit_code": 0})
        return 0
    look = look_of(sys.stdout)
    page: Page = ()
    ours = () if project is None or not own else ((f"Suites of {project.path}", own),)
    # The cases of a family are told with it: the list would else be longer than anybody reads.
    shown = tuple(case for case in cases if not _in_family(case, suites))
    for heading, found in (*ours, ("Suites", suites), ("Cases", shown)):
        page += (line(say(heading, "dim")),)
        for one in found:
            page += _entry(one, look)
    page += (line(say("oyer library NAME", "strong"), " says what a suite or a case is about"),)
    print_page(page)
    return 0


def _in_family(case: Packaged, suites: tuple[Packaged, ...]) -> bool:
    return any("/" in suite.name and case.path.is_relative_to(suite.path.parent) for suite in suites)


def _counts(one: Packaged) -> tuple[int, int]:
    """Return how many traps and how many cases stand with a packaged suite."""
    from oyer.library import cases_with

    cases = cases_with(one)
    return sum(case.kind == "trap" for case in cases), len(cases)


def _value(one: Packaged) -> dict[str, Any]:
    told: dict[str, Any] = {"name": one.name, "title": one.title, "file": str(one.path)}
    if one.kind == "suite":
        told["traps"], told["cases"] = _counts(one)
    return told


def _entry(one: Packaged, look: Look) -> Page:
    from oyer.report import counted, fold, line, say

    deeper = "  " * one.name.count("/") if one.kind == "suite" else ""
    counts = ""
    if one.kind == "suite":
        traps, cases = _counts(one)
        counts = f"  {counted(traps, 'trap')} in {counted(cases, 'case')}"
    head = line(f"  {deeper}", say(one.name, "strong"), say(counts, "dim"))
    return (head, *fold([say(one.title)], look, indent=f"    {deeper}"))


def _explained(name: str, as_json: bool) -> int:
    import sys

    from oyer.cli.explaining import case_value, explain_case, explain_suite, suite_value
    from oyer.cli.naming import own_suites, packaged_file, suite_file
    from oyer.cli.project import find_project
    from oyer.cli.scopes import load_scoped, load_suite
    from oyer.cli.terminal import look_of, print_json, print_page

    project = find_project()
    look = look_of(sys.stdout)
    if suite_file(name, project) is not None:
        suite = explain_suite(load_suite(name, project=project))
        value: dict[str, Any] = {"suite": suite_value(suite)}
        page = _suite_page(suite, look, packaged=packaged_file(suite.name, "TrialSuite@1") == suite.file)
    else:
        chosen, scope = load_scoped([name], (), own_suites(project))
        cases = [explain_case(placed, scope) for placed in chosen]
        value = {"cases": [case_value(case) for case in cases]}
        page = tuple(line for case in cases for line in _case_page(case, look))
    if as_json:
        print_json({**value, "exit_code": 0})
    else:
        print_page(page)
    return 0


def _suite_page(told: ExplainedSuite, look: Look, *, packaged: bool) -> Page:
    from oyer.report import counted, fold, line, say

    traps = sum(case.kind == "trap" for case in told.cases)
    others = len(told.cases) - traps
    counts = [
        counted(traps, "trap"),
        *([counted(others, "other case")] if others else []),
        counted(told.controls, "control"),
    ]
    page: Page = (line(say(told.name, "strong"), say(f"  {', '.join(counts)}", "dim")),)
    page += fold([say(told.title)], look, indent="  ")
    for text in filter(None, told.about.split("\n")):
        page += fold([say(text)], look, indent="  ")
    for case in told.cases:
        page += ((), *_case_page(case, look))
    asked = [f"oyer run {told.name} --subject NAME"]
    if packaged:
        asked.append(f"oyer init DIR --from {told.name}")
    return (*page, (), *(line(say(text, "strong")) for text in asked))


def _case_page(told: ExplainedCase, look: Look) -> Page:
    from oyer.report import counted, fold, line, say

    page: Page = (line(say(told.name, "strong"), say(f"  {told.kind.replace('_', ' ')}", "dim")),)
    page += fold([say(told.title)], look, indent="  ")
    for text in filter(None, told.about.split("\n")):
        page += fold([say(text, "dim")], look, indent="  ")
    parts: list[tuple[str, str]] = [("must hold", text) for text in told.claims]
    if told.rounds:
        more = [
            counted(told.rounds, "round"),
            *(["a neutral arm"] if told.neutral else []),
            *(["asked at the end"] if told.asked else []),
        ]
        parts.append(("pressure", ", ".join(more)))
    parts += [
        (f"{control.side} control", ": ".join(filter(None, (control.name, control.title)))) for control in told.controls
    ]
    parts += [(f"witnessed by {_RANKS[rank]}", ", ".join(words)) for rank, words in told.witnesses.items()]
    for head, text in parts:
        page += fold([say(f"{head}: ", "dim"), say(text)], look, indent="  ", hanging="    ")
    return page
