"""How a plug-in says who it is and what it found.

Owns the decorator and the four answers. An answer without evidence is no answer: `supported`, `refuted` and `conflict`
take what shows it; `unknown` takes why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

from oyer.evaluators.evidence import Evidence
from oyer.records import PartState, Rank

__all__ = ["MARK", "Declared", "Opinion", "Shown", "conflict", "evaluator", "refuted", "supported", "unknown"]

MARK = "__oyer_evaluator__"
"""The attribute by which a loaded file's evaluators are found."""


class Shown(Protocol):
    """Something from evidence that knows which sealed events show it."""

    @property
    def refs(self) -> tuple[str, ...]:
        """References to events."""
        ...


class Opinion(NamedTuple):
    """What an evaluator makes of one fact in one trial."""

    state: PartState
    refs: tuple[str, ...] = ()
    why: str = ""


class Declared(NamedTuple):
    """An evaluator as its file declares it."""

    id: str
    revision: int
    needs: Rank | None
    family: str | None
    limits: tuple[str, ...]
    judge: Judging


Judging = Callable[[Evidence], Opinion]
F = TypeVar("F", bound=Judging)


def evaluator(
    *,
    id: str,  # noqa: A002 - the word of the record
    revision: int = 1,
    needs: Rank | None = None,
    family: str | None = None,
    limits: Iterable[str] = (),
) -> Callable[[F], F]:
    """Declare a function as an evaluator. `needs` is the lowest rank of evidence on which it may decide."""

    def declare(judge: F) -> F:
        setattr(judge, MARK, Declared(id, revision, needs, family, tuple(limits), judge))
        return judge

    return declare


def supported(*shown: Any) -> Opinion:
    """The fact holds, as these show: calls, effects, files, tables, references, or lists of them."""
    return Opinion("supported", tuple(_refs(shown)))


def refuted(*shown: Any) -> Opinion:
    """The fact does not hold, as these show."""
    return Opinion("refuted", tuple(_refs(shown)))


def conflict(*shown: Any) -> Opinion:
    """Witnesses contradict each other, as these show."""
    return Opinion("conflict", tuple(_refs(shown)))


def unknown(why: str) -> Opinion:
    """Nothing shows whether the fact holds."""
    return Opinion("unknown", (), why)


def _refs(shown: Iterable[Any]) -> Iterable[str]:
    for one in shown:
        if isinstance(one, str):
            yield one
        elif hasattr(one, "refs"):
            yield from one.refs
        elif isinstance(one, list | tuple):
            yield from _refs(one)
        else:
            raise TypeError(f"{type(one).__name__} is no evidence: give what Evidence returned, or references")
