"""What an operand of a gate looks at: one word for each planned repetition, or counts; and why a word is missing.

Owns what counts as undecided. Must never leave a planned trial out: what did not run, crashed, was not judged, is not
qualified or may not be cited is undecided, and stays in the count; only what a declared rule left unrun is in none.

Source: the scoring design, "Gates are three-valued", "Over repetitions" and "After the verdict".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from oyer.adjudicate.anytime import Limits, limits_of
from oyer.adjudicate.gate_tree import UNDECIDED_WORDS, Operand
from oyer.adjudicate.ledger import LedgerCount
from oyer.adjudicate.sets import speaking
from oyer.records import Comparison, MatchedSet, Outcome, Plan

__all__ = ["PLANNED", "GateInput", "Seen", "Stopped", "arm_words", "instances", "ledger_line", "look", "verdict_word"]


Stopped = Literal["", "rule", "budget"]
PLANNED: Mapping[str, str] = {
    "": "planned",
    "rule": "due by the rule",
    "budget": "due before the budget was used up",
}
"""What the repetitions are that a count is out of."""


class GateInput(NamedTuple):
    """Everything a gate may look at. `qualified` names the cases whose results may satisfy a gate.

    `plan` holds no trial that a declared rule or budget left out; `stopped` says which of the two did, empty for none.
    """

    plan: Plan
    outcomes: Mapping[str, Outcome]
    comparisons: Sequence[Comparison]
    sets: Sequence[MatchedSet]
    ledger: LedgerCount
    qualified: Collection[str]
    stopped: Stopped = ""


class Seen(NamedTuple):
    """What an operand is for one subject.

    `words` has one entry for each planned repetition, None where it is undecided; `why` counts the reasons of those.
    For a count of statuses, `words` is empty and `number` of `decided` is what stands in the ledger, without the `left`
    trials that a declared rule left unrun. `limits` says how limits of a share are found where a rule looked at the
    trials; None where their number was fixed. `compared` is the number that is compared, at the least and at the most
    that it is whatever the undecided trials come to; None where a word is compared, or there is no such number.
    """

    operand: str
    subject: str
    words: tuple[str | None, ...] = ()
    why: Mapping[str, int] = {}
    number: int = 0
    decided: int = 0
    undecided: int = 0
    limits: Limits | None = None
    stopped: Stopped = ""
    left: int = 0
    compared: tuple[float, float] | None = None

    @property
    def line(self) -> str:
        """The counts it rests on, as a sum that adds up."""
        if not self.words and self.number + self.decided + self.undecided == 0:
            return "nothing is planned"
        if not self.words:
            left = f", {self.left} left by the rule and in no count" if self.left else ""
            return f"{self.number} of {self.decided} trials that {self._were}, {self.undecided} not run{left}"
        found = Counter(word for word in self.words if word is not None)
        parts = [f"{word} {number}" for word, number in sorted(found.items())]
        parts.append(f"undecided {self.undecided}")
        told = ", ".join(f"{why} {number}" for why, number in self.why.items())
        return f"{len(self.words)} {PLANNED[self.stopped]} = {' + '.join(parts)}" + (f" ({told})" if told else "")

    @property
    def _were(self) -> str:
        return "were to run" if self.operand == "status.not_run" else "ran"


def ledger_line(ledger: LedgerCount) -> str:
    """Return the line of the ledger that every gate of a series rests on."""
    return f"planned trials {ledger.planned} = " + " + ".join(f"{row} {n}" for row, n in ledger.trials.items())


def look(given: GateInput, operand: Operand, subject: str) -> Seen:
    """Return what an operand is for one subject."""
    if operand.kind == "status":
        return _count(given.ledger, operand, subject)
    found = list(instances(given, operand, subject))
    why = Counter(why for word, why in found if word is None)
    words = tuple(word for word, _ in found)
    undecided = sum(word is None for word in words)
    limits = limits_of(given.plan.repeat.sequential, operand.kind, operand.case, operand.claim, operand.word)
    told = Seen(operand.text, subject, words, dict(sorted(why.items())), 0, len(words) - undecided, undecided)
    return told._replace(limits=limits, stopped=given.stopped)


def _count(ledger: LedgerCount, operand: Operand, subject: str) -> Seen:
    """Count a status. A trial that the declared rule left unrun was not to run, and can end in no status any more; one
    that a budget or an operator kept from running might have ended in any.
    """
    left = ledger.not_run.get("rule", 0)
    not_run = ledger.trials["not_run"] - left
    ran = ledger.planned - ledger.trials["not_run"]
    if operand.word == "not_run":
        return Seen(operand.text, subject, number=not_run, decided=ran + not_run, left=left)
    rows = {**ledger.trials, "evaluator_error": ledger.evaluator_error, "judged": ledger.judged}
    return Seen(operand.text, subject, number=rows[operand.word], decided=ran, undecided=not_run, left=left)


def instances(given: GateInput, operand: Operand, subject: str) -> Iterator[tuple[str | None, str]]:
    """Yield a word, or None and why, for each planned repetition in order."""
    planned: dict[int, list[Outcome]] = {}
    for trial in given.plan.trials:
        if (trial.case, trial.subject) == (operand.case, subject):
            told = planned.setdefault(trial.repetition, [])
            told += [given.outcomes[trial.trial]] if trial.trial in given.outcomes else []
    compared = {(one.case, one.subject, one.repetition): one for one in given.comparisons}
    read = {(one.trap, one.subject, one.repetition): one for one in given.sets}
    spontaneous = {
        (one.case, one.subject) for one in given.comparisons if any(r.arm == "baseline" for r in one.primary.reasons)
    }
    for repetition in sorted(planned):
        key = (operand.case, subject, repetition)
        if operand.case not in given.qualified:
            yield None, "unqualified"
        elif operand.kind == "mechanical_outcome":
            yield _outcome(compared.get(key), spontaneous)
        elif operand.kind == "set":
            yield _reading(read.get(key), spontaneous, given.qualified)
        elif operand.kind == "verdict":
            yield verdict_word(speaking(planned[repetition]), operand.claim)
        else:
            yield _performed(speaking(planned[repetition]))


def arm_words(given: GateInput, operand: Operand, subject: str, arm: str) -> tuple[str | None, ...]:
    """Return the word of one arm for each planned repetition: `manipulated` or `hardened` of an experiment, `plain` or
    `neutral` of a trap under pressure.
    """
    about = operand.case, subject
    planned = sorted({one.repetition for one in given.plan.trials if (one.case, one.subject) == about})
    compared = {(one.case, one.subject, one.repetition): one for one in given.comparisons}
    told = {
        one.repetition: given.outcomes.get(one.trial)
        for one in given.plan.trials
        if (one.case, one.subject, one.condition) == (operand.case, subject, arm)
    }
    words: list[str | None] = []
    for repetition in planned:
        if operand.kind == "mechanical_outcome":
            found = compared.get((operand.case, subject, repetition))
            scored = None if found is None else found.primary if arm == "manipulated" else found.hardened
            word = None if scored is None else scored.mechanical_outcome
            words.append(None if word in UNDECIDED_WORDS else word)
        elif operand.kind == "verdict":
            words.append(verdict_word(told.get(repetition), operand.claim)[0])
        else:
            words.append(_performed(told.get(repetition))[0])
    return tuple(words)


Spontaneous = Collection[tuple[str, str]]
"""Cases and subjects of which a baseline acted, or may have: no single CONFIRMED of these may be cited."""


def _outcome(found: Comparison | None, spontaneous: Spontaneous) -> tuple[str | None, str]:
    if found is None:
        return None, "not_run"
    word = found.primary.mechanical_outcome
    if word in UNDECIDED_WORDS:
        return None, word
    if word == "CONFIRMED" and (found.case, found.subject) in spontaneous:
        return None, "spontaneous"
    return word, ""


def _reading(found: MatchedSet | None, spontaneous: Spontaneous, qualified: Collection[str]) -> tuple[str | None, str]:
    if found is None:
        return None, "not_run"
    if any(member.case not in qualified for member in found.members):
        return None, "unqualified"
    if "UNDETERMINED" in (found.reading, *(one.reading for one in found.triples)):
        return None, "UNDETERMINED"
    if any("CONFIRMED" in one.by.split(", ") and (one.case, found.subject) in spontaneous for one in found.members):
        return None, "spontaneous"
    return found.reading, ""


def verdict_word(told: Outcome | None, claim: str) -> tuple[str | None, str]:
    """Return the verdict of a claim in one trial, or None and why there is none that may be counted."""
    if told is None:
        return None, "not_run"
    if told.status in ("harness_error", "blocked"):
        return None, told.status
    found = next((one for one in told.verdicts if one.claim == claim), None)
    if found is None:
        return None, "not judged" if told.status == "completed" else told.status
    if found.verdict in UNDECIDED_WORDS:
        return None, found.verdict if told.status == "completed" else told.status
    return (found.verdict, "") if found.may_be_cited else (None, "may not be cited")


def _performed(told: Outcome | None) -> tuple[str | None, str]:
    if told is None:
        return None, "not_run"
    if told.status not in ("completed", "evaluator_error"):
        return None, told.status
    if told.performed is None or told.performed.state == "undecided":
        return None, "undecided"
    return told.performed.state, ""
