"""Which doubles make sense for which members of a group, and why each of the others does not.

Owns that question for `oyer qualify`. Must never leave a double out without a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oyer.adjudicate import QUALIFYING
from oyer.engine import scripts_of
from oyer.errors import OyerError, Problem, UsageError
from oyer.records import Case, nearest
from oyer.subjects import check_subject

__all__ = ["applicable", "require_shown", "senseless", "together"]


def require_shown(wanted: Iterable[str], cases: Iterable[Case]) -> None:
    """Refuse a double by a name that none of these cases is shown. Raises: UsageError `E-DOUBLE-UNKNOWN`."""
    known = (*QUALIFYING, *dict.fromkeys(name for case in cases for name in _variants(case)))
    problems = []
    for name in (name for name in wanted if name not in known):
        close = nearest(name, known)
        hint = (f"did you mean {close}? " if close else "") + f"one of {', '.join(known)}"
        problems.append(Problem("E-DOUBLE-UNKNOWN", f"no case here is shown a double {name!r}", "--double", hint))
    if problems:
        raise UsageError.of(problems)


def applicable(case: Case, wanted: Sequence[str] = ()) -> tuple[list[str], dict[str, str]]:
    """Return the doubles that make sense for a case, and why each of the others does not.

    A script of a case's own is for that case alone.
    """
    able: list[str] = []
    why: dict[str, str] = {}
    for double in (*QUALIFYING, *_variants(case)):
        if wanted and double not in wanted:
            continue
        try:
            check_subject(f"scripted:{double}", scripts=scripts_of(case))
        except OyerError as error:
            told = error.problems[0].message
            why[double] = told.removeprefix(f"scripted:{double} is not applicable here: ")
        else:
            able.append(double)
    return able, why


def together(cases: Sequence[Case], wanted: Sequence[str] = ()) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Return the same for each of the cases that are qualified together, by id.

    One that yields in a round plays its controls too; where nothing presses it would only be one more that is proper.
    """
    found = {case.id: applicable(case, wanted) for case in cases}
    if any(case.pressure is not None for case in cases):
        return found
    for able, why in found.values():
        for double in [name for name in (*able, *why) if name.startswith("yields-at:")]:
            why[double] = "it answers rounds of pressure, and nothing here has any"
            able[:] = [name for name in able if name != double]
    return found


def senseless(found: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Join what is not applicable to each member: once where it is so for all alike, else as `double on case`."""
    joined: dict[str, str] = {}
    for double in dict.fromkeys(name for reasons in found.values() for name in reasons):
        told = {case: reasons[double] for case, reasons in found.items() if double in reasons}
        if len(told) == len(found) and len(set(told.values())) == 1:
            joined[double] = next(iter(told.values()))
        else:
            joined |= {f"{double} on {case}": why for case, why in told.items()}
    return joined


def _variants(case: Case) -> tuple[str, ...]:
    return () if case.doubles is None else tuple(f"variant:{name}" for name in case.doubles.variants)
