"""What moved between a plan, or a lock, and now: field by field, old and new.

Owns the comparison of two plans and of the cases they name. Must never call two things equal because one was not
looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oyer.records import Case, Plan, SuiteLock, canonical_bytes, path_text, plain

__all__ = ["Drift", "lock_drift", "plan_drift"]

_MOST_LETTERS = 120
_LETTERS_BEFORE = 40

Steps = tuple[str | int, ...]


class Drift(NamedTuple):
    """One field that moved, with both values as short texts; `absent` where there is none."""

    field: str
    planned: str
    now: str


def plan_drift(
    planned: Plan, now: Plan, cases: Mapping[str, Case] | None = None, cases_now: Mapping[str, Case] | None = None
) -> tuple[Drift, ...]:
    """Return every field in which two plans differ; fields of cases too, where both sides have the case itself."""
    one, other = _by_name(planned), _by_name(now)
    for name in _moved(planned, now):
        for value in (one, other):
            value["forms"].pop(name, None)
    found = list(_differences(one, other, ()))
    for name in sorted(set(cases or {}) & set(cases_now or {})):
        if cases is not None and cases_now is not None:
            found += _differences(plain(cases[name]), plain(cases_now[name]), ("cases", name, "record"))
    return _leading(found, one["cases"])


def lock_drift(locked: SuiteLock, now: SuiteLock, cases: Collection[str] | None = None) -> tuple[Drift, ...]:
    """Return every field in which a suite's side differs from its lock; of these cases only, where they are named."""
    one, other = plain(locked), plain(now)
    for value in (one, other):
        if cases is not None:
            value["cases"] = {name: case for name, case in value["cases"].items() if name in cases}
            used = {claim["rubric"] for case in value["cases"].values() for claim in case["record"]["claims"]}
            value["rubrics"] = {name: rubric for name, rubric in value["rubrics"].items() if name in used}
        for case in value["cases"].values():
            for server in case["servers"].values():
                del server["tool_texts"]  # their digests say it
    return _leading(list(_differences(one, other, ())), one["cases"])


def _leading(found: Sequence[Drift], cases: Collection[str]) -> tuple[Drift, ...]:
    """Leave out the digests and forms that only follow from a field of what they are made of, told beside them."""
    made_of: dict[str, tuple[str, ...]] = {"suite_digest": ("suite",)}
    for case in cases:
        record = path_text(("cases", case, "record"))
        made_of[path_text(("cases", case, "digest"))] = (record,)
        made_of[path_text(("cases", case, "form"))] = (record, "rubrics", "evaluators")
    told = [drift.field for drift in found if drift.field not in made_of]

    def follows(field: str) -> bool:
        parts = made_of.get(field, ())
        return any(one == part or one.startswith((f"{part}.", f"{part}[")) for one in told for part in parts)

    return tuple(drift for drift in found if not follows(drift.field))


def _moved(planned: Plan, now: Plan) -> set[str]:
    """The cases that moved themselves: the form of their outcomes only follows."""
    before, after = ({case.id: case.digest for case in plan.cases} for plan in (planned, now))
    return {name for name in set(before) & set(after) if before[name] != after[name]}


def _by_name(plan: Plan) -> dict[str, Any]:
    """Return a plan with cases and trials under their names, and each digest said once."""
    value = plain(plan)
    value["cases"] = {case.pop("id"): case for case in value["cases"]}
    for trial in value["trials"]:
        del trial["case_digest"]
    value["trials"] = {trial.pop("trial"): trial for trial in value["trials"]}
    return value


def _differences(one: Any, other: Any, path: Steps) -> Iterator[Drift]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in [*one, *(name for name in other if name not in one)]:
            yield from _differences(one.get(name, ...), other.get(name, ...), (*path, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (mine, yours) in enumerate(zip(one, other, strict=True)):
            yield from _differences(mine, yours, (*path, index))
    elif one is ... or other is ... or canonical_bytes(one) != canonical_bytes(other):
        yield Drift(path_text(path), *_both(one, other))


def _both(one: Any, other: Any) -> tuple[str, str]:
    """Show two values; of long texts that begin alike, the part in which they differ."""
    if not (isinstance(one, str) and isinstance(other, str)) or max(len(one), len(other)) <= _MOST_LETTERS:
        return _shown(one), _shown(other)
    alike = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, alike - _LETTERS_BEFORE)
    lead = "..." if start else ""
    return lead + _shown(one[start:]), lead + _shown(other[start:])


def _shown(value: Any) -> str:
    if value is ...:
        return "absent"
    text = value if isinstance(value, str) and value else canonical_bytes(value).decode()
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "..."
