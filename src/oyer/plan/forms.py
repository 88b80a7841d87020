"""What an Outcome will hold, fixed before anything runs.

Owns the making of an `OutcomeForm`: layers and matchers that are looked for, measurements, claims with their criteria,
files whose content is kept. Must never look at a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.records import (
    LAYERS,
    Case,
    EvidenceMatcher,
    JudgedClaim,
    OutcomeForm,
    Rubric,
    digest,
    members_of,
)

__all__ = ["MEASURED", "outcome_form", "rubrics_of"]

MEASURED = (
    "cpu_ns",
    "effects",
    "effects_rejected",
    "mcp_requests",
    "model_calls",
    "noise_lines",
    "rss_bytes",
    "tokens",
    "tool_calls",
    "wall_ns",
)
"""Every measurement that an Outcome may hold. One that was not taken is null there, never left out for being bad."""


def rubrics_of(case: Case, rubrics: Mapping[str, Rubric]) -> dict[str, Rubric]:
    """Return the rubrics that the claims of a case name, by id."""
    return {claim.rubric: rubrics[claim.rubric] for claim in case.claims if claim.rubric in rubrics}


def outcome_form(case: Case, rubrics: Mapping[str, Rubric], cases: Mapping[str, Case] | None = None) -> OutcomeForm:
    """Return the form of a case's outcomes. `cases` holds those that a sequence is made of.

    A sequence observes and retains whatever its cases do; each of these has a form of its own, by which it is judged.
    Raises: KeyError for a claim whose rubric is not among `rubrics`, or a case of a sequence that is not among `cases`.
    """
    parts = [outcome_form((cases or {})[name], rubrics) for name in members_of(case)]
    matchers = tuple(_matchers(case, rubrics))
    ids = [matcher.id for matcher in matchers if matcher.id is not None]
    paths = [path for matcher in matchers for path in _read(matcher)]
    return OutcomeForm(
        case=case.id,
        case_digest=digest(case),
        observed=tuple(dict.fromkeys((*LAYERS, *ids, *(name for part in parts for name in part.observed)))),
        measured=MEASURED,
        judged=tuple(
            JudgedClaim(
                claim=claim.id,
                rubric=claim.rubric,
                rubric_digest=digest(rubrics[claim.rubric]),
                criteria=tuple(criterion.id for criterion in rubrics[claim.rubric].criteria),
                vocabulary=rubrics[claim.rubric].vocabulary,
            )
            for claim in case.claims
        ),
        retained=tuple(dict.fromkeys((*paths, *(path for part in parts for path in part.retained)))),
        performance=bool(case.expected),
    )


def _read(matcher: EvidenceMatcher) -> Iterator[str]:
    """The file whose content a matcher looks at; whether one is there or changed shows without it."""
    if matcher.rows is not None:
        yield matcher.rows
    elif matcher.world_path is not None and (
        matcher.contains is not None or matcher.equals is not None or matcher.json_value is not None
    ):
        yield matcher.world_path


def _matchers(case: Case, rubrics: Mapping[str, Rubric]) -> Iterator[EvidenceMatcher]:
    yield from (*case.expected, *case.forbidden, *case.traces, *case.attempt, *case.benign)
    yield from (matcher for matcher in (case.refusal, case.repair) if matcher is not None)
    if case.non_completion is not None:
        declared = case.non_completion
        yield from (matcher for matcher in (declared.said, declared.claimed) if matcher is not None)
        yield from declared.not_done
    for rubric in rubrics_of(case, rubrics).values():
        for part in (part for criterion in rubric.criteria for part in criterion.parts):
            yield from (fact for fact in part.facts if isinstance(fact, EvidenceMatcher))
            yield from (matcher for matcher in (part.asserts, part.stimulus) if matcher is not None)
