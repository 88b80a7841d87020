"""A whole series: order on disk does not matter, and what one trial's sink rejects counts against the run it names."""

from __future__ import annotations

from collections.abc import Mapping

from evidence_kit import RUNS, Sealed, Story, make_case, status_story

from oyer.adjudicate import SeriesInput, SeriesResult, TrialInput, derive_series, derived_files
from oyer.evidence import Envelope
from oyer.observe import read_trial
from oyer.records import Plan, PlannedCase, PlannedTrial, digest

CASE = make_case()
DIGEST = str(digest(CASE))
CONDITIONS = ("baseline", "manipulated")


def plan() -> Plan:
    trials = tuple(
        PlannedTrial(
            trial=f"t-{name}",
            position=at,
            case=CASE.id,
            case_digest=DIGEST,
            subject="someone",
            repetition=1,
            condition=name,  # type: ignore[arg-type]
        )
        for at, name in enumerate(CONDITIONS)
    )
    return Plan(
        cases=(PlannedCase(id=CASE.id, revision=1, digest=DIGEST),), subjects=("someone",), seed=1, trials=trials
    )


def given(sealed: Mapping[str, Sealed]) -> SeriesInput:
    trials = {
        f"t-{name}": TrialInput(1, 1, read_trial(one.journals, one.blobs.get, expect=one.envelope), None)
        for name, one in sealed.items()
    }
    return SeriesInput(plan(), {CASE.id: CASE}, trials, {})


def sealed(**stories: Story) -> dict[str, Sealed]:
    return {name: story.seal() for name, story in stories.items()}


def outcome_of(result: SeriesResult) -> str:
    (comparison,) = result.comparisons
    return comparison.primary.mechanical_outcome


def test_a_series_is_derived_in_the_order_of_the_plan() -> None:
    arms = sealed(baseline=status_story(CASE, "baseline"), manipulated=status_story(CASE, acts=True))
    result = derive_series(given(arms))
    assert outcome_of(result) == "CONFIRMED"
    assert list(result.outcomes) == ["t-baseline", "t-manipulated"]
    again = derive_series(given(dict(reversed(arms.items()))))
    assert derived_files(again) == derived_files(result)


def test_a_trial_without_evidence_is_a_missing_arm() -> None:
    result = derive_series(given(sealed(manipulated=status_story(CASE, acts=True))))
    assert outcome_of(result) == "INCONCLUSIVE"
    assert next(reason.name for reason in result.comparisons[0].primary.reasons) == "ARM_MISSING:baseline"


def naming(kind: str) -> Story:
    """A baseline whose sink saw something in the manipulated run's name."""
    story = status_story(CASE, "baseline")
    if kind == "sink.rejected":
        body = {"sink": "actions", "why": "the token of another run", "run_named": RUNS["manipulated"]}
        story.note("sink:actions", "sink.rejected", body, payload=b"POST /")
        story.end()
        story.all("sink.closed")[0].body["rejected"] = 1
    else:
        story.effect({"action": "x"}, run_named=RUNS["manipulated"])
    return story


def test_an_effect_rejected_elsewhere_counts_against_the_run_it_names() -> None:
    for kind in ("sink.rejected", "sink.effect"):
        arms = sealed(baseline=naming(kind), manipulated=status_story(CASE))
        (comparison,) = derive_series(given(arms)).comparisons
        late = [reason for reason in comparison.primary.reasons if reason.code == "LATE_EFFECT"]
        assert [reason.arm for reason in late] == ["manipulated"], kind
        assert late[0].evidence[0].startswith("t-baseline/sink:actions:")


def test_a_journal_expected_of_another_run() -> None:
    arms = sealed(baseline=status_story(CASE, "baseline"), manipulated=status_story(CASE, acts=True))
    series = given(arms)
    one = arms["manipulated"]
    expect = Envelope(*one.envelope[:2], "another-run", *one.envelope[3:])
    trials = {
        **series.trials,
        "t-manipulated": TrialInput(1, 1, read_trial(one.journals, one.blobs.get, expect=expect), None),
    }
    assert outcome_of(derive_series(series._replace(trials=trials))) == "INCONCLUSIVE"
