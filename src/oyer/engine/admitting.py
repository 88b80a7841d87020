"""What may happen here at all: refused before anything runs, and a fault where it happens all the same.

Owns the comparison of a case, and of what an attempt left behind, with what the Environment admits. Must never let an
effect pass because its case declared it: whoever admits is not whoever writes cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from oyer.errors import Problem, UsageError
from oyer.records import Admits, Case, EffectClass, digest, plain

__all__ = ["NOT_ADMITTED", "payload_of", "require_admitted", "seen_beyond"]

NOT_ADMITTED = "effect_not_admitted"
"""The class of the fault of an effect that the Environment does not admit."""

OUTWARD: frozenset[EffectClass] = frozenset({"external_write", "destructive"})
INWARD: frozenset[EffectClass] = frozenset({"local_write", "destructive"})


def require_admitted(admits: Admits | None, cases: Sequence[Case]) -> None:
    """Refuse every case that could do more than is admitted.

    Raises: UsageError `E-ADMITS-CLASS`, `E-ADMITS-PAYLOAD`, all cases at once.
    """
    problems = [problem for case in cases for problem in _beyond(admits, case)] if admits is not None else []
    if problems:
        raise UsageError.of(problems)


def _beyond(admits: Admits, case: Case) -> Iterator[Problem]:
    hint = f"what may happen here was declared by {admits.by}"
    if case.effect_class not in admits.effect_classes:
        told = f"its effect class is {case.effect_class}, and only {', '.join(admits.effect_classes)} are admitted"
        yield Problem("E-ADMITS-CLASS", told, f"case {case.id}", hint)
    payload = payload_of(case)
    if admits.payload_digests and payload is not None and payload not in admits.payload_digests:
        told = f"what its intervention brings in is {payload}, which is not admitted"
        yield Problem("E-ADMITS-PAYLOAD", told, f"case {case.id}", hint)


def payload_of(case: Case) -> str | None:
    """Return the digest of what a case brings in by its intervention: the change itself, wherever it is made."""
    change = case.intervention
    return None if change is None else digest(plain(getattr(change, change.kind)))


def seen_beyond(admits: Admits | None, *, world_changed: bool, effects: Mapping[str, int]) -> Iterator[str]:
    """Yield what an attempt did that is not admitted: a world that was written, effects in sinks outside of it."""
    if admits is None:
        return
    admitted = frozenset(admits.effect_classes)
    if world_changed and not admitted & (INWARD | OUTWARD):
        yield "files of the world were written, and nothing that writes is admitted"
    for sink, count in effects.items():
        if count and not admitted & OUTWARD:
            yield f"sink {sink} recorded {count} effects, and no effect outside is admitted"
