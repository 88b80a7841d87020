"""Which model answered, over all trials of a series: one name asked for that reports several is no condition at all.

Within one comparison the pins of its arms say so; this is about trials that no comparison holds side by side, such as
two repetitions. Source: the records design, "Drift within a series: no conclusion".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from oyer.observe import TrialEvidence
from oyer.records import Plan

__all__ = ["Reported", "Swap", "Told", "swapped_runs", "told_models"]


class Reported(NamedTuple):
    """A model that an answer reports: the name asked for, the name that answered, the answer's reference."""

    requested: str
    reported: str
    ref: str


class Told(NamedTuple):
    """What one counted attempt says of its models."""

    run: str | None
    reports: tuple[Reported, ...]


class Swap(NamedTuple):
    """Why a run's models are not those of its series, and the answers elsewhere that show it (`trial/ref`)."""

    about: str
    why: str
    refs: tuple[str, ...]


def told_models(evidence: TrialEvidence) -> Told:
    """Return every pair of names that whole answers of an attempt report, each with its first answer. Opens no blob."""
    found: dict[tuple[str, str], Reported] = {}
    for event in evidence.events("gateway", "model.response"):
        body = event.body
        names = body["requested_model"], body["reported_model"]
        answered = body["complete"] and 200 <= body["http_status"] < 300
        if answered and None not in names and body.get("source") not in ("declared", "gateway"):
            found.setdefault(names, Reported(*names, event.ref))
    return Told(evidence.run, tuple(found.values()))


def swapped_runs(told: Mapping[str, Told], plan: Plan) -> dict[str, tuple[Swap, ...]]:
    """Return by run what other trials of its subject report for a name that the run asked for too.

    `told` is by trial, of the counted attempts. A name that one attempt alone reports several models for is no matter
    between trials: the pins of that attempt say it.
    """
    subjects = {planned.trial: planned.subject for planned in plan.trials}
    first: dict[tuple[str, str], dict[str, str]] = {}
    for trial in sorted(told):
        for one in told[trial].reports:
            reports = first.setdefault((subjects[trial], one.requested), {})
            reports.setdefault(one.reported, f"{trial}/{one.ref}")
    found: dict[str, tuple[Swap, ...]] = {}
    for trial in sorted(told):
        mine = told[trial]
        swaps = tuple(_swaps(subjects[trial], mine.reports, first))
        if mine.run is not None and swaps:
            found[mine.run] = swaps
    return found


def _swaps(
    subject: str, reports: Iterable[Reported], first: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterable[Swap]:
    here: dict[str, set[str]] = {}
    for one in reports:
        here.setdefault(one.requested, set()).add(one.reported)
    for requested, names in sorted(here.items()):
        others = {name: ref for name, ref in first[subject, requested].items() if name not in names}
        if others:
            told = " + ".join(sorted(others))
            why = f"{' + '.join(sorted(names))} answered here, and {told} in other trials of this series"
            yield Swap(f"models.{requested}", why, tuple(others[name] for name in sorted(others)))
