"""`oyer judge`: more evaluators on a finished series, beside the judgements that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option

if TYPE_CHECKING:
    from oyer.engine import Rejudged
    from oyer.records import Evaluator

__all__ = ["command"]


@click.command("judge", short_help=COMMANDS["judge"].about)
@click.argument("series", type=click.Path(path_type=Path), metavar="SERIES")
@plugin_option
@click.option("--evaluator", "only", multiple=True, metavar="ID", help="Only this evaluator of the plug-ins.")
@json_option
def command(series: Path, plugins: tuple[Path, ...], only: tuple[str, ...], as_json: bool) -> int:
    """Judge every trial of a SERIES with the evaluators of plug-ins, from its sealed evidence.

    What they find is kept under a seal of its own. No evidence, no outcome and no judgement that exists is touched: an
    outcome rests on the evaluators that its plan names, as they judged when it ran. `oyer show` shows them. Exit code
    5 where one could not judge a trial, now or when it was asked before.
    """
    from oyer.cli.plugins import load_revisions, plugin_paths
    from oyer.cli.project import find_project
    from oyer.cli.terminal import print_json
    from oyer.engine import judge_series
    from oyer.errors import UsageError
    from oyer.records import digest

    loaded = load_revisions(plugin_paths(plugins, find_project()))
    judges = tuple(dict.fromkeys(judge.evaluator.id for judge in loaded))
    unknown = [name for name in only if name not in judges]
    if unknown or not judges:
        told = f"no plug-in declares {', '.join(unknown)}" if unknown else "no evaluator is named"
        hint = f"there is {', '.join(judges)}" if judges else "name its file with --plugin FILE.py"
        raise UsageError("E-JUDGE-NONE", told, hint=hint)
    found = judge_series(series, [judge for judge in loaded if not only or judge.evaluator.id in only])
    code = 5 if found.failed else 0
    if as_json:
        print_json({"path": str(series), **_value(found), "exit_code": code})
    else:
        _print(found, {digest(judge.evaluator): judge.evaluator for judge in loaded})
    return code


def _value(found: Rejudged) -> dict[str, Any]:
    """Return what was made, how many were there before by evaluator, and every error of either."""
    made = [{"trial": one.trial, "evaluator": one.evaluator, "rubric": one.rubric} for one in found.made]
    before = Counter(one.evaluator for one in found.there)
    errors = [
        {"trial": one.trial, "evaluator": one.evaluator, "error": one.error, "made": one in found.made}
        for one in found.failed
    ]
    return {"made": made, "before": {**dict.fromkeys(_evaluators(found), 0), **before}, "errors": errors}


def _evaluators(found: Rejudged) -> dict[str, None]:
    return dict.fromkeys(one.evaluator for one in (*found.made, *found.there))


def _print(found: Rejudged, evaluators: Mapping[str, Evaluator]) -> None:
    """Say how many there are, and what each came to."""
    import sys

    from oyer.adjudicate import LaterJudgement
    from oyer.cli.terminal import look_of, print_page, print_text
    from oyer.report import render_later

    word = "judgement" if len(found.made) == 1 else "judgements"
    print_text(f"{len(found.made)} {word} added, {len(found.there)} were there")
    told = [LaterJudgement(one, evaluators[one.evaluator_digest]) for one in (*found.made, *found.there)]
    print_page(render_later(told, look_of(sys.stdout)))
