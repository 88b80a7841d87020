"""`oyer show`: a series, or one trial of it, from what is retained."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.cli.retained import Retained, Wanted
    from oyer.records import PlannedTrial
    from oyer.report import Look, Page

__all__ = ["command"]


@click.command("show", short_help=COMMANDS["show"].about)
@click.argument("series", type=click.Path(path_type=Path))
@click.argument("trial", nargs=-1, metavar="[TRIAL...]")
@click.option("-k", "case", metavar="CASE", help="The trial of this case.")
@click.option("--subject", metavar="NAME", help="The trial of this subject.")
@click.option("--evidence", is_flag=True, help="With every message: original and delivered bytes.")
@click.option("--long", "whole", is_flag=True, help="All of a large SERIES in full, not in a line each.")
@click.option("--stats", is_flag=True, help="Every number of the SERIES instead: with formula, source and estimand.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="With --stats: seed of what is drawn; the plan's.")
@click.option(
    "--draws", type=click.IntRange(1000, 1_000_000), default=10_000, show_default=True, help="With --stats: resamples."
)
@json_option
def command(
    series: Path,
    trial: tuple[str, ...],
    case: str | None,
    subject: str | None,
    evidence: bool,
    whole: bool,
    stats: bool,
    seed: int | None,
    draws: int,
    as_json: bool,
) -> int:
    """Show what a SERIES shows, or one TRIAL of it.

    A TRIAL is the number that is printed with it, or words that together mean one: its name, its case, its subject,
    r2 for a repetition, neutral for a neutral arm, or parts of these, as in `oyer show SERIES late-return yields-at:2`.

    Everything is derived anew from the stored evidence. `oyer verify` says whether that evidence is intact.
    """
    from oyer.cli.retained import Wanted, read_retained

    wanted = Wanted(trial, case, subject)
    if stats and (any(wanted) or evidence):
        raise click.UsageError("--stats is about a whole series: name no trial, and no --evidence")
    with read_retained(series) as retained:
        if stats:
            _statistics(retained, seed, draws, as_json=as_json)
        else:
            _show(retained, wanted if any(wanted) else None, evidence=evidence, whole=whole, as_json=as_json)
    return 0


def _statistics(retained: Retained, seed: int | None, draws: int, *, as_json: bool) -> None:
    from oyer.adjudicate import statistics_of
    from oyer.cli.terminal import look_of, print_json, print_page
    from oyer.report import fold, line, render_statistics, say, statistics_value

    family = (retained.suite.aggregate.family or None) if retained.suite is not None else None
    cases = retained.reading.given.cases
    found = statistics_of(retained.given, cases, seed=seed, draws=draws, family=family)
    if as_json:
        print_json({"path": str(retained.path), "statistics": statistics_value(found), "exit_code": 0})
        return
    look = look_of(sys.stdout)
    page: Page = (line(say(f"series {retained.reading.manifest.series}", "dim")), ())
    for problem in retained.reading.problems:
        page += fold([say(str(problem), "bad")], look, hanging="  ")
    print_page((*page, *render_statistics(found, look)))


def _show(retained: Retained, trial: Wanted | None, *, evidence: bool, whole: bool, as_json: bool) -> None:
    from oyer.cli.retained import find_trial
    from oyer.cli.terminal import look_of, print_json, print_page

    chosen = retained.reading.plan.trials if trial is None else (find_trial(retained, trial),)
    if as_json:
        print_json(_value(retained, chosen, one=trial is not None, evidence=evidence))
        return
    look = look_of(sys.stdout)
    if trial is not None:
        print_page(_trial_page(retained, chosen[0], look, raw=evidence))
        return
    print_page(_series_page(retained, look, whole=whole))
    for planned in chosen if evidence else ():
        print_page(((), *_trial_page(retained, planned, look, raw=True)))


def _value(retained: Retained, chosen: tuple[PlannedTrial, ...], *, one: bool, evidence: bool) -> dict[str, object]:
    from oyer.cli.retained import result_value, trial_value

    if one:
        return {"trial": trial_value(retained, chosen[0], messages=True), "exit_code": 0}
    trials = [trial_value(retained, planned, messages=evidence) for planned in chosen]
    shown = result_value(
        retained.path, retained.reading, retained.result, retained.judged, retained.later, trials=trials
    )
    return {**shown, "exit_code": 0}


def _series_page(retained: Retained, look: Look, *, whole: bool) -> Page:
    from oyer.cli.continuing import REPLAYS, continues_value, continues_words, replays_words
    from oyer.report import fold, line, render_later, render_series, say

    reading, result = retained.reading, retained.result
    head = line(say(f"series {reading.manifest.series}", "dim"), say(f"  opened {reading.manifest.opened}", "dim"))
    page: Page = (head, ())
    again = continues_value(reading.manifest.extensions, REPLAYS)
    page += fold([say(replays_words(again), "warn")], look, hanging="  ") if again is not None else ()
    old = continues_value(reading.manifest.extensions)
    page += fold([say(continues_words(old), "warn")], look, hanging="  ") if old is not None else ()
    for problem in (*reading.problems, *retained.later.problems):
        page += fold([say(str(problem), "bad")], look, hanging="  ")
    shown = (reading.plan, reading.given.cases, result.outcomes, result.comparisons)
    later = render_later(retained.later.judgements, look)
    return (*page, *render_series(*shown, look, retained.judged, whole=whole), *(((), *later) if later else ()))


def _trial_page(retained: Retained, planned: PlannedTrial, look: Look, *, raw: bool) -> Page:
    from oyer.cli.retained import turns_of
    from oyer.report import fold, line, read_transcript, render_later, render_transcript, render_trial, say

    outcome = retained.result.outcomes.get(planned.trial)
    evidence = retained.evidence(planned.trial)
    page: Page = (line(say(planned.trial, "strong")),)
    if outcome is None or evidence is None:
        return (*page, line("  ", say("no sealed attempt: this trial did not run to its end", "warn")))
    damage = retained.damage(planned.trial)
    if damage:
        told = "what is stored of this trial is damaged and cannot be read; nothing rests on it"
        page += (line("  ", say(told, "bad")),)
        for problem in damage:
            page += fold([say(str(problem), "bad")], look, indent="  ", hanging="    ")
        return page
    page += render_trial(outcome, retained.comparison_of(planned.trial), look, retained.judged.errors)
    page += render_later(retained.later_of(planned.trial), look)
    for defect in evidence.defects:
        page += fold([say(str(defect), "bad")], look, indent="  ", hanging="    ")
    return page + render_transcript(read_transcript(evidence, turns_of(retained, planned)), look, raw=raw)
