"""`oyer judge`: more evaluators on a finished series, beside the judgements that are there."""

from __future__ import annotations

from pathlib import Path

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option

__all__ = ["command"]


@click.command("judge", short_help=COMMANDS["judge"].about)
@click.argument("series", type=click.Path(path_type=Path), metavar="SERIES")
@plugin_option
@click.option("--evaluator", "only", multiple=True, metavar="ID", help="Only this evaluator of the plug-ins.")
@json_option
def command(series: Path, plugins: tuple[Path, ...], only: tuple[str, ...], as_json: bool) -> int:
    """Judge every trial of a SERIES with the evaluators of plug-ins, from its sealed evidence.

    What they find is kept under a seal of its own. No evidence, no outcome and no judgement that exists is touched: an
    outcome rests on the evaluators that its plan names, as they judged when it ran. Exit code 5 where one could not
    judge a trial.
    """
    from oyer.cli.plugins import load_judges, plugin_paths
    from oyer.cli.project import find_project
    from oyer.cli.terminal import print_json, print_text
    from oyer.engine import judge_series
    from oyer.errors import UsageError

    judges = dict(load_judges(plugin_paths(plugins, find_project()), {}))
    unknown = [name for name in only if name not in judges]
    if unknown or not judges:
        told = f"no plug-in declares {', '.join(unknown)}" if unknown else "no evaluator is named"
        hint = f"there is {', '.join(judges)}" if judges else "name its file with --plugin FILE.py"
        raise UsageError("E-JUDGE-NONE", told, hint=hint)
    found = judge_series(series, {name: judge for name, judge in judges.items() if not only or name in only})
    failed = [one for one in found.made if one.error is not None]
    code = 5 if failed else 0
    if as_json:
        errors = [{"trial": one.trial, "evaluator": one.evaluator, "error": one.error} for one in failed]
        made = [{"trial": one.trial, "evaluator": one.evaluator, "rubric": one.rubric} for one in found.made]
        value = {"path": str(series), "made": made, "before": dict(found.before), "errors": errors, "exit_code": code}
        print_json(value)
        return code
    print_text(f"{len(found.made)} judgements added, {sum(found.before.values())} were there")
    for one in failed:
        print_text(f"  {one.trial} {one.evaluator}: {one.error}")
    return code
