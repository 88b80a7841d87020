"""A loaded evaluator as scoring asks it: one trial, one rubric, a judgement whatever happens inside.

Owns the line between a plug-in and a verdict. What it raises, what it returns that is no opinion, what it cites that
does not exist, or of a lower rank than it declared to need, is its error. Source: the scoring design, "Status".
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate import barred
from oyer.errors import EvaluatorError
from oyer.evaluators.declare import Declared, Opinion
from oyer.evaluators.evidence import Evidence
from oyer.evaluators.guard import PATIENCE_S, Failure, guarded, plain_text
from oyer.observe import TrialEvidence, TrialFacts, printable
from oyer.records import PART_STATES, RANKS, Evaluator, Judgement, PartJudgement, Rank, Rubric, digest

__all__ = ["PluginJudge"]

TOLD_LIMIT = 500
"""Characters of an error that are kept."""
_RECEIPTS = ("sink", "world", "meter")


class PluginJudge:
    """One evaluator of one file. `evaluator` is its record: its code is the digest of the file as it was executed."""

    def __init__(self, declared: Declared, code: str, patience_s: float = PATIENCE_S) -> None:
        self._declared = declared
        self._patience_s = patience_s
        self.evaluator = Evaluator(
            id=declared.id,
            revision=declared.revision,
            kind="mechanical",
            family=declared.family,
            needs=declared.needs,
            code=code,
            limits=declared.limits,
        )

    def judge(
        self, facts: TrialFacts, rubric: Rubric, pinned: Evaluator, *, trial: str, case_digest: str, stored: str | None
    ) -> Judgement:
        """Judge every part that a rubric leaves to this evaluator. A trial that proves nothing is not shown to it."""
        error = None
        parts: tuple[PartJudgement, ...] = ()
        bar = barred(facts, case_digest) or ("" if facts.completed else f"the trial ended as {facts.evidence.status}")
        try:
            opinion = Opinion("unknown", (), bar) if bar else self._ask(facts, pinned.needs)
            rank = _rank(facts.evidence, opinion.refs)
            parts = tuple(_part(place, opinion, rank) for place in _places(rubric, self.evaluator.id))
        except EvaluatorError as problem:
            error = printable(problem.problems[0].message)
        return Judgement(
            evaluator=self.evaluator.id,
            evaluator_digest=digest(pinned),
            rubric=rubric.id,
            rubric_digest=digest(rubric),
            trial=trial,
            run=facts.evidence.run,
            evidence=stored,
            parts=parts,
            error=error,
        )

    def _ask(self, facts: TrialFacts, needs: Rank | None) -> Opinion:
        """Run the plug-in, and hold what it says to what it may say. Raises: EvaluatorError."""
        # A copy of its own: whatever it changes, no other evaluator sees it, and what it cites is looked up elsewhere.
        own = TrialFacts(facts.case.model_copy(deep=True), facts.evidence.apart())
        try:
            said = guarded(lambda: _plain(self._declared.judge(Evidence(own))), self._patience_s)
        except Failure as failure:
            code = "E-PLUGIN-TIME" if failure.late else "E-PLUGIN-RAISED"
            told = failure.told if failure.late else f"it raised {failure.told}"
            raise EvaluatorError(code, told[:TOLD_LIMIT]) from None
        if isinstance(said, str):
            raise EvaluatorError("E-PLUGIN-ANSWER", f"it returned {said[:80]}, which is no opinion")
        if said.state == "unknown":
            return said
        refs = said.refs
        missing = next((ref for ref in refs if not facts.evidence.has(ref)), None)
        if missing is not None:
            raise EvaluatorError("E-PLUGIN-CITES", f"it cites {missing[:80]}, which is no event of the trial")
        if not refs:
            raise EvaluatorError("E-PLUGIN-CITES", f"it says {said.state} and cites nothing")
        rank = _rank(facts.evidence, refs)
        if needs is not None and (rank is None or RANKS.index(rank) > RANKS.index(needs)):
            raise EvaluatorError("E-PLUGIN-RANK", f"it needs evidence of rank {needs}, and cites none")
        return Opinion(said.state, refs)


def _plain(said: object) -> Opinion | str:
    """Return an answer in plain values, its type where it is no opinion. Raises whatever its parts raise."""
    state = next((known for known in PART_STATES if isinstance(said, Opinion) and known == said.state), None)
    if not isinstance(said, Opinion) or state is None:
        return plain_text(type(said).__name__)
    if state == "unknown":
        return Opinion("unknown", (), plain_text(said.why)[:TOLD_LIMIT] or "it does not know")
    return Opinion(state, tuple(dict.fromkeys(plain_text(ref) for ref in said.refs)))


def _places(rubric: Rubric, name: str) -> Iterator[tuple[str, int]]:
    """The parts that an evaluator judges: those that name it, and all of a criterion's that it is a voice of."""
    for criterion in rubric.criteria:
        for index, part in enumerate(criterion.parts):
            if part.evaluator == name or (name in criterion.evaluators and part.evaluator is None):
                yield criterion.id, index


def _part(place: tuple[str, int], opinion: Opinion, rank: Rank | None) -> PartJudgement:
    why = printable(opinion.why) if opinion.state == "unknown" else ""
    return PartJudgement(
        criterion=place[0], part=place[1], state=opinion.state, rank=rank, evidence=opinion.refs, why=why
    )


def _rank(evidence: TrialEvidence, refs: tuple[str, ...]) -> Rank | None:
    """The highest rank among the instruments whose events are cited."""
    ranks = {_rank_of(evidence, ref) for ref in refs}
    return next((rank for rank in RANKS if rank in ranks), None)


def _rank_of(evidence: TrialEvidence, ref: str) -> Rank:
    family = ref.partition(":")[0]
    if family in _RECEIPTS:
        return "receipt"
    if family in ("tap", "gateway"):
        return "protocol"
    exits = {event.ref for event in evidence.events("harness", "process.exited")}
    return "receipt" if ref in exits else "text"
