"""Check 4: every record parses, and every digest is that of the bytes it names.

Proves that manifest, plan, pins and derived records are canonical records of this version without a second reading
(no duplicate key, no other number form), that manifest and plan are the ones the ledger was opened with, that the
manifest agrees with the plan, that the pinned worlds and models are the planned ones, that a sequence is what its
suite and its cases come to, and that pins and manifest name each other exactly. Source: the design's records page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.adjudicate import BUILT_IN
from oyer.errors import OyerError, Problem
from oyer.evidence import VOCABULARIES, VOCABULARY
from oyer.records import (
    Case,
    Comparison,
    Environment,
    Evaluator,
    Judgement,
    MatchedSet,
    Outcome,
    OutcomeForm,
    PinSet,
    Plan,
    Qualification,
    Record,
    Rubric,
    Series,
    TrialSuite,
    case_breaches,
    digest,
    digest_bytes,
    parse_canonical,
    path_text,
    plain,
)
from oyer.verify.comparing import Derivation
from oyer.verify.layout import PartKind
from oyer.verify.reading import parse_record
from oyer.verify.result import Check, Findings
from oyer.verify.sequencing import sequencing_breaches
from oyer.verify.survey import Phase, Survey, read_part
from oyer.verify.vouching import vouching_breaches

__all__ = ["check_records"]

PINNED: Mapping[str, type[Record]] = {
    "Case@1": Case,
    "Environment@1": Environment,
    "Evaluator@1": Evaluator,
    "OutcomeForm@1": OutcomeForm,
    "PinSet@1": PinSet,
    "Qualification@1": Qualification,
    "Rubric@1": Rubric,
    "TrialSuite@1": TrialSuite,
}
DERIVED: Mapping[PartKind, type[Record]] = {
    "outcome": Outcome,
    "comparison": Comparison,
    "judgement": Judgement,
    "set": MatchedSet,
}
ADVICE = "a pinned record is never edited: restore it from a copy, or run a new series"


def check_records(survey: Survey, derivation: Derivation) -> Check:
    """Check every record of the series, one at a time."""
    found = Findings(4, "records", ADVICE)
    for path in ("series.json", "plan.json"):
        for problem in survey.problems.get(path, ()):
            if survey.phase is Phase.UNOPENED and problem.code == "E-STORE-MISSING":
                found.open("E-SERIES-NONE", "the series was never opened: it is not there yet", path)
            else:
                _keep(found, problem, path)
    _opened_with(survey, found)
    if survey.manifest is not None and survey.plan is not None:
        for code, message in _disagreements(survey.manifest, survey.plan):
            found.failed(code, message, "series.json")
    pinned = _pins(survey, found)
    _named_pins(survey, pinned, found)
    if survey.manifest is not None and survey.plan is not None:
        for code, message, where in _unplanned(survey.manifest, survey.plan, pinned):
            found.failed(code, message, where)
        for code, message, where in (
            *vouching_breaches(survey.plan, pinned),
            *sequencing_breaches(survey.plan, pinned),
        ):
            found.failed(code, message, where)
    records = _derived(survey, derivation, found)
    for path in survey.of("later"):
        found.open("E-VERIFY-UNKNOWN", "this version cannot check it", path, "verify with a newer Oyer")
    pins = len(survey.of("pin"))
    return found.close(f"manifest, plan, {pins} pins and {records} derived records parse; every digest agrees")


def _keep(found: Findings, problem: Problem, path: str) -> None:
    where = problem.where if problem.where.startswith(path) else path
    found.failed(problem.code, problem.message, where, problem.hint)


def _opened_with(survey: Survey, found: Findings) -> None:
    """Compare manifest and plan with the digests that the ledger was opened with."""
    for path, stated in (("series.json", survey.ledger.manifest), ("plan.json", survey.ledger.plan)):
        data = read_part(survey.reader.read, path)
        if data is not None and stated is not None and digest_bytes(data) != stated:
            found.failed("E-RECORD-DIGEST", "it is not the one that the ledger was opened with", path)


def _disagreements(manifest: Series, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield where the manifest says something else than the plan it ran."""
    code = "E-RECORD-DIGEST"
    if manifest.plan != digest(plan):
        yield code, "the manifest names another plan"
    cases = {case.id: case.digest for case in plan.cases}
    if dict(manifest.cases) != cases:
        yield code, "the manifest names other cases than the plan"
    for name, table in (("environments", manifest.environments), ("pinsets", manifest.pinsets)):
        if {subject: set(by_case) for subject, by_case in table.items()} != {s: set(cases) for s in plan.subjects}:
            yield code, f"the {name} are not exactly those of the plan's subjects and cases"
    if manifest.seed != plan.seed:
        yield code, "the manifest names another seed than the plan"
    if manifest.condition_order != tuple(dict.fromkeys(trial.condition for trial in plan.trials)):
        yield code, "the manifest names another order of conditions than the plan"
    if manifest.vocabulary not in VOCABULARIES:
        told = f"it names event vocabulary {manifest.vocabulary}; the newest that this reader knows is {VOCABULARY}"
        yield "E-EVENT-VERSION", told


def _unplanned(manifest: Series, plan: Plan, pinned: Mapping[str, Record]) -> Iterator[tuple[str, str, str]]:
    """Yield where worlds or models were pinned when the series opened that are not the planned ones."""
    suite = pinned.get(plan.suite) if plan.suite is not None else None
    declared = None if not isinstance(suite, TrialSuite) else (suite.repeat.sequential, suite.repeat.budget)
    if declared is not None and declared != (plan.repeat.sequential, plan.repeat.budget):
        yield "E-PLAN-RULE", "the plan stops by another rule or budget than its suite declares", "plan.json"
    worlds = {case.id: case.world for case in plan.cases}
    for by_case in manifest.pinsets.values():
        for case, name in by_case.items():
            pins, world = pinned.get(name), worlds.get(case)
            if isinstance(pins, PinSet) and world is not None and pins.world != world:
                yield "E-PLAN-WORLD", f"case {case} ran in another world than the planned one", f"pins/{name}"
    for subject, by_case in manifest.pinsets.items():
        reports = dict(plan.models[subject].reports) if subject in plan.models else {}
        for name in by_case.values():
            pins = pinned.get(name)
            if isinstance(pins, PinSet) and dict(pins.models) != reports:
                yield "E-PLAN-MODEL", f"subject {subject} was to report other models than planned", f"pins/{name}"
    for subject, by_case in manifest.environments.items():
        model = plan.models.get(subject)
        for name in by_case.values() if model is not None else ():
            environment = pinned.get(name)
            if not isinstance(environment, Environment) or model is None:
                continue
            ran = environment.subject
            asked = (ran.model, ran.endpoint, *(ran.parameters.get(name) for name in ("parameters", "system", "api")))
            same = ("reasoning_delimiters", "faults", "prices")
            thinks = all(getattr(environment, each) == getattr(model, each) for each in same)
            if asked != (model.name, model.base_url, plain(model)["parameters"], model.system, model.api) or not thinks:
                yield (
                    "E-PLAN-MODEL",
                    f"subject {subject} was another model, or asked otherwise, than planned",
                    f"pins/{name}",
                )


def _pins(survey: Survey, found: Findings) -> dict[str, Record]:
    """Check each pinned record by itself; return every pin that holds."""
    kinds: dict[str, Record] = {}
    for path in survey.of("pin"):
        problems: dict[str, tuple[Problem, ...]] = {}
        data = read_part(survey.reader.read, path, problems)
        name = survey.parts[path].name
        if data is None:
            _keep(found, problems[path][0], path)
        elif digest_bytes(data) != name:
            found.failed("E-PIN-DIGEST", "the record is not what its name says", path)
        else:
            record = _pinned(data, path, found)
            if record is not None:
                kinds[name] = record
    return kinds


def _pinned(data: bytes, path: str, found: Findings) -> Record | None:
    try:
        value = parse_canonical(data, name=path)
        kind = PINNED.get(str(value.get("oyer"))) if isinstance(value, dict) else None
        if kind is None:
            found.failed("E-RECORD-KIND", f"no pin is of the kinds {', '.join(sorted(PINNED))}", path)
            return None
        record = parse_record(data, kind, path)
    except OyerError as error:
        for problem in error.problems:
            _keep(found, problem, path)
        return None
    if isinstance(record, Case):
        for breach in case_breaches(record):
            found.failed(breach.code, f"{breach.message} (at {path_text(breach.path)})", path, breach.hint)
    return record


def _named_pins(survey: Survey, kinds: Mapping[str, Record], found: Findings) -> None:
    """Compare what manifest and plan name with what is pinned: nothing missing, nothing else, each of its kind."""
    if survey.manifest is None:
        return
    named: dict[str, type[Record]] = dict.fromkeys(survey.manifest.cases.values(), Case)
    for by_case in survey.manifest.environments.values():
        named |= dict.fromkeys(by_case.values(), Environment)
    for by_case in survey.manifest.pinsets.values():
        named |= dict.fromkeys(by_case.values(), PinSet)
    if survey.plan is not None:
        named |= _planned_pins(survey.plan)
    named |= {name: Evaluator for name in _judging(survey) if name not in named}
    present = {survey.parts[path].name: path for path in survey.of("pin")}
    for name, kind in named.items():
        if name not in present:
            missing = survey.phase is Phase.UNOPENED
            tell = found.open if missing else found.failed
            tell("E-PIN-MISSING", f"the manifest names a {kind.__name__} that is not retained", f"pins/{name}")
        elif name in kinds and type(kinds[name]) is not kind:
            found.failed("E-RECORD-KIND", f"the manifest names it as {kind.__name__}", present[name])
    for name, path in present.items():
        if name not in named:
            found.failed("E-PIN-UNNAMED", "neither manifest nor plan names such a pin", path, "remove it")


def _judging(survey: Survey) -> set[str]:
    """The evaluators that judged after the series was closed: each is pinned when it first does."""
    own = digest(BUILT_IN)
    return {f"sha256:{path.split('/')[1]}" for path in survey.of("judgement")} - {own}


def _planned_pins(plan: Plan) -> dict[str, type[Record]]:
    """What the plan names by digest, with the kind that each must have."""
    named: dict[str, type[Record]] = dict.fromkeys(plan.rubrics.values(), Rubric)
    named |= dict.fromkeys(plan.evaluators.values(), Evaluator)
    named |= dict.fromkeys(plan.forms.values(), OutcomeForm)
    named |= dict.fromkeys(plan.qualifications.values(), Qualification)
    return named if plan.suite is None else {**named, plan.suite: TrialSuite}


def _derived(survey: Survey, derivation: Derivation, found: Findings) -> int:
    """Check that every derived file is a record; whether it is the right one is for checks 8 to 10.

    One that is byte for byte what was just derived is one: those bytes were written from a record.
    """
    count = 0
    for path in survey.of(*DERIVED):
        if path in derivation.equal:
            count += 1
            continue
        problems: dict[str, tuple[Problem, ...]] = {}
        data = read_part(survey.reader.read, path, problems)
        if data is None:
            _keep(found, problems[path][0], path)
            continue
        try:
            parse_record(data, DERIVED[survey.parts[path].kind], path)
            count += 1
        except OyerError as error:
            for problem in error.problems:
                _keep(found, problem, path)
    return count
