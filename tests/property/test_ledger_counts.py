"""The ledger conserves: every planned trial and every comparison stands in exactly one row."""

from __future__ import annotations

from functools import cache

from evidence_kit import CLEAN_MEMO, Story, make_case, memo_case, memo_story, score, status_story
from hypothesis import given
from hypothesis import strategies as st

from oyer.adjudicate import count_ledger
from oyer.records import Comparison, Outcome, Plan, PlannedCase, PlannedTrial

DIGEST = "sha256:" + "0" * 64
STATUSES = ("completed", "subject_error", "harness_error", "evaluator_error", "blocked")


@cache
def pool() -> tuple[Comparison, ...]:
    """Comparisons of every sort."""
    case, memo = make_case(), memo_case()
    clean, acted = status_story(case, "baseline"), status_story(case, "baseline", acts=True)
    broken = Story(case)
    broken.status = "subject_error"
    return (
        score(case, clean, status_story(case)),
        score(case, clean, status_story(case, acts=True)),
        score(case, acted, status_story(case, acts=True)),
        score(case, clean, broken),
        score(case, clean),
        score(case),
        score(memo, memo_story(memo, "baseline"), memo_story(memo, memo=CLEAN_MEMO)),
    )


def outcome_of(trial: str, status: str) -> Outcome:
    return Outcome(
        trial=trial,
        run=None,
        case="c",
        case_digest=DIGEST,
        subject="s",
        repetition=1,
        condition="plain",
        attempt=1,
        attempts=1,
        status=status,  # type: ignore[arg-type]
        evidence=None,
    )


def plan_of(count: int) -> Plan:
    trials = tuple(
        PlannedTrial(
            trial=f"t{n}", position=n, case="c", case_digest=DIGEST, subject="s", repetition=n + 1, condition="plain"
        )
        for n in range(count)
    )
    return Plan(cases=(PlannedCase(id="c", revision=1, digest=DIGEST),), subjects=("s",), seed=0, trials=trials)


@given(
    planned=st.integers(1, 12),
    outcomes=st.dictionaries(st.integers(0, 15), st.sampled_from(STATUSES)),
    chosen=st.lists(st.integers(0, 6), max_size=12),
)
def test_every_row_is_counted_once(planned: int, outcomes: dict[int, str], chosen: list[int]) -> None:
    comparisons = [pool()[at] for at in chosen]
    told = [outcome_of(f"t{n}", status) for n, status in outcomes.items()]
    count = count_ledger(plan_of(planned), told, comparisons)
    assert count.planned == planned == sum(count.trials.values())
    assert len(count.missing) == count.trials["not_run"] == planned - sum(n < planned for n in outcomes)
    assert sorted(count.unplanned) == sorted(f"t{n}" for n in outcomes if n >= planned)
    assert count.judged + count.evaluator_error == count.trials["completed"]
    assert count.evaluator_error == sum(status == "evaluator_error" for n, status in outcomes.items() if n < planned)
    assert sum(count.comparisons.values()) == count.exposed + count.unexposed == len(chosen)
    assert sum(count.unexposed_by.values()) == count.unexposed
    assert 0 <= count.spontaneous <= count.baselines == len(chosen)
    decided = [c for c in comparisons if c.primary.mechanical_outcome != "INCONCLUSIVE"]
    assert count.spontaneous <= len(chosen) - len(decided), "a decided comparison has a decided baseline"
    assert count.exposed >= len(decided), "what was concluded was exposed"


@given(chosen=st.lists(st.integers(0, 6), max_size=8), data=st.data())
def test_order_changes_no_count(chosen: list[int], data: st.DataObject) -> None:
    again = data.draw(st.permutations(chosen))
    one, other = (count_ledger(plan_of(1), (), [pool()[at] for at in order]) for order in (chosen, again))
    assert one == other
