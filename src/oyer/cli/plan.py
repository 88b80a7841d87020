"""`oyer plan`: what would run, in which order, within which bounds; written down before it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.selection import selection_options

if TYPE_CHECKING:
    from oyer.cli.loading import PlacedCase
    from oyer.cli.planning import Bounds, WrittenPlan
    from oyer.records import Plan
    from oyer.report import Page

__all__ = ["command"]

_MOST_TRIALS = 40


@click.command("plan", short_help=COMMANDS["plan"].about)
@click.argument("names", nargs=-1, metavar="SUITE|CASE|FILE...")
@selection_options
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan down, for `oyer run --plan`."
)
@click.option(
    "--sign", type=click.Path(path_type=Path), metavar="FILE", help="Sign it with this private key (see `oyer keygen`)."
)
@json_option
def command(names: tuple[str, ...], out: Path | None, sign: Path | None, as_json: bool, **options: Any) -> int:
    """Say what would run; nothing is started.

    The same words give the plan that `oyer run` would make. A plan that somebody else signs before the run is what
    makes pre-registration more than a word: `oyer verify --plan-key` then checks that exactly this plan was run.
    """
    from oyer.cli.planning import bounds_of, write_plan
    from oyer.cli.running import request_of
    from oyer.cli.selection import select
    from oyer.cli.terminal import print_json, print_page, print_text
    from oyer.engine import plan_request
    from oyer.errors import UsageError

    if sign is not None and out is None:
        raise UsageError("E-USAGE", "a signature needs a file to stand in", where="--sign", hint="name one with -o")
    selection = select(names, options)
    plan = plan_request(request_of(selection, Path()))
    written = None if out is None else write_plan(plan, selection, names, out, sign)
    bounds = bounds_of(plan, selection.cases)
    if as_json:
        runs = {"least": _least(plan, selection.cases), "most": len(plan.trials)}
        print_json({**_value(plan, bounds, written), "runs": runs, "exit_code": 0})
        return 0
    print_page(_page(plan, bounds, written, _least(plan, selection.cases)))
    if written is not None:
        print_text(str(written.path))
    return 0


def _value(plan: Plan, bounds: Bounds, written: WrittenPlan | None) -> dict[str, Any]:
    from oyer.plan import squares_of
    from oyer.records import digest, plain

    return {
        "path": None if written is None else str(written.path),
        "digest": digest(plan),
        "plan": plain(plan),
        "bounds": bounds._asdict(),
        "squares": [{**square._asdict(), "complete": square.complete} for square in squares_of(plan)],
        "signed_by": None if written is None else written.keyid,
        "signed": None if written is None else written.signed,
    }


def _least(plan: Plan, cases: Sequence[PlacedCase]) -> int:
    from oyer.adjudicate import least_trials

    return least_trials(plan, {placed.loaded.case.id: placed.loaded.case for placed in cases})


def _page(plan: Plan, bounds: Bounds, written: WrittenPlan | None, least: int) -> Page:
    from oyer.cli.terminal import look_of
    from oyer.records import digest
    from oyer.report import counted, entry, fold, line, say

    look = look_of(sys.stdout)
    page: Page = (line(say(counted(len(plan.trials), "trial"), "strong"), say(f"  {digest(plan)}", "dim")), ())
    for trial in plan.trials[:_MOST_TRIALS]:
        told = (
            entry(trial.case, 32),
            entry(trial.subject, 24),
            entry(trial.condition, 14),
            f"repetition {trial.repetition}",
        )
        page += (line(say(f"  {trial.position:>5}  "), *(say(word) for word in told)),)
    if len(plan.trials) > _MOST_TRIALS:
        page += (line(say(f"         and {len(plan.trials) - _MOST_TRIALS} more (all with --json)", "dim")),)
    page += ((), *fold([say(bounds.in_words())], look, indent="  "))
    for words in (*_stop_words(plan, least), *_order_words(plan)):
        page += fold([say(words)], look, indent="  ")
    if written is not None and written.keyid is not None:
        page += fold([say(f"Signed by key {written.keyid} at {written.signed}.")], look, indent="  ")
    return (*page, ()) if written is not None else page


def _stop_words(plan: Plan, least: int) -> Iterator[str]:
    """Say by what the series may stop before everything planned ran, and how much runs at the least and at the most."""
    from oyer.report import counted, rule_words

    rule, budget = plan.repeat.sequential, plan.repeat.budget
    if rule is not None:
        yield f"It stops by a rule: {rule_words(rule)}"
    if budget is not None:
        limits = [f"{budget.wall_s} s of time"] if budget.wall_s is not None else []
        limits += [f"{budget.tokens} tokens"] if budget.tokens is not None else []
        what = "unit of the rule" if rule is not None else "repetition"
        yield f"It stops before the next {what} once {' or '.join(limits)} are used up, whichever is first."
    if rule is not None or budget is not None:
        runs = f"At the least {counted(least, 'trial')} will run, at the most {len(plan.trials)}"
        yield f"{runs}, unless it is interrupted."


def _order_words(plan: Plan) -> Iterator[str]:
    """Say what the order balances, and whether the repetitions that are planned complete it."""
    from oyer.plan import squares_of

    if plan.order == "grouped":
        yield f"Order grouped by {plan.order_by}: time and {plan.order_by} cannot be told apart."
    for one in squares_of(plan):
        told = f"Order williams over {one.over} {one.about}: {one.rows} rows, {one.taken} taken; "
        yield told + (
            "the square is complete, and each follows each other equally often."
            if one.complete
            else "the square is not complete, and carry-over is not balanced: "
            f"{one.rows * (one.taken // one.rows + 1)} rounds would complete it."
        )
