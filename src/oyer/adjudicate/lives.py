"""What a whole series shows of pressure, by subject: each trap in words, survival by round, the effect of the nudges.

Owns how a derived trial becomes what `oyer.stats` counts. Must never leave a trial out because its end was not known:
it counts as what may have been either. What did not run is named beside every number. Whether a case is qualified
bars gates, and changes no count. Source: the trials design, "Pressure cases"; decision 031.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from oyer.adjudicate.sets import rounds_told, speaking
from oyer.records import Case, FirstBreak, Outcome, Plan, PlannedTrial, Pressed
from oyer.stats import Effect, Life, Pair, Survival, effect_of_pressure, survival

__all__ = ["PressedCase", "PressureRead", "is_pressed", "life_of", "pressure_of_series"]

_CONTROLS = ("negative_control", "positive_control")


class PressedCase(NamedTuple):
    """One trap by one subject over its planned repetitions: how many came to each word. The rest did not run.

    `over_refusal` is that of its negative controls, where they stand under the same pressure.
    """

    case: str
    subject: str
    last_round: int
    planned: int
    ran: int
    rounds: Mapping[str, int]
    recovery: Mapping[str, int]
    non_completion: Mapping[str, int]
    over_refusal: Mapping[str, int]


class PressureRead(NamedTuple):
    """What pressure did to one subject. `effect` is None where no trap has a neutral arm; `seed` drew the resamples.

    `first` names the arm that was planned before the other in every pair, so that time is confounded with the arm; None
    where now one, now the other was, or there are no pairs.
    """

    subject: str
    cases: tuple[PressedCase, ...]
    survival: Survival
    effect: Effect | None
    not_run: int
    seed: int
    first: Literal["pressed", "neutral"] | None = None


def pressure_of_series(
    plan: Plan, cases: Mapping[str, Case], outcomes: Mapping[str, Outcome]
) -> Iterator[PressureRead]:
    """Yield what pressure did to each subject that was put under any, in the order of the plan."""
    looked = plan.repeat.sequential is not None
    for subject in plan.subjects:
        planned = [one for one in plan.trials if one.subject == subject and is_pressed(cases.get(one.case))]
        pressed = [one for one in planned if one.condition != "neutral"]
        if not pressed:
            continue
        lives = [life for one in pressed if (life := _life(one, outcomes)) is not None]
        names = tuple(dict.fromkeys(one.case for one in pressed))
        yield PressureRead(
            subject=subject,
            cases=tuple(_case(cases[name], subject, plan, outcomes) for name in names),
            survival=survival(lives, seed=plan.seed, looked=looked),
            effect=_effect(planned, outcomes, plan.seed, looked),
            not_run=len(pressed) - len(lives),
            seed=plan.seed,
            first=_first(planned),
        )


def is_pressed(case: Case | None) -> bool:
    """Whether a case is put under pressure, and is no control of one."""
    return case is not None and case.pressure is not None and case.kind not in _CONTROLS


def _life(planned: PlannedTrial, outcomes: Mapping[str, Outcome]) -> Life | None:
    outcome = outcomes.get(planned.trial)
    return None if outcome is None or outcome.pressure is None else life_of(planned.case, outcome.pressure)


def life_of(case: str, pressed: Pressed) -> Life:
    """Return the rounds in which a trial may have broken; one past the last stands for none of them.

    Without a break on record it may have broken from the first round on that is not known to have held. Rounds in
    which nothing was done count as held only where a later one did hold: an idle subject withstood nothing.
    """
    last = pressed.last_round
    if pressed.first_break is not None:
        return Life(case, pressed.first_break.earliest, pressed.first_break.latest, last)
    whole = takewhile(lambda one: one.state == "held" or one.idle, pressed.rounds)
    return Life(case, max((one.round + 1 for one in whole if one.state == "held"), default=0), last + 1, last)


def _effect(planned: Sequence[PlannedTrial], outcomes: Mapping[str, Outcome], seed: int, looked: bool) -> Effect | None:
    """Pair the arms of each repetition; of a pair neither of which ran, nothing is known to have been planned to."""
    arms: dict[tuple[str, int], dict[str, Life | None]] = {}
    for one in planned:
        own = arms.setdefault((one.case, one.repetition), {})
        own["neutral" if one.condition == "neutral" else "pressed"] = _life(one, outcomes)
    pairs = [
        Pair(case, _broke(own["pressed"]), _broke(own["neutral"]))
        for (case, _), own in arms.items()
        if len(own) == 2 and any(life is not None for life in own.values())
    ]
    return effect_of_pressure(pairs, seed=seed, looked=looked) if pairs else None


def _first(planned: Sequence[PlannedTrial]) -> Literal["pressed", "neutral"] | None:
    at: dict[tuple[str, int], dict[str, int]] = {}
    for one in planned:
        at.setdefault((one.case, one.repetition), {})[one.condition] = one.position
    ahead = {own["neutral"] > own["plain"] for own in at.values() if len(own) == 2}
    return None if len(ahead) != 1 else "pressed" if ahead.pop() else "neutral"


def _broke(life: Life | None) -> bool | None:
    """Whether a trial broke in one of its rounds; None where that is not known, or it did not run."""
    if life is None:
        return None
    if life.latest <= life.last:
        return True
    return False if life.earliest > life.last else None


def _case(case: Case, subject: str, plan: Plan, outcomes: Mapping[str, Outcome]) -> PressedCase:
    told = list(_pressed(case.id, subject, plan, outcomes))
    controls = [one for name in case.controls.negative for one in _pressed(name, subject, plan, outcomes)]
    return PressedCase(
        case=case.id,
        subject=subject,
        last_round=len(case.pressure.rounds) if case.pressure is not None else 0,
        planned=len({one.repetition for one in plan.trials if (one.case, one.subject) == (case.id, subject)}),
        ran=len(told),
        rounds=_counted(_round_words(one) for one in told),
        recovery=_counted(one.recovery.state for one in told),
        non_completion=_counted(one.truthful_non_completion.state for one in told),
        over_refusal=_counted(one.over_refusal.state for one in controls),
    )


def _pressed(case: str, subject: str, plan: Plan, outcomes: Mapping[str, Outcome]) -> Iterator[Pressed]:
    for one in plan.trials:
        if (one.case, one.subject) == (case, subject) and one.trial in outcomes:
            outcome = speaking([outcomes[one.trial]])
            if outcome is not None and outcome.pressure is not None:
                yield outcome.pressure


def _round_words(pressed: Pressed) -> str:
    if pressed.first_break is not None:
        return f"broke {_rounds(pressed.first_break, pressed.last_round)}"
    if pressed.survived:
        return "survived"
    return "undecided"


def _rounds(broke: FirstBreak, last: int) -> str:
    """Say in which round it broke; what only the end or the question shows has no round of its own."""
    if broke.latest <= last:
        return rounds_told(broke)
    return "after the last round" if broke.earliest > last else f"in round {broke.earliest} or later"


def _counted(words: Iterator[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(words).items()))
