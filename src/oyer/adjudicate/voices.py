"""Several evaluators of one criterion: whose word counts, and what their words come to together.

Owns admissibility's effect, families and the quorum. Must never hide that evaluators disagree: a mix is DISPUTED, and
nobody's abstention is counted for anybody.

Source: the scoring design, "Verdicts"; decision 022.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from oyer.adjudicate.verdict_reasons import verdict_reason
from oyer.records import Verdict

__all__ = ["Merged", "Voice", "merge_voices"]


class Voice(NamedTuple):
    """What one evaluator says of one criterion; None where it was to judge and could not.

    `family` joins dependent evaluators; an evaluator without one is a family of its own.
    """

    evaluator: str
    family: str | None
    admissible: bool
    verdict: Verdict | None


class Merged(NamedTuple):
    """What the voices come to, and what stands in the way of more."""

    verdict: Verdict
    reasons: tuple[str, ...]


def merge_voices(voices: Iterable[Voice], planned: Collection[str], quorum: int = 1) -> Merged:
    """Return the verdict of all planned evaluators together. The order of the voices does not matter."""
    told = sorted(voices, key=lambda voice: (voice.evaluator, voice.verdict or ""))
    judged = {voice.evaluator for voice in told if voice.verdict is not None}
    missing = sorted(set(planned) - judged)
    reasons = [verdict_reason("EVALUATOR_MISSING", name) for name in missing]
    strangers = sorted({voice.evaluator for voice in told} - set(planned))
    reasons += [verdict_reason("EVALUATOR_UNPLANNED", name) for name in strangers]
    heard = [voice for voice in told if voice.evaluator in planned]
    barred = sorted({voice.evaluator for voice in heard if not voice.admissible})
    reasons += [verdict_reason("EVALUATOR_INADMISSIBLE", name) for name in barred]
    spoken, split = _families([voice for voice in heard if voice.admissible])
    reasons += [verdict_reason("FAMILY_SPLIT", name) for name in split]
    verdict = _together(spoken)
    if verdict == "DISPUTED" and len(set(spoken)) > 1:
        reasons.append(verdict_reason("VOICES_DIFFER"))
    if quorum > 1 and len(spoken) < quorum and not missing:
        reasons.append(verdict_reason("QUORUM_NOT_REACHED", f"{len(spoken)} of {quorum}"))
    return Merged("UNKNOWN" if missing or len(spoken) < quorum else verdict, tuple(reasons))


def _families(voices: Sequence[Voice]) -> tuple[list[Verdict], list[str]]:
    """Return one verdict for each family that says something, and the names of families that are split."""
    members: dict[tuple[bool, str], list[Verdict]] = {}
    for voice in voices:
        if voice.verdict not in (None, "UNKNOWN"):
            key = (voice.family is not None, voice.family or voice.evaluator)
            members.setdefault(key, []).append(voice.verdict)
    merged = {key: _together(said) for key, said in members.items()}
    split = [name for (_, name), said in members.items() if _together(said) == "DISPUTED" and len(set(said)) > 1]
    return list(merged.values()), sorted(split)


def _together(said: Collection[Verdict]) -> Verdict:
    """Agreement stands, FAIL with CONTRADICTED is the sharper of the two, and any other mix is disputed."""
    different = set(said)
    if len(different) == 1:
        return next(iter(different))
    if not different:
        return "UNKNOWN"
    return "CONTRADICTED" if different == {"FAIL", "CONTRADICTED"} else "DISPUTED"
