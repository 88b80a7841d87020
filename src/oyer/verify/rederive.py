"""One pass over a series: every attempt is read, and every outcome and comparison derived again from what was read.

Owns the order of that pass: repetition by repetition of the plan, then what no repetition has, then once more the
repetitions whose runs an effect rejected elsewhere names. Must never read a recorded result before its own is derived,
and never hold more than the arms of one repetition.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from oyer.adjudicate import (
    BUILT_IN,
    Judge,
    Judges,
    SeriesInput,
    SeriesResult,
    Swap,
    Told,
    TrialInput,
    by_run,
    derive_repetition,
    derive_sets,
    derived_files,
    groups_of,
    judge_pinned,
    named_aside,
    plan_that_ran,
    set_name,
    slim,
    swapped_runs,
    undeclared_turns,
    unseen_turns,
)
from oyer.errors import EvidenceError, OyerError, Problem
from oyer.evidence import AttemptCheck, AttemptState, check_attempt
from oyer.observe import TrialEvidence, TrialFacts, trial_of
from oyer.records import (
    Case,
    Comparison,
    Evaluator,
    Outcome,
    PinSet,
    Plan,
    PlannedTrial,
    Record,
    Rubric,
    Series,
    canonical_bytes,
    digest,
    digest_bytes,
)
from oyer.verify.attempts import AttemptReading, Shelf
from oyer.verify.comparing import Comparing, Derivation, nothing_derived
from oyer.verify.reading import Reader, expected_envelope, parse_record, recorded_in
from oyer.verify.recorded import recorded_problem
from oyer.verify.result import WITHHELD
from oyer.verify.stopped import left_out
from oyer.verify.survey import Phase, Survey

__all__ = ["Pass", "read_and_derive"]

R = TypeVar("R", bound=Record)

Refs = Mapping[str, tuple[str, ...]]
Read = dict[tuple[str, int], AttemptReading]


class Pass(NamedTuple):
    """What one pass gives: what is kept of every attempt, by trial and number, and what came of deriving again."""

    attempts: tuple[AttemptReading, ...]
    derivation: Derivation


class _Named(NamedTuple):
    """What is said of a run elsewhere, by that run: effects that counted attempts hold, all others, and models."""

    counted: Refs
    aside: Refs
    swapped: Mapping[str, tuple[Swap, ...]] = {}

    def names(self, run: str) -> bool:
        """Whether anything is said of a run."""
        return run in self.counted or run in self.aside or run in self.swapped


def read_and_derive(survey: Survey, proven: Mapping[str, int], asked: Sequence[Judge]) -> Pass:
    """Read every attempt, and derive every repetition of the plan again from what was just read.

    `proven` holds the sizes of blobs that were just measured and are what their names say; `asked` are evaluators that
    judge again here and now. Almost no series holds an effect that names another run: an attempt is read once,
    and again only where one read later names its run.
    """
    shelf = Shelf(survey)
    if survey.plan is None or survey.manifest is None:
        why = nothing_derived("manifest or plan cannot be read: nothing can be derived", "series.json")
        return Pass(_in_order(_rest(shelf, {})), why)
    if survey.phase is Phase.BROKEN:
        why = nothing_derived("the ledger does not hold: which attempts count is not known", "ledger.jsonl")
        return Pass(_in_order(_rest(shelf, {})), why)
    ran = plan_that_ran(survey.plan, left_out(survey))
    deriving = _Deriving(survey, ran, survey.manifest, shelf, proven, asked)
    read: Read = {}
    for group in groups_of(ran):
        read |= deriving.take(group, _Named({}, named_aside({}, survey.ledger.closing)))
    read = _rest(shelf, read)
    named = _named(survey, read)
    for group in groups_of(ran):
        ended = [survey.ledger.counted(planned.trial) for planned in group]
        if any(named.names(state.run or "") for state in ended if state is not None):
            deriving.take(group, named)
    deriving.sets()
    withheld = any(one.unreadable is not None and one.unreadable.code == WITHHELD for one in read.values())
    return Pass(_in_order(read), deriving.comparing.result(all_named=not withheld))


def _in_order(read: Read) -> tuple[AttemptReading, ...]:
    return tuple(read[key] for key in sorted(read))


def _rest(shelf: Shelf, read: Read) -> Read:
    """Read the attempts that no repetition has: of trials that nobody planned, or where nobody knows the plan."""
    keys = [(trial, attempt) for trial in shelf.trials for attempt in shelf.attempts(trial)]
    return read | {key: shelf.read(*key)[0] for key in keys if key not in read}


def _named(survey: Survey, read: Read) -> _Named:
    """What the planned trials of a series say of other runs: effects rejected anywhere, and models that answered."""
    models: dict[str, Told] = {}
    counted: dict[str, tuple[tuple[str, str], ...]] = {}
    uncounted: dict[tuple[str, int], tuple[tuple[str, str], ...]] = {}
    for (trial, attempt), reading in read.items():
        if trial not in survey.planned or reading.state is None or reading.state.run is None:
            continue
        counts = survey.ledger.counted(trial)
        if counts is not None and counts.attempt == attempt:
            counted[trial] = reading.named
            if reading.models is not None and reading.models.reports:
                models[trial] = reading.models
        else:
            uncounted[trial, attempt] = reading.named
    swapped = {} if survey.plan is None else swapped_runs(models, survey.plan)
    return _Named(by_run(counted), named_aside(uncounted, survey.ledger.closing), swapped)


class _Deriving:
    """Derives one repetition of a case and subject at a time, and compares what comes of it with what is recorded."""

    def __init__(
        self,
        survey: Survey,
        plan: Plan,
        manifest: Series,
        shelf: Shelf,
        proven: Mapping[str, int],
        asked: Sequence[Judge],
    ) -> None:
        self._survey = survey
        self._plan = plan
        self._manifest = manifest
        self._shelf = shelf
        self._proven = proven
        self._asked = asked
        self._judgements = _by_trial(survey)
        self._pins = _Pins(survey.reader)
        self._withheld: list[Problem] = []
        self._outcomes: dict[str, Outcome] = {}
        self._comparisons: dict[tuple[str, str, int], Comparison] = {}
        self._unread: set[tuple[str, str, int]] = set()
        self._members = self._set_members()
        self.comparing = Comparing(survey)

    def _set_members(self) -> frozenset[str]:
        """Every case that is part of a matched set; none where a case cannot be read, which its repetitions say."""
        try:
            cases = [self._pins.read(case.digest, Case) for case in self._plan.cases]
        except (OyerError, ValueError):
            return frozenset()
        controls = {case.id: (*case.controls.negative, *case.controls.positive) for case in cases}
        return frozenset(name for trap, names in controls.items() if names for name in (trap, *names))

    def sets(self) -> None:
        """Read every trap with its controls, from what is kept of each repetition, and compare."""
        if not self._members:
            return
        cases = {case.id: self._pins.read(case.digest, Case) for case in self._plan.cases}
        for one in derive_sets(self._plan, cases, self._outcomes, self._comparisons.values()):
            path = f"sets/{set_name(one.trap, one.subject, one.repetition)}.json"
            if any((member.case, one.subject, one.repetition) in self._unread for member in one.members):
                why = Problem("E-DERIVE", "a member of the set could not be derived", path, "see checks 4 and 5")
                self.comparing.undecided(path, why)
            else:
                self.comparing.compare({path: canonical_bytes(one)})

    def _keep(self, group: Sequence[PlannedTrial], shown: SeriesResult | None) -> None:
        """Keep of a repetition what the reading of sets needs: of members of sets alone, and little of each."""
        key = group[0].case, group[0].subject, group[0].repetition
        if key[0] not in self._members:
            return
        if shown is None:
            self._unread.add(key)
            return
        self._outcomes.update((trial, slim(outcome)) for trial, outcome in shown.outcomes.items())
        self._comparisons.update((key, comparison) for comparison in shown.comparisons)

    def take(self, group: Sequence[PlannedTrial], named: _Named) -> Read:
        """Read the attempts of a repetition, derive it, compare; return what is kept of each attempt."""
        first = group[0]
        where = f"case {first.case}, subject {first.subject}, repetition {first.repetition}"
        self._withheld.clear()
        read: Read = {}
        trials: dict[str, TrialInput] = {}
        for planned in group:
            trials |= self._trial(planned, read)
        shown = self._derived(group, trials, named, where)
        self._keep(group, None if self._withheld or isinstance(shown, Problem) else shown)
        if self._withheld:
            self.comparing.undecided(where, self._withheld[0])
        elif isinstance(shown, Problem):
            self.comparing.undecided(where, shown)
        else:
            files = derived_files(shown)
            self.comparing.compare(files)
            self.comparing.relies(shown.relied)
            self._recorded(group, trials, files)
        return read

    def _recorded(
        self, group: Sequence[PlannedTrial], trials: Mapping[str, TrialInput], files: Collection[str]
    ) -> None:
        """Hold every recorded judgement that was not made again to the evidence that it says it judged."""
        for planned in group:
            for path in self._judgements.get(planned.trial, ()):
                given = trials.get(planned.trial)
                if path in files:
                    continue
                again = None if given is None else self._again(path, planned, given)
                if again is not None:
                    self.comparing.compare({path: again})
                    continue
                why = recorded_problem(self._survey, self._plan, path, given)
                if why is not None:
                    self.comparing.unfounded(path, why)

    def _again(self, path: str, planned: PlannedTrial, given: TrialInput) -> bytes | None:
        """Make a judgement again that was added later, where its evaluator was given with the code that is pinned."""
        evaluator, rubric = (f"sha256:{part}" for part in path.split("/")[1:3])
        try:
            pinned, judged = self._pins.read(evaluator, Evaluator), self._pins.read(rubric, Rubric)
            case = self._pins.read(planned.case_digest, Case)
        except OyerError:
            return None  # what is missing is told where the judgement is held to its pins
        judge = judge_pinned(self._asked, pinned)
        if judge is None:
            return None
        if judged.id not in self._plan.rubrics:
            return None
        facts = TrialFacts(case, given.evidence)
        made = judge.judge(
            facts, judged, pinned, trial=planned.trial, case_digest=planned.case_digest, stored=given.stored
        )
        return canonical_bytes(made)

    def _trial(self, planned: PlannedTrial, read: Read) -> Mapping[str, TrialInput]:
        """Read every attempt of a trial; return what scoring is given of the one that counts, if one does."""
        counted = self._survey.ledger.counted(planned.trial)
        check: AttemptCheck | None = None
        for attempt in self._shelf.attempts(planned.trial):
            reading, found = self._shelf.read(planned.trial, attempt)
            read[planned.trial, attempt] = reading
            if counted is not None and counted.attempt == attempt:
                check = found
                if reading.unreadable is not None and reading.unreadable.code == WITHHELD:
                    self._withheld.append(reading.unreadable)
        if counted is None:
            return {}
        if check is None or counted.run is None:
            check = self._without_run(planned, counted)
        attempts = len(self._survey.ledger.attempts[planned.trial])
        evidence = trial_of(check, self._content, self._proven)
        key = planned.trial, counted.attempt
        if key in read:
            read[key] = read[key]._replace(
                untold=self._untold(planned, evidence), unseen=self._unseen(planned, evidence)
            )
        return {planned.trial: TrialInput(counted.attempt, attempts, evidence, counted.digest)}

    def _untold(self, planned: PlannedTrial, evidence: TrialEvidence) -> tuple[tuple[str, str], ...]:
        """Hold what the subject was told against the case; where the pin cannot be read, check 4 says so."""
        try:
            case = self._pins.read(planned.case_digest, Case)
        except (OyerError, ValueError):
            return ()
        return tuple(undeclared_turns(evidence, case, neutral=planned.condition == "neutral"))

    def _unseen(self, planned: PlannedTrial, evidence: TrialEvidence) -> tuple[tuple[str, str], ...]:
        """Hold the looks at the world against the turns after which its case has one."""
        try:
            case = self._pins.read(planned.case_digest, Case)
        except (OyerError, ValueError):
            return ()
        return tuple(unseen_turns(evidence, case))

    def _without_run(self, planned: PlannedTrial, counted: AttemptState) -> AttemptCheck:
        """Check an attempt that cannot be read, or that the ledger gave no run: nothing of it is its own.

        Its defects say so, as they did when the run derived, and nothing rests on it.
        """
        try:
            journals = self._survey.reader.journals(planned.trial, counted.attempt)
        except OyerError:
            journals = {}
        return check_attempt(journals, expect=expected_envelope(self._manifest, planned, counted))

    def _content(self, digest: str) -> bytes | None:
        """Return the content of a blob, and note that it was asked for where it had been withheld."""
        try:
            return self._survey.reader.content(digest)
        except OyerError as error:
            if error.code == WITHHELD:
                self._withheld.append(error.problems[0])
            raise

    def _derived(
        self, group: Sequence[PlannedTrial], trials: Mapping[str, TrialInput], named: _Named, where: str
    ) -> SeriesResult | Problem:
        """Derive a repetition: its judgements, its outcomes and its comparison."""
        first = group[0]
        pin = self._manifest.pinsets.get(first.subject, {}).get(first.case)
        try:
            if pin is None:
                raise EvidenceError("E-PIN-MISSING", "the manifest names no pins for it")
            given = SeriesInput(
                plan=self._plan.model_copy(update={"trials": tuple(group)}),
                cases=self._cases(first),
                trials=trials,
                pinned={(first.subject, first.case): self._pins.read(pin, PinSet)},
                named=named.counted,
                aside=named.aside,
                swapped=named.swapped,
                judges=self._judges(),
            )
            return derive_repetition(given)
        except OyerError as error:
            return Problem("E-DERIVE", f"it cannot be derived: {error.problems[0]}", where)
        except (LookupError, ValueError, RecursionError) as error:
            # A pinned record at odds with itself (check 4 names it), or evidence that the law has no answer for.
            return Problem("E-DERIVE", f"it cannot be derived: {type(error).__name__}: {error}", where)

    def _cases(self, planned: PlannedTrial) -> Mapping[str, Case]:
        """Return the case of a trial, and those that a sequence is made of. Raises: OyerError for a pin."""
        case = self._pins.read(planned.case_digest, Case)
        members = {segment.case: self._pins.read(segment.digest, Case) for segment in case.segments}
        return {**members, planned.case: case}

    def _judges(self) -> Judges:
        """Return how claims are judged, by what the plan fixed. Raises: OyerError where a pin cannot be read."""
        plan = self._plan
        law = plan.evaluators.get(BUILT_IN.id)
        if law is not None and law != digest(BUILT_IN):
            told = f"it was judged by another law of {BUILT_IN.id} than this version has"
            raise EvidenceError("E-EVALUATOR-OTHER", told, hint="verify with the version of Oyer that ran it")
        return Judges(
            rubrics={name: self._pins.read(pin, Rubric) for name, pin in plan.rubrics.items()},
            evaluators={name: self._pins.read(pin, Evaluator) for name, pin in plan.evaluators.items()},
            asked=self._asked,
            recorded=recorded_in(self._survey.reader, self._withheld),
        )


def _by_trial(survey: Survey) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for path in survey.of("judgement"):
        found.setdefault(survey.parts[path].name, []).append(path)
    return found


class _Pins:
    """Pinned records, each parsed once: there are few, however many trials rest on them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[str, Record] = {}

    def read(self, digest: str, kind: type[R]) -> R:
        """Return one pinned record. Raises: OyerError where it is missing, another kind, or not what its name says."""
        known = self._known.get(digest)
        if isinstance(known, kind):
            return known
        data = self._reader.pin(digest)
        if data is None or digest_bytes(data) != digest:
            raise EvidenceError("E-PIN-DIGEST", "a pinned record is missing or is not what its name says", where=digest)
        record = parse_record(data, kind, f"pins/{digest}")
        self._known[digest] = record
        return record
