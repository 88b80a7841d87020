"""Plan files: writing one, signing it, and reading one back into what `oyer run` was going to be told.

Owns the way between a plan and the file that carries it until it runs. Must never run what the file does not say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from oyer.cli.loading import PlacedCase, is_file_name
from oyer.cli.model_options import read_key
from oyer.cli.one_record import read_one_record
from oyer.cli.plugins import plugin_paths, promised
from oyer.cli.project import PlacedProject, find_project
from oyer.cli.running import require_subjects
from oyer.cli.scopes import PlacedSuite, load_scoped, load_suite
from oyer.cli.selection import FIXED, Selection, judged_by, plugged, qualified
from oyer.engine import Registered, SubjectSpec
from oyer.errors import EvidenceError, RecordError, UsageError
from oyer.evidence import Signed, encode_signed, make_plan_statement, parse_plan_statement, parse_signed
from oyer.host import read_signing_key, stamp
from oyer.records import Order, Plan, PlanFile, canonical_bytes, digest, plain
from oyer.store import make_parents, require_new_file
from oyer.subjects import ModelSettings

__all__ = ["Bounds", "WrittenPlan", "bounds_of", "planned_selection", "read_plan_file", "write_plan"]

_LARGEST_BYTES = 1 << 30


class WrittenPlan(NamedTuple):
    """A plan file: where it is, and whose signature stands in it since when."""

    path: Path
    keyid: str | None
    signed: str | None


class Bounds(NamedTuple):
    """What the budgets of the cases allow all trials together; None where a case declares no such bound."""

    wall_s: int
    tokens: int | None
    cost_usd: str | None
    priced: bool = False

    @property
    def held(self) -> str:
        """Say whether the bound of cost will be held to."""
        return "by the given prices" if self.priced else "declared, which nothing enforces without prices"

    def in_words(self) -> str:
        """Return the bounds as a sentence."""
        hours, rest = divmod(self.wall_s, 3600)
        spans = ((hours, "h"), (rest // 60, "min"), (rest % 60, "s"))
        span = " ".join(f"{count} {unit}" for count, unit in spans if count) or "0 s"
        parts = [f"at most {span} of trials"]
        parts.append("tokens are not bounded" if self.tokens is None else f"at most {self.tokens} tokens")
        parts.append("cost is not bounded" if self.cost_usd is None else f"{self.cost_usd} USD, {self.held}")
        return "; ".join(parts) + "."


def bounds_of(plan: Plan, cases: Sequence[PlacedCase]) -> Bounds:
    """Add up the budgets of every trial."""
    by_id = {placed.loaded.case.id: placed.loaded.case.budget for placed in cases}
    budgets = [by_id[trial.case] for trial in plan.trials]
    tokens = [budget.tokens for budget in budgets if budget.tokens is not None]
    costs = [Decimal(budget.cost_usd) for budget in budgets if budget.cost_usd is not None]
    return Bounds(
        wall_s=sum(budget.wall_s for budget in budgets),
        tokens=sum(tokens) if len(tokens) == len(budgets) else None,
        cost_usd=str(sum(costs)) if len(costs) == len(budgets) else None,
        priced=bool(plan.models) and all(model.prices for model in plan.models.values()),
    )


def write_plan(plan: Plan, selection: Selection, names: Sequence[str], out: Path, key: Path | None) -> WrittenPlan:
    """Write a plan file, signed where a key is given. Raises: UsageError where something is there already."""
    require_new_file(out)
    cases, suite = selection.cases, selection.suite
    signed: Signed | None = None
    now = stamp().t_wall
    if key is not None:
        signed = read_signing_key(key).sign(make_plan_statement(canonical_bytes(plan), now))
    file = PlanFile(
        plan=plan,
        cases={placed.loaded.case.id: placed.loaded.case for placed in cases},
        sources={placed.loaded.case.id: _source(placed, names, out) for placed in cases},
        suite=None if suite is None else _suite_source(suite, names[0], out),
        signature=None if signed is None else json.loads(encode_signed(signed)),
    )
    text = json.dumps(plain(file), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    make_parents(out)
    try:
        with out.open("xb") as target:
            target.write(text.encode())
    except OSError as error:
        raise UsageError("E-PATH", f"cannot be written: {error.strerror or error}", where=str(out)) from error
    return WrittenPlan(out, None if signed is None else signed.keyid, None if signed is None else now)


def _source(placed: PlacedCase, names: Sequence[str], out: Path) -> str | None:
    """Return the path of a case's file from the plan file, None for a packaged case."""
    case = placed.loaded.case.id
    if case in names and not is_file_name(case) and not Path(case).is_file():
        return None
    return os.path.relpath(Path(placed.loaded.document.name).resolve(), out.parent.resolve())


def _suite_source(suite: PlacedSuite, name: str, out: Path) -> str:
    """Return the path of a suite's file from the plan file, or the name of a packaged suite."""
    from oyer.library import find_record

    packaged = not is_file_name(name) and find_record(name, "TrialSuite@1") == suite.path
    return name if packaged else os.path.relpath(suite.path.resolve(), out.parent.resolve())


def read_plan_file(path: Path) -> tuple[PlanFile, Registered]:
    """Read a plan file, and prove that a signature in it is over its own plan.

    Raises: UsageError, RecordError (`E-SIGN-PLAN`, `E-SIGN-LATE` among them).
    """
    told, hint = ("plan", "a plan file"), "make one: oyer plan -o FILE"
    file = read_one_record(path, "PlanFile@1", PlanFile, largest_bytes=_LARGEST_BYTES, called=told, hint=hint)
    return file, Registered(file.plan, file.cases, _envelope(file, path))


def _envelope(file: PlanFile, path: Path) -> bytes | None:
    if file.signature is None:
        return None
    data = canonical_bytes(file.signature)
    try:
        said = parse_plan_statement(parse_signed(data).payload)
        later = datetime.fromisoformat(said.signed) > datetime.fromisoformat(stamp().t_wall)
    except ValueError as error:
        raise RecordError("E-SIGN-STATEMENT", f"no time: {error}", where=f"{path}: signature") from error
    except EvidenceError as error:
        raise RecordError(error.code, error.problems[0].message, where=f"{path}: signature") from error
    if said.plan != digest(file.plan):
        told = f"the plan ({digest(file.plan)}) is not the one that was signed ({said.plan})"
        raise RecordError("E-SIGN-PLAN", told, where=f"{path}: plan", hint="it was changed after it was signed")
    if later:
        told = f"its signer says {said.signed}, which is later than now"
        raise RecordError("E-SIGN-LATE", told, where=f"{path}: signature", hint="look at the clocks")
    return data


def planned_selection(
    path: Path, names: tuple[str, ...], options: Mapping[str, Any], given: click.Context
) -> tuple[Selection, Registered]:
    """Return what a plan file says is to run. `names` say where its cases are, where the file's own places do not.

    Raises: UsageError `E-PLAN-FIXED` for an option that the plan fixes; RecordError.
    """
    fixed = [flag for name, flag in FIXED.items() if given.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if fixed:
        raise UsageError(
            "E-PLAN-FIXED", f"the plan says what {', '.join(fixed)} would", where=fixed[0], hint="leave it out"
        )
    file, registered = read_plan_file(path)
    plan = file.plan
    project = find_project()
    place = names[0] if names else _suite_place(file.suite, path) if file.suite is not None else ""
    known = promised(plugin_paths(options["plugins"], project))
    suite = None if file.suite is None else load_suite(place, project=project, evaluators=known)
    if suite is None:
        found, scope = load_scoped(names or _places(file, path), known)
    else:
        found, scope = suite.cases, suite.scope
    by_id = {placed.loaded.case.id: placed for placed in found}
    missing = [case.id for case in plan.cases if case.id not in by_id]
    if missing:
        raise UsageError("E-CASE-UNKNOWN", f"there is no case {', '.join(missing)} any more", where=str(path))
    cases = tuple(by_id[case.id] for case in plan.cases)
    subjects = tuple(_subject(name, plan, options, project) for name in plan.subjects)
    require_subjects(subjects, cases)
    rubrics, evaluators = judged_by(cases, scope)
    conditions = plan.conditions or None
    order = Order(kind=plan.order, by=plan.order_by, seed=plan.seed)
    fixed_by = (plan.seed, plan.repeat.fixed, suite, rubrics, evaluators, order, project)
    asked = Selection(cases, subjects, conditions, *fixed_by)
    asked = asked._replace(sequential=plan.repeat.sequential, budget=plan.repeat.budget)
    selection = plugged(asked, options["plugins"])
    return qualified(selection, options["qualifications"]), registered


def _suite_place(source: str, path: Path) -> str:
    return str(path.parent / source) if is_file_name(source) else source


def _places(file: PlanFile, path: Path) -> tuple[str, ...]:
    """Return what the sources of a plan file are called from here, each once."""
    places = (case if source is None else str(path.parent / source) for case, source in file.sources.items())
    return tuple(dict.fromkeys(places))


def _subject(name: str, plan: Plan, options: Mapping[str, Any], project: PlacedProject | None) -> SubjectSpec:
    """Return a planned subject: what it is comes from the plan, or from the project that gave it its name."""
    model = plan.models.get(name)
    own = None if project is None or name == "model" else project.subject(name)
    if model is None:
        return own or SubjectSpec(name)
    settings = ModelSettings(
        model.name,
        model.base_url,
        plain(model)["parameters"],
        system=model.system,
        reports=dict(model.reports),
        api=model.api,
        reasoning_delimiters=model.reasoning_delimiters,
        faults=model.faults,
        prices=model.prices,
    )
    key = own.key if own is not None else read_key(options)
    named = own.key_name if own is not None else options["key_env"] or "MODEL_KEY"
    return SubjectSpec(name, model=settings, key=key, key_name=named, driver="model")
