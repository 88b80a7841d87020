"""From a request to its plan, and whether a plan that was written down earlier is still what would run.

Owns the looking at fixture worlds for a plan. Must never start a server, and never run a plan that moved.
"""

from __future__ import annotations

from collections.abc import Mapping

from oyer.adjudicate import drawn_units
from oyer.engine.admitting import require_admitted
from oyer.engine.request import CaseSource, RunRequest
from oyer.errors import Problem, RecordError
from oyer.host import copy_world, make_run_dir, take_snapshot
from oyer.plan import Rule, build_plan, plan_drift
from oyer.records import Plan, PlannedModel

__all__ = ["build_requested", "plan_request", "require_registered"]


def plan_request(request: RunRequest) -> Plan:
    """Return the plan of what a request would run now, every world looked at. Raises: UsageError, RecordError."""
    build_requested(request, {})
    return build_requested(request, {source.case.id: _world(source) for source in request.cases})


def build_requested(request: RunRequest, worlds: Mapping[str, str | None]) -> Plan:
    """Return the plan of a request whose worlds have these digests.

    Raises: UsageError `E-CONDITION-UNKNOWN`, `E-ADMITS-...`.
    """
    require_admitted(request.admits, [source.case for source in request.cases])
    models = {
        spec.name: PlannedModel(
            name=spec.model.name,
            base_url=spec.model.base_url,
            parameters=dict(spec.model.parameters),
            system=spec.model.system,
            reports=dict(spec.model.reports),
            api=spec.model.api,
            reasoning_delimiters=spec.model.reasoning_delimiters,
            faults=spec.model.faults,
            prices=dict(spec.model.prices),
        )
        for spec in request.subjects
        if spec.model is not None
    }
    return build_plan(
        [source.loaded for source in request.cases],
        [spec.name for spec in request.subjects],
        seed=request.seed,
        repeat=request.repeat,
        conditions=request.conditions,
        worlds={
            source.case.id: None if source.world is None else worlds.get(source.case.id) for source in request.cases
        },
        models=models,
        order=request.order,
        rule=Rule(
            request.sequential,
            request.budget,
            drawn_units(request.sequential, [source.case for source in request.cases]),
        ),
        suite=request.suite,
        rubrics=request.rubrics,
        evaluators=request.pinned_evaluators,
        qualifications=request.qualifications,
        neutral=request.neutral,
    )


def require_registered(request: RunRequest, plan: Plan) -> None:
    """Refuse to run anything else than the plan that was registered, where one was. Raises: RecordError
    `E-PIN-DRIFT` with every field that moved.
    """
    registered = request.registered
    if registered is None:
        return
    now = {source.case.id: source.case for source in request.cases}
    drifts = plan_drift(registered.plan, plan, registered.cases, now)
    if drifts:
        hint = "run what was planned, or plan anew"
        raise RecordError.of(
            Problem("E-PIN-DRIFT", f"{drift.planned} when it was planned, {drift.now} now", drift.field, hint)
            for drift in drifts
        )


def _world(source: CaseSource) -> str | None:
    """Return the digest of a world as a trial gets it: as a copy, its modes and times evened out."""
    if source.world is None:
        return None
    rundir = make_run_dir()
    try:
        copy_world(source.world, rundir.world, links=source.case.symlinks)
        return take_snapshot(rundir.world).digest
    finally:
        rundir.remove()
