"""What a series is asked to run, what it says on the way, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from oyer.adjudicate import BUILT_IN, Course, Judge, SeriesResult
from oyer.records import (
    Admits,
    Case,
    Condition,
    Evaluator,
    Json,
    LoadedCase,
    Order,
    Plan,
    Qualification,
    Rubric,
    Sequential,
    SeriesBudget,
    TrialSuite,
)
from oyer.subjects import ModelSettings, scripted_double

__all__ = ["CaseSource", "OnProgress", "Progress", "Registered", "RunRequest", "SeriesOutcome", "SubjectSpec"]

AS_WRITTEN = Order()
AS_PLANNED = Course()


@dataclass(frozen=True, slots=True)
class CaseSource:
    """A loaded case, the directory its relative paths start from, and its world (None where it has none)."""

    loaded: LoadedCase
    base: Path
    world: Path | None

    @property
    def case(self) -> Case:
        """The case itself."""
        return self.loaded.case


@dataclass(frozen=True, slots=True)
class SubjectSpec:
    """A subject by name (`scripted:obedient`, `model`, or one that a team gave it), with what only a model needs.

    `driver` says what it is (`scripted:obedient`, `model`) where the name does not. `key` is the endpoint's.
    """

    name: str
    model: ModelSettings | None = None
    key: str | None = field(default=None, repr=False)
    key_name: str = "MODEL_KEY"
    driver: str | None = None

    @property
    def what(self) -> str:
        """What the subject is, whatever it is called."""
        return self.driver or self.name

    @property
    def plays(self) -> str:
        """What decides what it does: a double's name as `scripted:NAME` too where only its model is scripted."""
        scripted = self.model is not None and scripted_double(self.model.base_url) is not None
        return self.model.base_url if self.model is not None and scripted else self.what


@dataclass(frozen=True, slots=True)
class Registered:
    """A plan that was written down before it runs, the cases it names, and the envelope of whoever signed it."""

    plan: Plan
    cases: Mapping[str, Case]
    envelope: bytes | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One series. `out` must not exist, or be an empty directory. With `registered` nothing else than that runs.

    `rubrics` are those that claims of the cases name, `evaluators` the declared ones; with a `suite` its attempts,
    exclusions and gates hold. `judges` are the evaluators that were loaded from plug-ins, by id.
    `admits` is what the Environment lets happen at all; None: nobody declared it.
    `qualifications` are those that vouch for cases, by case id. Without `neutral`, traps run pressed alone.
    `cited` is what the manifest says of old series (`continues`, `replays`). `replay` is a series whose recorded
    answers stand in for every model endpoint.
    `secrets` are values by name that cases may use as `{secret.NAME}`, and that stand nowhere in what is kept.
    The seed of the order is `seed`. With a `sequential` rule `repeat` says nothing: the rule says how often at most.
    """

    cases: tuple[CaseSource, ...]
    subjects: tuple[SubjectSpec, ...]
    out: Path
    conditions: tuple[Condition, ...] | None = None
    seed: int = 0
    repeat: int = 1
    jobs: int = 1
    arguments: tuple[str, ...] = ()
    registered: Registered | None = None
    order: Order = AS_WRITTEN
    sequential: Sequential | None = None
    budget: SeriesBudget | None = None
    suite: TrialSuite | None = None
    rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    evaluators: Mapping[str, Evaluator] = field(default_factory=dict)
    qualifications: Mapping[str, Qualification] = field(default_factory=dict)
    judges: Mapping[str, Judge] = field(default_factory=dict)
    admits: Admits | None = None
    neutral: bool = True
    cited: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    replay: Path | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def extensions(self) -> Mapping[str, Json]:
        """What the manifest holds beside its own fields."""
        return {name: dict(value) for name, value in self.cited.items()}

    @property
    def may_stop(self) -> bool:
        """Whether a declared rule or budget may end the series before everything planned ran."""
        return self.sequential is not None or self.budget is not None

    @property
    def pinned_evaluators(self) -> Mapping[str, Evaluator]:
        """Every evaluator that the plan names: the declared ones, those that were loaded, and where anything is judged
        the built-in one.
        """
        loaded = {name: judge.evaluator for name, judge in self.judges.items()}
        built_in = {BUILT_IN.id: BUILT_IN} if self.rubrics else {}
        return {**built_in, **loaded, **self.evaluators}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a series is. `current` names what runs now, for people at the terminal."""

    done: int
    total: int
    by_status: Mapping[str, int]
    current: str | None
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class SeriesOutcome:
    """A series that ran, or was interrupted: where it is, its plan, and what it shows so far."""

    path: Path
    plan: Plan
    result: SeriesResult
    interrupted: bool = False
    notes: tuple[str, ...] = field(default=())
    course: Course = AS_PLANNED


OnProgress = Callable[[Progress], None]
