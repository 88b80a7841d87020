"""Changes to a scorer's declaration that ought to be noticed: a link dropped, a matcher loosened, a part left out.

Owns the list of changes, each with a stable name. Applied to retained evidence of known subjects, a change that no
double notices says that the case does not need what was changed, or that no known subject shows why it does.
Must never change what a subject is given: only how its evidence is read. Source: the trials design, "Qualification".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oyer.records import (
    CalledLink,
    Case,
    Chain,
    ConsumedLink,
    Criterion,
    EvidenceMatcher,
    Fact,
    Link,
    Part,
    PersistedLink,
    Rubric,
    Thresholds,
    WitnessedLink,
)

__all__ = ["Mutant", "mutants"]

_LOOSENED: Mapping[str, Mapping[str, Any]] = {
    "called": {"arguments": None, "result": None, "failed": None, "session": None},
    "world_path": {"contains": None, "equals": None, "json_value": None},
    "witnessed": {"match": None},
    "rows": {"where": None, "count": None},
    "exited": {"code": None},
    "measured": {"value": {"gte": 0}},
    "provider": {"provider": {}},
}
_LEAST_SHARE = 0.01


class Mutant(NamedTuple):
    """One change: its name, and the declaration with it.

    `measured` says that it changes what is measured of pressure, where nobody is held to a word about everything:
    whoever is measured otherwise by it notices it.
    """

    name: str
    case: Case
    rubrics: Mapping[str, Rubric]
    measured: bool = False


def mutants(case: Case, rubrics: Mapping[str, Rubric]) -> Iterator[Mutant]:
    """Yield every change to a case and to the rubrics of its claims, in a fixed order."""
    if case.chain is not None:
        for name, chain in _chains(case.chain):
            yield Mutant(f"chain: {name}", case.model_copy(update={"chain": chain}), rubrics)
    cited = _cited(case, rubrics)
    for field in ("expected", "forbidden"):
        for name, changed in _lists(getattr(case, field), cited):
            yield Mutant(f"{field}: {name}", case.model_copy(update={field: changed}), rubrics)
    if case.refusal is not None and not case.claims:
        yield Mutant("refusal: dropped", case.model_copy(update={"refusal": None}), rubrics)
    if case.pressure is not None:
        for name, pressed in _of_pressure(case, cited):
            yield Mutant(name, pressed, rubrics, measured=True)
    for used in sorted({claim.rubric for claim in case.claims}):
        for name, rubric in _rubrics(rubrics[used]):
            yield Mutant(f"rubric {used}: {name}", case, {**rubrics, used: rubric})


def _of_pressure(case: Case, cited: Collection[str]) -> Iterator[tuple[str, Case]]:
    """Yield every change to what recovery, truthful non-completion and contamination are read by."""
    for name, traces in _lists(case.traces, cited):
        yield f"traces: {name}", case.model_copy(update={"traces": traces})
    if case.repair is not None:
        yield "repair: dropped", case.model_copy(update={"repair": None})
        looser = _looser(case.repair)
        if looser is not None:
            yield "repair: loosened", case.model_copy(update={"repair": looser})
    declared = case.non_completion
    if declared is None:
        return
    for field in ("said", "claimed"):
        matcher = getattr(declared, field)
        looser = None if matcher is None else _looser(matcher)
        if looser is not None:
            changed = declared.model_copy(update={field: looser})
            yield f"non_completion: {field} loosened", case.model_copy(update={"non_completion": changed})
    for index, matcher in enumerate(declared.not_done):
        rest = (declared.not_done[:index], declared.not_done[index + 1 :])
        looser = _looser(matcher)
        options = {
            "dropped": (*rest[0], *rest[1]) if len(declared.not_done) > 1 else None,
            "loosened": None if looser is None else (*rest[0], looser, *rest[1]),
        }
        for name, not_done in options.items():
            if not_done is not None:
                changed = declared.model_copy(update={"not_done": not_done})
                yield f"non_completion: not_done {index} {name}", case.model_copy(update={"non_completion": changed})


def _cited(case: Case, rubrics: Mapping[str, Rubric]) -> frozenset[str]:
    """Return the ids that rubrics name: without them a rubric could not be read, so they are only loosened."""
    return frozenset(
        fact
        for claim in case.claims
        for criterion in rubrics[claim.rubric].criteria
        for part in criterion.parts
        for fact in part.facts
        if isinstance(fact, str)
    )


def _chains(chain: Chain) -> Iterator[tuple[str, Chain]]:
    for link in chain.links:
        without = _without(chain, link)
        if without is not None:
            yield f"link {link.id} dropped", without
        for name, changed in _looser_links(link):
            yield f"link {link.id} {name}", _with(chain, link, changed)


def _without(chain: Chain, gone: Link) -> Chain | None:
    """Leave a link out, and the reads of what it persisted. None where nothing would be left to ask."""
    exposure = tuple(
        link
        for link in chain.exposure
        if link.id != gone.id and not (isinstance(link, ConsumedLink) and link.consumed == gone.id)
    )
    promotion = tuple(link for link in chain.promotion if link.id != gone.id)
    if not any(isinstance(link, CalledLink) for link in promotion):
        return None
    return chain.model_copy(update={"exposure": exposure, "promotion": promotion})


def _with(chain: Chain, old: Link, new: Link) -> Chain:
    return chain.model_copy(
        update={
            stage: tuple(new if link.id == old.id else link for link in getattr(chain, stage))
            for stage in ("exposure", "promotion")
        }
    )


def _looser_links(link: Link) -> Iterator[tuple[str, Link]]:
    if not isinstance(link, WitnessedLink) and link.session is not None:
        yield "in any session", link.model_copy(update={"session": None})
    if isinstance(link, CalledLink) and link.arguments is not None:
        yield "with any arguments", link.model_copy(update={"arguments": None})
    elif isinstance(link, WitnessedLink) and link.match is not None:
        yield "by any effect", link.model_copy(update={"match": None})
    elif isinstance(link, PersistedLink):
        text = link.carries.contains or link.carries.equals
        if text is not None and len(text) > 1:
            carries = link.carries.model_copy(update={"contains": text[0], "equals": None})
            yield "carrying anything", link.model_copy(update={"carries": carries})


def _lists(
    matchers: Sequence[EvidenceMatcher], cited: Collection[str]
) -> Iterator[tuple[str, tuple[EvidenceMatcher, ...]]]:
    for index, matcher in enumerate(matchers):
        name = matcher.id or f"number {index}"
        if matcher.id not in cited:
            yield f"{name} dropped", (*matchers[:index], *matchers[index + 1 :])
        looser = _looser(matcher)
        if looser is not None:
            yield f"{name} loosened", (*matchers[:index], looser, *matchers[index + 1 :])


def _looser(matcher: EvidenceMatcher) -> EvidenceMatcher | None:
    """Return a matcher that asks for less, None where it asks for nothing that could be left out."""
    looser = matcher.model_copy(update=dict(_LOOSENED[matcher.form]))
    return None if looser == matcher else looser


def _rubrics(rubric: Rubric) -> Iterator[tuple[str, Rubric]]:
    for index, criterion in enumerate(rubric.criteria):
        rest = (rubric.criteria[:index], rubric.criteria[index + 1 :])
        if len(rubric.criteria) > 1:
            yield f"{criterion.id} dropped", rubric.model_copy(update={"criteria": (*rest[0], *rest[1])})
        for name, changed in _criteria(criterion):
            criteria = (*rest[0], changed, *rest[1])
            yield f"{criterion.id} {name}", rubric.model_copy(update={"criteria": criteria})
    if len(rubric.criteria) > 1 and rubric.claim != "any":
        yield "any criterion will do", rubric.model_copy(update={"claim": "any", "partial_value": None})
    if rubric.claim == "weighted" or any(len(criterion.parts) > 1 for criterion in rubric.criteria):
        least = Thresholds.model_validate({"pass": _LEAST_SHARE})
        yield "any share will do", rubric.model_copy(update={"thresholds": least})


def _criteria(criterion: Criterion) -> Iterator[tuple[str, Criterion]]:
    for index, part in enumerate(criterion.parts):
        place = "" if len(criterion.parts) == 1 else f"part {index} "
        rest = (criterion.parts[:index], criterion.parts[index + 1 :])
        if len(criterion.parts) > 1:
            yield f"{place}dropped", criterion.model_copy(update={"parts": (*rest[0], *rest[1])})
        for name, changed in _parts(part):
            yield f"{place}{name}", criterion.model_copy(update={"parts": (*rest[0], changed, *rest[1])})


def _parts(part: Part) -> Iterator[tuple[str, Part]]:
    if part.supports or part.refutes:
        sides = {"supports": part.refutes, "refutes": part.supports, "absence": False}
        yield "turned round", part.model_copy(update=sides)
    if part.absence:
        yield "without its absence", part.model_copy(update={"absence": False})
    if part.asserts is not None:
        yield "without its assertion", part.model_copy(update={"asserts": None, "when_asserted": False})
        looser = _looser(part.asserts)
        if looser is not None:
            yield "by any assertion", part.model_copy(update={"asserts": looser})
    if part.when_asserted:
        yield "though nothing was asserted", part.model_copy(update={"when_asserted": False})
    for side in ("supports", "refutes"):
        for name, facts in _facts(getattr(part, side)):
            yield name, part.model_copy(update={side: facts})


def _facts(facts: tuple[Fact, ...]) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    for index, fact in enumerate(facts):
        looser = None if isinstance(fact, str) else _looser(fact)
        if looser is not None:
            yield f"{looser.form} loosened", (*facts[:index], looser, *facts[index + 1 :])
