"""`oyer pin`: fix a suite's side before it runs, and say in words what differs between two such locks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.secret_options import secret_option

if TYPE_CHECKING:
    from oyer.records import SuiteLock

__all__ = ["command"]


@click.command("pin", short_help=COMMANDS["pin"].about)
@click.argument("suite", required=False)
@click.option(
    "--diff", "diff", nargs=2, type=click.Path(path_type=Path), metavar="OLD NEW", help="Say what differs in words."
)
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where the lock goes.")
@secret_option
@json_option
def command(
    suite: str | None, diff: tuple[Path, Path] | None, out: Path | None, secrets: tuple[str, ...], as_json: bool
) -> int:
    """Write down what a SUITE is made of, in SUITE.lock.json beside it.

    Every server is started once; its answers to discovery and its tool, prompt and resource schemas are hashed as they
    were sent, and so is every file. `oyer run` then refuses to start where any of it moved (exit 3). With --diff
    nothing is started: two locks are read, and what differs is named, down to the word.
    """
    if diff is not None and (suite is not None or out is not None):
        raise click.UsageError("--diff takes two locks and nothing else.")
    if diff is not None:
        return _diff(*diff, as_json=as_json)
    if suite is None:
        raise click.UsageError("Missing argument 'SUITE'.")
    return _pin(suite, out, secrets, as_json=as_json)


def _pin(name: str, out: Path | None, secrets: Sequence[str], *, as_json: bool) -> int:
    from oyer.cli.locks import lock_now, lock_path, read_lock, write_lock
    from oyer.cli.project import find_project
    from oyer.cli.scopes import load_suite
    from oyer.cli.secret_options import read_secrets
    from oyer.cli.terminal import print_json, print_page, print_text
    from oyer.records import digest
    from oyer.report import counted, line, lock_differences, say

    placed = load_suite(name, project=find_project())
    path = out or lock_path(placed)
    before = read_lock(path) if path.is_file() else None
    lock = lock_now(placed, read_secrets(secrets))
    write_lock(lock, path)
    problems = _problems(lock)
    moved = () if before is None else lock_differences(before, lock)
    if as_json:
        told = {"path": str(path), "digest": digest(lock), "cases": len(lock.cases), "problems": problems}
        print_json({**told, "differences": [one._asdict() for one in moved], "exit_code": 0})
        return 0
    servers = sum(len(case.servers) for case in lock.cases.values())
    sizes = ((len(lock.cases), "case"), (servers, "server"), (len(lock.rubrics), "rubric"))
    print_page((line(say(", ".join(counted(n, what) for n, what in sizes), "strong"),
                     say(f"  {digest(lock)}", "dim")),))  # fmt: skip
    for problem in problems:
        print_page((line("  ", say(problem, "warn")),))
    for one in moved:
        print_page((line("  ", say(one.sentence)),))
    print_text(str(path))
    return 0


def _problems(lock: SuiteLock) -> list[str]:
    return [
        f"case {name}: server {server}: {found.problem}"
        for name, case in lock.cases.items()
        for server, found in case.servers.items()
        if found.problem is not None
    ]


def _diff(old: Path, new: Path, *, as_json: bool) -> int:
    from oyer.cli.locks import read_lock
    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.report import Page, counted, fold, line, lock_differences, say

    found = lock_differences(read_lock(old), read_lock(new))
    if as_json:
        print_json({"differences": [one._asdict() for one in found], "exit_code": 0})
        return 0
    page: Page = (line(say("nothing differs" if not found else counted(len(found), "difference"), "strong")),)
    for one in found:
        page += fold([say(one.sentence)], look_of(sys.stdout), indent="  ", hanging="    ")
    print_page(page)
    return 0
