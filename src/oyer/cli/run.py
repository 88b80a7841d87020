"""`oyer run`: cases against subjects, and what the evidence shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.secret_options import secret_option
from oyer.cli.selection import selection_options

if TYPE_CHECKING:
    from oyer.cli.selection import Selection
    from oyer.engine import Registered

__all__ = ["command"]


@click.command("run", short_help=COMMANDS["run"].about)
@click.argument("names", nargs=-1, metavar="SUITE|CASE|FILE...")
@selection_options
@click.option(
    "--plan", type=click.Path(path_type=Path), metavar="FILE", help="Run exactly this plan (see `oyer plan -o`)."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the series goes; runs/... by default."
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Repetitions at one time; 1 by default.")
@click.option("--key-env", metavar="NAME", help="Environment variable that holds the key of the model's endpoint.")
@click.option(
    "--key-file", type=click.Path(path_type=Path), metavar="FILE", help="File of mode 0600 that holds its key."
)
@secret_option
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="SERIES",
    help="Then hold it against this series or bundle (see `oyer diff`).",
)
@click.option(
    "--continues",
    type=click.Path(path_type=Path),
    metavar="SERIES",
    help="Cite this series or bundle: a new series all the same, and nothing is pooled.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="SERIES",
    help="Take every answer of a model from this series; nothing is asked live.",
)
@json_option
def command(names: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Run a suite, or cases, against subjects and say what the evidence shows.

    A SUITE or CASE is a packaged one (`oyer library` lists them), a FILE holds your own. Everything is checked before
    anything starts or is written. Outcomes are data: without gates the exit code is 0 when every planned trial is
    sealed. With the gates of a suite it is 0 when all hold, 1 when one does not, 5 when one could not be decided.

    With --against the exit code is also that of `oyer diff`: 1 where a difference for the worse is decided, 5 where
    something is not decided. Whether the two can be compared is found out before anything starts.

    With --replay the same command runs again offline: a request that is not in the recording is a harness error, never
    a live call.

    With --plan nothing else than the plan runs: what moved since it was written is named, and nothing starts (exit 3).
    """
    from oyer.cli.against import held_against, require_base
    from oyer.cli.continuing import cited_by, words_of
    from oyer.cli.gating import exit_code
    from oyer.cli.locks import require_locked
    from oyer.cli.places import new_series_path
    from oyer.cli.plugins import plugin_paths
    from oyer.cli.running import INTERRUPTED, announce, judged_of, outcome_value_of, run
    from oyer.cli.terminal import print_json

    selection, registered = _selected(names, options)
    project = selection.project
    out = new_series_path(options["out"], under=None if project is None else project.out())
    jobs = options["jobs"] or (project.project.defaults.jobs if project is not None else None) or 1
    unlocked = require_locked(selection)
    plugins, base = plugin_paths(options["plugins"], project, selection.suite), options["against"]
    if base is not None:
        require_base(base, selection, registered, plugins)
    said = cited_by(options)
    arguments = click.get_current_context().obj
    outcome = run(
        selection, out, jobs=jobs, arguments=arguments, registered=registered, said=said, replay=options["replay"]
    )
    outcome = replace(outcome, notes=(*outcome.notes, *words_of(said)))
    if unlocked is not None:
        outcome = replace(outcome, notes=(*outcome.notes, unlocked))
    judged = judged_of(outcome, selection)
    codes = [exit_code(judged.gates)]
    told = None
    if base is not None and not outcome.interrupted:
        told = held_against(base, outcome.path, plugins)
        codes.append(told.result.found.exit_code)
    code = INTERRUPTED if outcome.interrupted else next((each for each in (1, 5) if each in codes), 0)
    if as_json:
        more = {**said, **({} if told is None else {"against": told.value()})}
        print_json({**outcome_value_of(outcome, selection.cases, judged), **more, "exit_code": code})
    else:
        announce(outcome, selection.cases, judged, more=() if told is None else told.page())
    return code


def _selected(names: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Selection, Registered | None]:
    """Return what is to run, by its plan or by its names, with the secrets that were given for it."""
    from oyer.cli.planning import planned_selection
    from oyer.cli.secret_options import read_secrets
    from oyer.cli.selection import select

    registered = None
    if options["plan"] is not None:
        selection, registered = planned_selection(options["plan"], names, options, click.get_current_context())
    else:
        selection = select(names, options)
    return selection._replace(secrets=read_secrets(options["secrets"])), registered
