"""Recorded results beside derived ones: which are the same bytes, which differ, which are missing or left out.

Owns the comparison. Must never read a recorded result before its own is derived, and never excuse one that differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from oyer.errors import OyerError, Problem
from oyer.records import parse_canonical
from oyer.verify.result import WITHHELD
from oyer.verify.survey import Survey, read_part

__all__ = ["Comparing", "Derivation", "nothing_derived"]


class Derivation(NamedTuple):
    """What came of deriving a series again, by path of the derived file.

    `equal` were recorded byte for byte the same; `differing` hold why not; `missing` were not recorded. `undecided`
    holds what could not be derived, and why; `withheld` were left out of a bundle. `complete` says whether every
    planned repetition could be derived. `relied` are the recorded judgements that results rest on and that were not
    made again; `unfounded` holds what is wrong with recorded judgements, derived again or not.
    """

    equal: frozenset[str] = frozenset()
    differing: Mapping[str, Problem] = {}
    missing: frozenset[str] = frozenset()
    undecided: tuple[Problem, ...] = ()
    complete: bool = True
    withheld: frozenset[str] = frozenset()
    relied: frozenset[str] = frozenset()
    unfounded: Mapping[str, Problem] = {}

    @property
    def expected(self) -> frozenset[str]:
        """Every path that evidence and plan give."""
        return self.equal | frozenset(self.differing) | self.missing | self.withheld


class Comparing:
    """Collects how recorded files compare with derived ones; what is told of a place later replaces what was told."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._equal: set[str] = set()
        self._missing: set[str] = set()
        self._undecided: dict[str, Problem] = {}
        self._differing: dict[str, Problem] = {}
        self._withheld: dict[str, Problem] = {}
        self._late: set[str] = set()
        self._relied: set[str] = set()
        self._unfounded: dict[str, Problem] = {}

    def relies(self, paths: Iterable[str]) -> None:
        """Note the recorded judgements that what was derived rests on."""
        self._relied |= set(paths)

    def unfounded(self, path: str, why: Problem) -> None:
        """Note what is wrong with a recorded judgement."""
        self._unfounded[path] = why

    def undecided(self, place: str, why: Problem) -> None:
        """Note that what stands at a place could not be derived."""
        self._undecided[place] = why

    def compare(self, files: Mapping[str, bytes]) -> None:
        """Compare derived files with the recorded ones."""
        for path, data in files.items():
            for known in (self._equal, self._missing, self._late):
                known.discard(path)
            self._differing.pop(path, None)
            self._one(path, data)

    def _one(self, path: str, data: bytes) -> None:
        problems: dict[str, tuple[Problem, ...]] = {}
        stored = read_part(self._survey.reader.read, path, problems) if path in self._survey.parts else None
        if stored == data:
            self._equal.add(path)
        elif stored is not None:
            self._differing[path] = Problem("E-DERIVED-DIFFERS", _difference(stored, data), path)
            if b'"LATE_EFFECT"' in stored:
                self._late.add(path)
        elif problems and problems[path][0].code == WITHHELD:
            self._withheld[path] = problems[path][0]
        else:
            self._missing.add(path)

    def result(self, *, all_named: bool) -> Derivation:
        """Return what came of it. `all_named` says that every attempt could be asked which runs it names."""
        # Where one could not, an effect that counts against a run may have been rejected there.
        unsure = set() if all_named else self._late
        withheld = self._withheld | {
            path: Problem(WITHHELD, "it may rest on a trial that was withheld", path) for path in sorted(unsure)
        }
        undecided = (*self._undecided.values(), *withheld.values())
        return Derivation(
            equal=frozenset(self._equal),
            differing={path: problem for path, problem in self._differing.items() if path not in unsure},
            missing=frozenset(self._missing),
            undecided=undecided,
            complete=not undecided,
            withheld=frozenset(withheld),
            relied=frozenset(self._relied),
            unfounded=self._unfounded,
        )


def nothing_derived(why: str, where: str) -> Derivation:
    """Return the derivation of a series of which nothing can be derived."""
    return Derivation(undecided=(Problem("E-VERIFY-UNREAD", why, where),), complete=False)


def _difference(recorded: bytes, derived: bytes) -> str:
    """Say in which fields a recorded result differs from the one that the evidence gives."""
    try:
        mine, yours = parse_canonical(recorded), parse_canonical(derived)
    except OyerError:
        return "it is no canonical record, and not what the evidence gives"
    if not isinstance(mine, dict) or not isinstance(yours, dict):
        return "it is no record, and not what the evidence gives"
    names = sorted(name for name in {*mine, *yours} if mine.get(name, ...) != yours.get(name, ...))
    return f"not what the evidence gives: {', '.join(names[:8])} differ" if names else "not what the evidence gives"
