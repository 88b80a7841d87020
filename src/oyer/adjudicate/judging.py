"""The built-in evaluator `oyer.parts`: what the declared parts of a rubric come to on the evidence of one trial.

Owns the law of parts: status first, ranks, what absence needs, conflict, assertions. Must never let a lower rank stand
in for a higher one, never earn an idle subject anything from what did not happen, and never decide without evidence.
Source: the scoring design, "Status" and "Verdicts".
"""

from __future__ import annotations

from typing import NamedTuple

from oyer.adjudicate.stimulus import Absence, read_absence
from oyer.evidence import digest_of
from oyer.observe import Found, TrialFacts, find_evidence, printable, read_breaks
from oyer.records import (
    BUILT_IN_EVALUATOR,
    RANKS,
    Evaluator,
    EvidenceMatcher,
    Judgement,
    Part,
    PartJudgement,
    PartState,
    Rank,
    Rubric,
    digest_once,
    facts_of,
)

__all__ = ["BUILT_IN", "barred", "judge_trial"]

CODE = "oyer.parts@1"
"""The law of this module. It is counted up when the same evidence may come to another state of a part."""

STATES = frozenset({"world_path", "rows", "exited", "measured"})
"""Forms of matchers that look at how things are, whoever made them so."""

BUILT_IN = Evaluator(
    id=BUILT_IN_EVALUATOR,
    kind="mechanical",
    code=digest_of(CODE.encode()),
    limits=("decides only what a matcher can say; what a subject claims is read from its typed channel alone",),
)
"""The record of the built-in evaluator; the same for every version of Oyer with the same law."""


class _Opinion(NamedTuple):
    """What one witness makes of a part. `matched` says that its matcher found what it looks for."""

    state: PartState
    rank: Rank
    refs: tuple[str, ...] = ()
    why: str = ""
    matched: bool = False


def judge_trial(facts: TrialFacts, rubric: Rubric, *, trial: str, case_digest: str, stored: str | None) -> Judgement:
    """Judge every part that matchers decide, of one trial under one rubric. What plug-ins decide is left out."""
    bar = barred(facts, case_digest)
    parts = [
        _part(facts, part, criterion.id, index, bar)
        for criterion in rubric.criteria
        for index, part in enumerate(criterion.parts)
        if part.evaluator is None
    ]
    return Judgement(
        evaluator=BUILT_IN_EVALUATOR,
        evaluator_digest=digest_once(BUILT_IN),
        rubric=rubric.id,
        rubric_digest=digest_once(rubric),
        trial=trial,
        run=facts.evidence.run,
        evidence=stored,
        parts=tuple(parts),
    )


def barred(facts: TrialFacts, case_digest: str) -> str:
    """Say what keeps every part of a trial unknown; empty where nothing does. A `subject_error` bars only some."""
    broken = next(iter(read_breaks(facts)), None)
    if broken is not None:
        return printable(f"{broken.code}: {broken.sentence}")
    closed, opened = facts.evidence.closed, facts.evidence.opened
    if closed is None or opened is None:
        return "EVIDENCE_BROKEN: the trial was never closed"
    if (opened["case"], opened["case_id"]) != (case_digest, facts.whole.case.id):
        return "FOREIGN_TRACE: its journals are of another case"
    status = str(closed["status"])
    return f"the trial ended as {status}" if status not in ("completed", "subject_error") else ""


def _part(facts: TrialFacts, part: Part, criterion: str, index: int, bar: str) -> PartJudgement:
    opinion = _Opinion("unknown", _deciding(facts, part), why=bar) if bar else _decide(facts, part)
    return PartJudgement(
        criterion=criterion,
        part=index,
        state=opinion.state,
        rank=opinion.rank,
        evidence=tuple(dict.fromkeys(opinion.refs)),
        asserted=() if bar else _asserted(facts, part),
        why=printable(opinion.why) if opinion.state == "unknown" else "",
    )


def _deciding(facts: TrialFacts, part: Part) -> Rank:
    """The rank that decides: the declared one, or the highest among the part's witnesses."""
    if part.decided_by is not None:
        return part.decided_by
    ranks = {matcher.rank for matcher in facts_of(facts.case, part.facts)}
    return next(rank for rank in RANKS if rank in ranks)


def _decide(facts: TrialFacts, part: Part) -> _Opinion:
    absence = read_absence(facts, part.stimulus)
    if part.asserts is not None and part.when_asserted and not _asserted(facts, part):
        return _silence(facts, part, part.asserts, absence)
    opinions = []
    for matcher in facts_of(facts.case, part.facts):
        found = find_evidence(matcher, facts)
        opinion = _supports(found) if part.supports else _refutes(found, part, absence)
        opinions.append(_earned(opinion, absence) if matcher.form in STATES else opinion)
    decided = _weigh(opinions, _deciding(facts, part), everyone=part.absence)
    return decided if facts.completed else _after_a_crash(decided, opinions)


def _earned(opinion: _Opinion, absence: Absence) -> _Opinion:
    """A state that speaks for the subject counts only where the subject acted, and ended its turn after that.

    Whatever was so from the beginning would otherwise be credited to one that did nothing.
    """
    if opinion.state != "supported":
        return opinion
    if absence.missing:
        return _Opinion("unknown", opinion.rank, why=absence.missing)
    return opinion._replace(refs=(*opinion.refs, *absence.refs))


def _silence(facts: TrialFacts, part: Part, asserts: EvidenceMatcher, absence: Absence) -> _Opinion:
    """Nothing was asserted. Where that is proven the part asks nothing of such a subject; where not, nothing is known.

    What the evidence shows of the fact itself decides neither way: nobody claimed anything of it.
    """
    found = find_evidence(asserts, facts)
    if found.state == "absent" and not absence.missing and facts.completed:
        return _Opinion("supported", found.rank, (*found.refs, *absence.refs))
    why = absence.missing or found.why or "whether anything was asserted is not known"
    return _Opinion("unknown", _deciding(facts, part), why=why)


def _supports(found: Found) -> _Opinion:
    states: dict[str, PartState] = {"matched": "supported", "other": "refuted"}
    state = states.get(found.state, "unknown")
    return _Opinion(state, found.rank, found.refs, found.why, matched=found.state == "matched")


def _refutes(found: Found, part: Part, absence: Absence) -> _Opinion:
    if found.state == "matched":
        return _Opinion("refuted", found.rank, found.refs, matched=True)
    if found.state == "unwatched":
        return _Opinion("unknown", found.rank, why=found.why)
    if found.near and found.state == "other":
        return _Opinion("unknown", found.rank, why="what it is about cannot be read as what it was")
    if not part.absence:
        if found.state == "other":
            return _Opinion("supported", found.rank, found.refs)
        return _Opinion("unknown", found.rank, why="nothing was found, and the part does not rest on absence")
    if found.near:
        return _Opinion("unknown", found.rank, why="something close to it was seen", refs=())
    if absence.missing:
        return _Opinion("unknown", found.rank, why=absence.missing)
    return _Opinion("supported", found.rank, (*found.refs, *absence.refs))


def _weigh(opinions: list[_Opinion], rank: Rank, *, everyone: bool) -> _Opinion:
    """Let the deciding rank decide, and every other rank above text contradict it.

    `everyone`: absence is proven only where every witness of the rank proves it.
    """
    mine = _agreed([each for each in opinions if each.rank == rank], rank, everyone=everyone)
    if mine.state not in ("supported", "refuted"):
        return mine
    contrary = "refuted" if mine.state == "supported" else "supported"
    against = [each for each in opinions if each.rank not in (rank, "text") and each.state == contrary]
    if not against:
        return mine
    return _Opinion("conflict", rank, (*mine.refs, *(ref for each in against for ref in each.refs)))


def _agreed(opinions: list[_Opinion], rank: Rank, *, everyone: bool) -> _Opinion:
    said = [each for each in opinions if each.state != "unknown"]
    states = {each.state for each in said}
    silent = next((each for each in opinions if each.state == "unknown"), None)
    if not said:
        return _Opinion("unknown", rank, why=silent.why if silent else f"no witness has rank {rank}")
    refs = tuple(ref for each in said for ref in each.refs)
    if everyone and "refuted" in states:
        return _Opinion("refuted", rank, tuple(ref for each in said if each.state == "refuted" for ref in each.refs),
                        matched=True)  # fmt: skip
    if len(states) > 1:
        return _Opinion("conflict", rank, refs)
    if everyone and silent is not None:
        return _Opinion("unknown", rank, why=silent.why)
    return _Opinion(said[0].state, rank, refs, matched=any(each.matched for each in said))


def _after_a_crash(decided: _Opinion, opinions: list[_Opinion]) -> _Opinion:
    """A subject that crashed: only what is on record against it stands; it earned nothing, and missed nothing."""
    if decided.state == "refuted" and any(each.matched and each.state == "refuted" for each in opinions):
        return decided
    return _Opinion("unknown", decided.rank, why="the trial ended as subject_error: only what it did may stand")


def _asserted(facts: TrialFacts, part: Part) -> tuple[str, ...]:
    """The calls by which the subject claimed the contrary of the fact, in its typed channel."""
    if part.asserts is None:
        return ()
    found = find_evidence(part.asserts, facts)
    return found.refs if found.state == "matched" else ()
