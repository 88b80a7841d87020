"""What a series says something about, and what each planned repetition came to: one word, or none and why.

Owns which cases may be taken together: those that were asked the same, by the same rubric, of the same kind. Must never
leave a planned repetition out. Whether a case is qualified bars gates, and changes no count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast, get_args

from oyer.adjudicate.gate_tree import UNDECIDED_WORDS, Kind, Operand
from oyer.adjudicate.gate_values import GateInput, instances
from oyer.adjudicate.sets import speaking
from oyer.records import Case, Comparison, MatchedSet, Outcome, PlannedTrial

__all__ = ["Asked", "Pressing", "Said", "asked_of", "by_case", "counted_words", "said_of"]


Pressing = Literal["survived", "held", "first_break", "recovery", "truthful_non_completion"]
"""What is asked of traps under pressure where two series are compared; no gate asks it."""


class Asked(NamedTuple):
    """One thing that is counted: what it is about as a gate says it, and the word whose rate is told.

    `together` names what it may be taken together with over cases; `more_is_better` is false where the word is harm.
    """

    kind: Kind | Pressing
    case: str
    claim: str
    word: str
    about: str
    together: str

    @property
    def more_is_better(self) -> bool:
        """Whether a higher rate of the word speaks for the subject."""
        return self.kind != "mechanical_outcome"


class Said(NamedTuple):
    """What one planned repetition came to; `first` is whether every trial it rests on had one attempt."""

    repetition: int
    word: str | None
    why: str
    first: bool


def asked_of(given: GateInput, cases: Mapping[str, Case]) -> Iterator[Asked]:
    """Yield everything that a series counts, in the order of the plan."""
    traps = {one.trap for one in given.sets}
    for planned in given.plan.cases:
        yield from _of_case(cases[planned.id], given.plan.rubrics, planned.id in traps)


def _of_case(case: Case, rubrics: Mapping[str, str], is_trap: bool) -> Iterator[Asked]:
    kind = case.kind.replace("_", " ")
    if case.is_experiment:
        about = f"mechanical_outcome({case.id})"
        yield Asked("mechanical_outcome", case.id, "", "CONFIRMED", about, "CONFIRMED of experiments")
    for claim in case.claims:
        if claim.rubric in rubrics:
            together = f"PASS of {claim.id} (rubric {claim.rubric}) in cases of kind {kind}"
            yield Asked("verdict", case.id, claim.id, "PASS", f"verdict({case.id}, {claim.id})", together)
    if case.expected:
        together = f"completed in cases of kind {kind}"
        yield Asked("performed", case.id, "", "completed", f"performed({case.id})", together)
    if is_trap:
        yield Asked("set", case.id, "", "DISCRIMINATES", f"set({case.id})", "DISCRIMINATES of matched sets")


def by_case(given: GateInput) -> dict[str, GateInput]:
    """Return what a series shows of each case by itself, so that `said_of` need not look through all of it.

    A set keeps the comparisons of its members.
    """
    trials: dict[str, list[PlannedTrial]] = {case.id: [] for case in given.plan.cases}
    for trial in given.plan.trials:
        trials[trial.case].append(trial)
    compared: dict[str, list[Comparison]] = {}
    for comparison in given.comparisons:
        compared.setdefault(comparison.case, []).append(comparison)
    sets: dict[str, list[MatchedSet]] = {}
    for one in given.sets:
        sets.setdefault(one.trap, []).append(one)
    found: dict[str, GateInput] = {}
    for case, planned in trials.items():
        members = dict.fromkeys((case, *(member.case for one in sets.get(case, ()) for member in one.members)))
        found[case] = given._replace(
            plan=given.plan.model_copy(update={"trials": tuple(planned)}),
            comparisons=tuple(one for name in members for one in compared.get(name, ())),
            sets=tuple(sets.get(case, ())),
        )
    return found


def said_of(given: GateInput, asked: Asked, subject: str) -> tuple[Said, ...]:
    """Return what each planned repetition of a subject came to, in order; empty where none is planned.

    Raises: ValueError for what is asked of pressure.
    """
    everyone = given._replace(qualified={one.id for one in given.plan.cases})
    planned: dict[int, list[Outcome]] = {}
    for trial in given.plan.trials:
        if (trial.case, trial.subject) == (asked.case, subject):
            told = planned.setdefault(trial.repetition, [])
            told += [given.outcomes[trial.trial]] if trial.trial in given.outcomes else []
    if asked.kind in get_args(Pressing):
        raise ValueError(f"{asked.about} is asked of pressure: see pressure_said")
    if asked.kind == "mechanical_outcome":
        words = _outcomes(given, asked.case, subject, planned)
    else:
        operand = Operand(cast("Kind", asked.kind), asked.case, asked.claim, "", None, 1, asked.about)
        words = list(instances(everyone, operand, subject))
    members = _members(given, asked, subject)
    return tuple(
        Said(number, word, why, all(one.attempts == 1 for one in _resting(asked, planned[number], members.get(number))))
        for number, (word, why) in zip(sorted(planned), words, strict=True)
    )


def counted_words(said: Sequence[Said], word: str, *, first: bool = False) -> tuple[int, int, int]:
    """Return how many came to a word, how many to any, and how many to none.

    With `first` what took more than one attempt counts as undecided: its first attempt came to nothing.
    """
    told = [one for one in said if one.word is not None and (one.first or not first)]
    return sum(one.word == word for one in told), len(told), len(said) - len(told)


def _outcomes(given: GateInput, case: str, subject: str, planned: Collection[int]) -> list[tuple[str | None, str]]:
    """The distribution of mechanical outcomes as it is: what bars a single CONFIRMED from being cited bars no count."""
    found = {one.repetition: one for one in given.comparisons if (one.case, one.subject) == (case, subject)}
    words: list[tuple[str | None, str]] = []
    for number in sorted(planned):
        word = found[number].primary.mechanical_outcome if number in found else "not_run"
        words.append((None, word) if word in UNDECIDED_WORDS or word == "not_run" else (word, ""))
    return words


def _members(given: GateInput, asked: Asked, subject: str) -> dict[int, list[Outcome]]:
    if asked.kind != "set":
        return {}
    found: dict[int, list[Outcome]] = {}
    for one in given.sets:
        if (one.trap, one.subject) == (asked.case, subject):
            names = [name for member in one.members for name in member.trials]
            found[one.repetition] = [given.outcomes[name] for name in names if name in given.outcomes]
    return found


def _resting(asked: Asked, told: Sequence[Outcome], members: Sequence[Outcome] | None) -> Sequence[Outcome]:
    """The trials that a repetition's word rests on."""
    if members is not None:
        return members
    if asked.kind == "mechanical_outcome":
        return told
    one = speaking(told)
    return () if one is None else (one,)
