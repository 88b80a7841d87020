"""What differs between what two series fixed before they ran, in words: cases, rubrics, subject, host, harness.

Owns what is compared and how it is named; sentences are those of locks. Pure: records in, sentences out. What only
follows from something that is said already is not said twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from oyer.records import Case, Environment, Evaluator, PinSet, Plan, Record, Rubric, TrialSuite, plain
from oyer.report.lock_words import LockDifference, Steps, value_differences

__all__ = ["FixedSide", "pin_words"]

_NAMED: Mapping[str, str] = {
    "subject": "the subject",
    "tools": "the servers",
    "dependencies": "the packages of the harness",
    "hardware": "the host",
    "harness": "the harness",
    "python": "Python",
    "isolation": "the isolation",
    "policy": "the policy",
    "budgets": "the budgets",
    "admits": "what is admitted",
    "state": "the state at the opening",
    "prompts": "what was delivered to the subject",
}
_FOLLOWS = frozenset({"oyer", "dependencies_digest", "extensions"})
_PLANNED = ("order", "order_by", "seed", "repeat", "attempts", "exclude", "conditions", "gates")


class FixedSide(NamedTuple):
    """What one series fixed, of one subject: environments and pins by case."""

    plan: Plan
    cases: Mapping[str, Case]
    rubrics: Mapping[str, Rubric]
    evaluators: Mapping[str, Evaluator]
    environments: Mapping[str, Environment]
    pinned: Mapping[str, PinSet]
    suite: TrialSuite | None = None


def pin_words(old: FixedSide, new: FixedSide) -> tuple[LockDifference, ...]:
    """Return everything that differs, each sentence once."""
    found: dict[str, LockDifference] = {}
    for one in (
        *_of_suite(old, new),
        *_of_cases(old, new),
        *_of_records(old.rubrics, new.rubrics, "rubrics", "rubric"),
        *_of_records(old.evaluators, new.evaluators, "evaluators", "evaluator"),
        *_of_environments(old, new),
        *_of_models(old, new),
        *_of_plan(old.plan, new.plan),
    ):
        found.setdefault(one.sentence, one)
    return tuple(found.values())


def _of_suite(old: FixedSide, new: FixedSide) -> Iterator[LockDifference]:
    if old.suite is not None and new.suite is not None:
        mine, yours = (_without(plain(one), _PLANNED) for one in (old.suite, new.suite))
        yield from value_differences(mine, yours, ("suite",), "the suite")
    elif (old.suite is None) != (new.suite is None):
        which = "second" if old.suite is None else "first"
        yield LockDifference("suite", f"only the {which} series ran a suite", *_ends(old.plan.suite, new.plan.suite))


def _of_cases(old: FixedSide, new: FixedSide) -> Iterator[LockDifference]:
    yield from _of_records(old.cases, new.cases, "cases", "case")
    worlds = [{case.id: case.world for case in side.plan.cases} for side in (old, new)]
    for name in sorted(worlds[0].keys() & worlds[1].keys()):
        mine, yours = (each[name] for each in worlds)
        if mine != yours:
            told = f"case {name}: its fixture world has other content"
            yield LockDifference(f"cases.{name}.world", told, *_ends(mine, yours))


def _of_records(
    old: Mapping[str, Record], new: Mapping[str, Record], field: str, what: str
) -> Iterator[LockDifference]:
    for name in sorted({*old, *new}):
        if name not in new:
            yield LockDifference(f"{field}.{name}", f"{what} {name} is no longer there", name, "")
        elif name not in old:
            yield LockDifference(f"{field}.{name}", f"{what} {name} is new", "", name)
        else:
            yield from value_differences(plain(old[name]), plain(new[name]), (field, name), f"{what} {name}")


def _of_environments(old: FixedSide, new: FixedSide) -> Iterator[LockDifference]:
    for case in sorted(old.environments.keys() & new.environments.keys()):
        same = old.cases.get(case) == new.cases.get(case)
        mine, yours = (_without(plain(side.environments[case]), _FOLLOWS) for side in (old, new))
        for name in mine:
            # What was delivered, the servers and the budgets follow from a case that is said to have changed.
            if same or name not in ("prompts", "tools", "budgets", "policy"):
                yield from _of_field(name, mine[name], yours[name], case)


def _of_field(name: str, old: Any, new: Any, case: str) -> Iterator[LockDifference]:
    at: Steps = ("environments", case, name)
    if name in ("prompts", "state") and old != new:
        told = f"{_NAMED[name]} is not the same"
        yield LockDifference(".".join(map(str, at)), told, *_ends(old, new))
        return
    if name == "subject" and isinstance(old, dict) and isinstance(new, dict):
        old, new = (_without(each, frozenset({"extensions"})) for each in (old, new))
    yield from value_differences(old, new, at, _NAMED.get(name, name))


def _of_models(old: FixedSide, new: FixedSide) -> Iterator[LockDifference]:
    for case in sorted(old.pinned.keys() & new.pinned.keys()):
        mine, yours = (dict(side.pinned[case].models) for side in (old, new))
        yield from value_differences(mine, yours, ("pins", case, "models"), "the model that answered")


def _of_plan(old: Plan, new: Plan) -> Iterator[LockDifference]:
    mine, yours = plain(old), plain(new)
    for name in _PLANNED:
        yield from value_differences(mine[name], yours[name], ("plan", name), f"the plan: {name}")


def _without(value: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name not in names}


def _ends(old: str | None, new: str | None) -> tuple[str, str]:
    return old or "", new or ""
