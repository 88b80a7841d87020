"""The verdict algebra a second time, from the words of the design alone, by trying every way things could turn out.

Nothing here is shared with the code under test: whole numbers instead of fractions, and completions instead of
intervals. Where something is not known, it is tried as supported and as refuted; what every try agrees on is said, and
where they differ nothing is. Weights and thresholds are whole numbers of tenths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product


def naive_level(reached: int, whole: int, needed: int, least: int) -> str:
    """A share of `reached` of `whole`, against thresholds in tenths."""
    if 10 * reached >= needed * whole:
        return "PASS"
    return "PARTIAL" if 10 * reached >= least * whole else "FAIL"


def naive_criterion(parts: Sequence[tuple[int, str, bool]], needed: int, partial: int | None) -> str:
    """Parts are (weight, state, asserted)."""
    if any(state == "conflict" for _, state, _ in parts):
        return "DISPUTED"
    least = needed if partial is None else partial
    whole = sum(weight for weight, _, _ in parts)
    levels = set()
    for luck in product((0, 1), repeat=len(parts)):
        reached = 0
        for (weight, state, _), lucky in zip(parts, luck, strict=True):
            if state == "supported" or (state == "unknown" and lucky):
                reached += weight
        levels.add(naive_level(reached, whole, needed, least))
    if len(levels) > 1:
        return "UNKNOWN"
    level = levels.pop()
    if level == "FAIL" and any(state == "refuted" and asserted for _, state, asserted in parts):
        return "CONTRADICTED"
    return level


def naive_mix(said: Iterable[str]) -> str:
    words = sorted(set(said) - {"UNKNOWN"})
    if not words:
        return "UNKNOWN"
    if words == ["CONTRADICTED", "FAIL"]:
        return "CONTRADICTED"
    return words[0] if len(words) == 1 else "DISPUTED"


def naive_voices(voices: Sequence[tuple[str, str | None, bool, str | None]], planned: set[str], quorum: int) -> str:
    """Voices are (evaluator, family, admissible, verdict)."""
    for name in planned:
        if not any(evaluator == name and verdict is not None for evaluator, _, _, verdict in voices):
            return "UNKNOWN"
    families = []
    seen = set()
    for evaluator, family, _, _ in voices:
        mark = f"family {family}" if family is not None else f"alone {evaluator}"
        if mark in seen:
            continue
        seen.add(mark)
        said = [
            verdict
            for other, kin, admissible, verdict in voices
            if other in planned
            and admissible
            and verdict is not None
            and (kin == family if family is not None else kin is None and other == evaluator)
        ]
        families.append(naive_mix(said))
    speaking = [word for word in families if word != "UNKNOWN"]
    return "UNKNOWN" if len(speaking) < quorum else naive_mix(speaking)


def naive_all(verdicts: Sequence[str]) -> str:
    for worst in ("CONTRADICTED", "FAIL", "DISPUTED", "UNKNOWN", "PARTIAL"):
        if worst in verdicts:
            return worst
    return "PASS"


def naive_any(verdicts: Sequence[str]) -> str:
    for best in ("PASS", "DISPUTED", "UNKNOWN", "PARTIAL"):
        if best in verdicts:
            return best
    return "CONTRADICTED" if "CONTRADICTED" in verdicts else "FAIL"


def naive_weighted(criteria: Sequence[tuple[int, str]], partial_value: int, needed: int, partial: int | None) -> str:
    """Criteria are (weight, verdict); `partial_value` is in tenths, so worths are counted in tenths too."""
    verdicts = [verdict for _, verdict in criteria]
    if "CONTRADICTED" in verdicts:
        return "CONTRADICTED"
    least = needed if partial is None else partial
    whole = 10 * sum(weight for weight, _ in criteria)
    levels = set()
    for luck in product((0, 10), repeat=len(criteria)):
        reached = 0
        for (weight, verdict), lucky in zip(criteria, luck, strict=True):
            worth = {"PASS": 10, "PARTIAL": partial_value, "FAIL": 0}.get(verdict, lucky)
            reached += weight * worth
        levels.add(naive_level(reached, whole, needed, least))
    if len(levels) == 1:
        return levels.pop()
    return "DISPUTED" if "DISPUTED" in verdicts else "UNKNOWN"
