"""Which cases, against whom, how often: the options that `plan` and `run` share, and what they come to.

Owns these options, so that a plan and a run of the same words are the same plan. Must never start or write anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from oyer.cli.plugins import plugin_option

if TYPE_CHECKING:
    from oyer.adjudicate import Judge
    from oyer.cli.loading import PlacedCase
    from oyer.cli.project import PlacedProject
    from oyer.cli.scopes import PlacedSuite, Scope
    from oyer.engine import SubjectSpec
    from oyer.records import Condition, Evaluator, Order, Qualification, Rubric, Sequential, SeriesBudget

__all__ = ["FIXED", "Selection", "judged_by", "plugged", "qualified", "select", "selection_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--subject",
        "subjects",
        multiple=True,
        metavar="NAME",
        help="Who is on trial: scripted:NAME, model, or a name of oyer.yaml. Give it several times for several.",
    ),
    click.option("-k", "only", multiple=True, metavar="CASE", help="Only this case; of a suite, with its controls."),
    click.option("--conditions", metavar="A,B", help="Only these conditions: baseline, manipulated, hardened."),
    click.option(
        "--repeat", type=click.IntRange(1, 1_000_000), help="Repetitions; 1, or what a suite declares, by default."
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of the order; 0, or what a suite declares, by default."
    ),
    click.option("--model", metavar="NAME", help="For --subject model: the model to ask for."),
    click.option("--base-url", metavar="URL", help="Its endpoint, up to /v1, or scripted:NAME for a scripted model."),
    click.option(
        "--api",
        type=click.Choice(["chat", "responses", "messages", "gemini"]),
        help="How it is asked: Chat Completions (chat, the default), Responses, Messages or Gemini.",
    ),
    click.option("--system", metavar="TEXT", help="A system prompt; none by default."),
    click.option("--temperature", type=float, help="Passed into every request."),
    click.option("--max-tokens", type=click.IntRange(1), help="Passed into every request."),
    click.option("--model-seed", type=int, help="Passed into every request as seed."),
    click.option("--param", "params", multiple=True, metavar="NAME=JSON", help="Any other request parameter."),
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="What models cost (PriceTable@1); those of oyer.yaml by default.",
    ),
    click.option(
        "--model-fault",
        "model_faults",
        multiple=True,
        metavar="FAULT",
        help="Let its endpoint fail as declared: 429@2, 500@1x3, cut@2 or slow:1500ms@1 (which request, how often).",
    ),
    click.option(
        "--reports",
        multiple=True,
        metavar="NAME=REPORTED",
        help="The name under which answers for a requested model come; another is PIN_DRIFT. For auxiliary models too.",
    ),
    click.option(
        "--reasoning-delimiters",
        nargs=2,
        multiple=True,
        metavar="OPEN CLOSE",
        help="Between which texts the model thinks in its own text: kept, and never taken for what it said.",
    ),
    click.option(
        "--qualifications",
        type=click.Path(path_type=Path),
        default=Path("qualifications"),
        show_default=True,
        metavar="DIR",
        help="Where `oyer qualify` left its records.",
    ),
    plugin_option,
)
FIXED = {
    "subjects": "--subject",
    "only": "-k",
    "conditions": "--conditions",
    "repeat": "--repeat",
    "seed": "--seed",
    "model": "--model",
    "base_url": "--base-url",
    "api": "--api",
    "system": "--system",
    "temperature": "--temperature",
    "max_tokens": "--max-tokens",
    "model_seed": "--model-seed",
    "params": "--param",
    "model_faults": "--model-fault",
    "prices": "--prices",
    "reports": "--reports",
    "reasoning_delimiters": "--reasoning-delimiters",
}
"""What a plan fixes: the name of each option's value, and the option."""


class Selection(NamedTuple):
    """What was asked for, checked as far as it can be without starting anything."""

    cases: tuple[PlacedCase, ...]
    subjects: tuple[SubjectSpec, ...]
    conditions: tuple[Condition, ...] | None
    seed: int
    repeat: int
    suite: PlacedSuite | None = None
    rubrics: Mapping[str, Rubric] = {}
    evaluators: Mapping[str, Evaluator] = {}
    order: Order | None = None
    project: PlacedProject | None = None
    qualifications: Mapping[str, Qualification] = {}
    unqualified: Mapping[str, str] = {}
    judges: Mapping[str, Judge] = {}
    sequential: Sequential | None = None
    budget: SeriesBudget | None = None
    secrets: Mapping[str, str] = {}


def selection_options(function: F) -> F:
    """Give a command the options that say what is to run."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def select(names: tuple[str, ...], options: Mapping[str, Any]) -> Selection:
    """Load and check what the arguments name: cases, or one suite. Raises: UsageError, RecordError with everything."""
    return qualified(plugged(_select(names, options), options["plugins"]), options["qualifications"])


def plugged(selection: Selection, named: Sequence[Path]) -> Selection:
    """Add the evaluators that plug-ins bring, loaded once: from here on their code runs. Raises: UsageError."""
    from oyer.cli.plugins import load_judges, plugin_paths

    paths = plugin_paths(named, selection.project, selection.suite)
    return selection._replace(judges=load_judges(paths, selection.evaluators))


def qualified(selection: Selection, place: Path) -> Selection:
    """Add what vouches for each case, as found in a directory, and why each of the others is unqualified."""
    from oyer.cli.qualified import vouched
    from oyer.cli.running import request_of

    found = vouched(request_of(selection, Path()), place)
    return selection._replace(qualifications=found.by_case, unqualified=found.why_not)


def _select(names: tuple[str, ...], options: Mapping[str, Any]) -> Selection:
    from oyer.cli.naming import own_suites, suite_file
    from oyer.cli.plugins import plugin_paths, promised
    from oyer.cli.project import find_project
    from oyer.cli.running import read_conditions, require_subjects
    from oyer.cli.scopes import load_scoped, narrowed

    if not names:
        raise click.UsageError("Missing argument 'SUITE|CASE|FILE...'.")
    project = find_project()
    subjects = tuple(_subjects(options, project))
    suites = [name for name in names if suite_file(name, project) is not None]
    if suites:
        return _suite(names, suites[0], subjects, options, project)
    found, scope = load_scoped(names, promised(plugin_paths(options["plugins"], project)), own_suites(project))
    cases = narrowed(found, options["only"], scope)
    conditions = read_conditions(options["conditions"], cases)
    require_subjects(subjects, cases)
    if project is not None:
        project.require_isolated(cases)
    rubrics, evaluators = judged_by(cases, scope)
    return Selection(
        cases,
        subjects,
        conditions,
        options["seed"] or 0,
        options["repeat"] or 1,
        rubrics=rubrics,
        evaluators=evaluators,
        project=project,
    )


def _suite(
    names: Sequence[str],
    name: str,
    subjects: tuple[SubjectSpec, ...],
    options: Mapping[str, Any],
    project: PlacedProject | None,
) -> Selection:
    """Load the one suite that is named; what it declares holds where no option says otherwise."""
    from oyer.cli.plugins import plugin_paths, promised
    from oyer.cli.ruled import require_rule
    from oyer.cli.running import read_conditions, require_subjects
    from oyer.cli.scopes import load_suite
    from oyer.errors import UsageError

    if len(names) > 1:
        raise UsageError("E-SUITE-ALONE", f"{name} is a suite, and a suite is run by itself", where=names[-1])
    known = promised(plugin_paths(options["plugins"], project))
    placed = load_suite(name, only=options["only"], project=project, evaluators=known)
    declared = placed.suite
    if options["repeat"] is not None and declared.repeat.sequential is not None:
        told = f"the rule of {name} says how often its trials run"
        raise UsageError("E-SUITE-REPEAT", told, where="--repeat", hint="leave it out, or change the suite")
    experiments = [case for case in placed.cases if case.loaded.case.is_experiment]
    conditions = read_conditions(options["conditions"], experiments) or declared.conditions or None
    require_subjects(subjects, placed.cases)
    models = [spec.model for spec in subjects if spec.model is not None]
    has_prices = bool(models) and all(model.prices for model in models)
    require_rule(placed, [spec.name for spec in subjects], conditions or (), priced=has_prices)
    if project is not None:
        project.require_isolated(placed.cases)
    seed = declared.order.seed if options["seed"] is None else options["seed"]
    repeat = options["repeat"] or declared.repeat.fixed or 1
    judged = judged_by(placed.cases, placed.scope)
    chosen = Selection(placed.cases, subjects, conditions, seed, repeat, placed, *judged, declared.order, project)
    return chosen._replace(sequential=declared.repeat.sequential, budget=declared.repeat.budget)


def judged_by(cases: Sequence[PlacedCase], scope: Scope) -> tuple[dict[str, Rubric], dict[str, Evaluator]]:
    """Return the rubrics that the claims of cases name, and the declared evaluators that those name."""
    wanted = {claim.rubric for placed in cases for claim in placed.loaded.case.claims}
    rubrics = {name: loaded.record for name, loaded in scope.rubrics.items() if name in wanted}
    named = {name for rubric in rubrics.values() for name in rubric.evaluator_ids}
    return rubrics, {name: one for name, one in scope.evaluators.items() if name in named}


def _subjects(options: Mapping[str, Any], project: PlacedProject | None) -> list[SubjectSpec]:
    """Return who is on trial: by the names of the project, or by what they are. Flags are for `--subject model`."""
    from oyer.cli.model_options import model_of, priced

    default = None if project is None else project.project.defaults.subject
    names = options["subjects"] or ((default,) if default is not None else ())
    if not names:
        raise click.UsageError("Missing option '--subject'.")
    model = model_of(options, wanted="model" in names)
    return priced([_subject(name, model, project) for name in names], options, project)


def _subject(name: str, model: SubjectSpec | None, project: PlacedProject | None) -> SubjectSpec:
    from oyer.engine import SubjectSpec
    from oyer.errors import UsageError
    from oyer.records import nearest

    if name == "model" and model is not None:
        return model
    own = None if project is None else project.subject(name)
    if own is not None:
        return own
    if project is not None and not name.startswith("scripted:"):
        known = tuple(project.project.subjects)
        close = nearest(name, known)
        hint = f"did you mean {close}?" if close else f"there is {', '.join(known) or 'none'}, model, scripted:NAME"
        told = f"{project.path} names no subject {name!r}"
        raise UsageError("E-SUBJECT-UNKNOWN", told, where="--subject", hint=hint)
    return SubjectSpec(name)
