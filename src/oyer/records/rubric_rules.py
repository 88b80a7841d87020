"""Rules between a claim of a case and the rubric that judges it: whatever is asked can be decided by somebody.

Pure: records in, every breach out, each with its path in the case or in the rubric. Run after strict validation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from oyer.records.case import Case
from oyer.records.case_rules import Breach, matcher_breaches
from oyer.records.drawn import DRAWN, drawn_in, drawn_names
from oyer.records.evaluator import BUILT_IN_EVALUATOR
from oyer.records.matchers import EvidenceMatcher
from oyer.records.rubric import Criterion, Fact, Part, Rubric
from oyer.records.source_text import nearest

__all__ = ["facts_of", "rubric_breaches", "rubric_flaws"]

_CODE = "E-RUBRIC-UNDECIDABLE"


def facts_of(case: Case, facts: Collection[Fact]) -> tuple[EvidenceMatcher, ...]:
    """Return the matchers that facts name or write out. Raises: KeyError for an id that the case does not declare."""
    declared = _declared(case)
    return tuple(declared[fact] if isinstance(fact, str) else fact for fact in facts)


def _declared(case: Case) -> dict[str, EvidenceMatcher]:
    return {m.id: m for m in (*case.expected, *case.forbidden, *case.traces) if m.id is not None}


def rubric_flaws(rubric: Rubric, evaluators: Collection[str] = ()) -> Iterator[Breach]:
    """Yield what is wrong with a rubric whatever it judges: evaluators nobody declared, ranks nobody offers."""
    known = {BUILT_IN_EVALUATOR, *evaluators}
    for number, criterion in enumerate(rubric.criteria):
        for index, name in enumerate(criterion.evaluators):
            if name not in known:
                yield _unknown(("criteria", number, "evaluators", index), name, known)
        for index, part in enumerate(criterion.parts):
            if part.evaluator is not None and part.evaluator not in known:
                yield _unknown(("criteria", number, "parts", index, "evaluator"), part.evaluator, known)


def _unknown(path: tuple[str | int, ...], name: str, known: set[str]) -> Breach:
    close = nearest(name, sorted(known))
    hint = f"did you mean {close}?" if close else "declare an Evaluator@1, or load its plug-in with --plugin"
    return Breach(path, "E-EVALUATOR-UNKNOWN", f"no evaluator {name!r} is declared or loaded", hint)


def rubric_breaches(case: Case, rubric: Rubric) -> Iterator[Breach]:
    """Yield every part of a rubric that can never be decided for a case; paths are the rubric's."""
    for number, criterion in enumerate(rubric.criteria):
        for index, part in enumerate(criterion.parts):
            yield from _part(case, criterion, part, ("criteria", number, "parts", index))


def _part(case: Case, criterion: Criterion, part: Part, place: tuple[str | int, ...]) -> Iterator[Breach]:
    side = "supports" if part.supports else "refutes"
    declared = _declared(case)
    ranks: set[str] = set()
    for index, fact in enumerate(part.facts):
        path = (*place, side, index)
        if isinstance(fact, str) and fact not in declared:
            told = f"case {case.id} declares no matcher {fact!r} under expected, forbidden or traces"
            close = nearest(fact, sorted(declared))
            hint = f"did you mean {close}?" if close else f"there is {', '.join(sorted(declared)) or 'none'}"
            yield Breach(path, _CODE, told, hint)
            continue
        matcher = declared[fact] if isinstance(fact, str) else fact
        ranks.add(matcher.rank)
        if not isinstance(fact, str):
            yield from matcher_breaches(case, matcher, path)
            yield from _undrawn(case, matcher, path)
    for name in ("asserts", "stimulus"):
        inner = getattr(part, name)
        if inner is not None:
            yield from matcher_breaches(case, inner, (*place, name))
            yield from _undrawn(case, inner, (*place, name))
    if part.asserts is not None and case.channel is not None and part.asserts.called != case.channel:
        told = f"an assertion is read from the declared channel, {case.channel.server}.{case.channel.tool}"
        yield Breach((*place, "asserts"), _CODE, told)
    if part.decided_by is not None and ranks and part.decided_by not in ranks:
        told = (
            f"criterion {criterion.id} is to be decided by {part.decided_by}, and none of its witnesses has that rank"
        )
        yield Breach((*place, "decided_by"), _CODE, told, f"its witnesses have rank {', '.join(sorted(ranks))}")


def _undrawn(case: Case, matcher: EvidenceMatcher, path: tuple[str | int, ...]) -> Iterator[Breach]:
    """Yield every value that a rubric looks for and that no run of the case draws: it could never be filled in."""
    texts = [getattr(matcher, name) for name in type(matcher).model_fields]
    drawn = drawn_names(case)
    for name in drawn_in([text for text in texts if isinstance(text, str | list | tuple | Mapping)]):
        if name not in drawn:
            told = f"{{{DRAWN}.{name}}} stands in the rubric alone: case {case.id} draws no such value"
            close = nearest(name, drawn)
            yield Breach(path, "E-PLACEHOLDER", told, f"did you mean {close}?" if close else "name it in the case too")
