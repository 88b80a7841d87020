"""Judgements that were added to a finished series, for a person and as JSON: who judged, and what each part came to.

Owns that block. Must never let one look like a verdict: no outcome rests on any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from oyer.adjudicate import LaterJudgement
from oyer.records import plain
from oyer.report.page import Look, Page, fold, line, say
from oyer.report.verdicts import part_words

__all__ = ["later_value", "render_later"]

_DIGEST_SHOWN = 19
_TRIALS_SHOWN = 24


def later_value(one: LaterJudgement) -> dict[str, Any]:
    """Return a `Judgement@1` under its own field names, with the code and the revision of its evaluator."""
    by = one.evaluator
    return {
        **plain(one.judgement),
        "code": None if by is None else by.code,
        "revision": None if by is None else by.revision,
    }


def render_later(judgements: Iterable[LaterJudgement], look: Look) -> Page:
    """Lay out judgements, those of one evaluator under one rubric together, in the order in which they come."""
    page: Page = ()
    for _, found in groupby(judgements, _judged_by):
        alike = list(found)
        page += _head(alike[0], look)
        for one in alike[:_TRIALS_SHOWN]:
            page += _trial(one, look)
        if len(alike) > _TRIALS_SHOWN:
            page += (line("    ", say(f"and {len(alike) - _TRIALS_SHOWN} more (all with `oyer show --json`)", "dim")),)
    return page


def _judged_by(one: LaterJudgement) -> Sequence[str]:
    return one.judgement.evaluator, one.judgement.evaluator_digest, one.judgement.rubric


def _head(one: LaterJudgement, look: Look) -> Page:
    by = one.evaluator
    code = "its record is not retained" if by is None else (by.code or by.model or "")[:_DIGEST_SHOWN]
    told = [
        say("judged beside the plan", "strong"),
        say(f" by {one.judgement.evaluator} ({code}) under {one.judgement.rubric}; "),
        say("no outcome rests on it", "dim"),
    ]
    return fold(told, look, indent="  ", hanging="    ")


def _trial(one: LaterJudgement, look: Look) -> Page:
    page: Page = (line("    ", say(one.judgement.trial, "dim")),)
    if one.judgement.error is not None:
        told = [say("it could not judge: ", "bad"), say(one.judgement.error, "bad")]
        return page + fold(told, look, indent="      ", hanging="        ")
    for part in one.judgement.parts:
        page += fold([say(f"{part.criterion} ", "dim"), *part_words(part)], look, indent="      ", hanging="        ")
    return page
