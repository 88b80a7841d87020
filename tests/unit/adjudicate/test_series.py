"""A whole series: order on disk does not matter, and what one trial's sink rejects counts against the run it names."""

from __future__ import annotations

from collections.abc import Mapping

from evidence_kit import ACT, RUNS, STATUS, Sealed, Story, make_case, status_story

from oyer.adjudicate import SeriesInput, SeriesResult, TrialInput, derive_series, derived_files, swapped_in
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


class Again(Story):
    """The same trial a second time."""

    @property
    def envelope(self) -> Envelope:
        return super().envelope._replace(trial=f"again-{self.condition}")


def repeated(*, reports: str) -> SeriesInput:
    """Two repetitions behind a gateway; `reports` answers in the second one, under the same name asked for."""
    first = [status_story(CASE, name, acts=name == "manipulated", gateway=True) for name in CONDITIONS]
    second: list[Story] = []
    for name in CONDITIONS:
        story = Again(CASE, name, run=f"again{RUNS[name]}", gateway=True)
        with story.session("a"):
            story.call("read_status", says=STATUS)
            if name == "manipulated":
                story.call("run_action", ACT, "done", effect=ACT)
        story.all("trial.opened")[0].body["repetition"] = 2
        for answer in story.all("model.response"):
            answer.body["reported_model"] = reports
            answer.payloads["payload"] = answer.payloads["payload"].replace(b"m-1-2026", reports.encode())
        second.append(story)
    once = given({name: story.seal() for name, story in zip(CONDITIONS, first, strict=True)})
    more = [story.seal() for story in second]
    trials = {
        one.envelope.trial: TrialInput(1, 1, read_trial(one.journals, one.blobs.get, expect=one.envelope), None)
        for one in more
    }
    planned = [
        one.model_copy(update={"trial": f"again-{one.condition}", "repetition": 2, "position": at + 2})
        for at, one in enumerate(once.plan.trials)
    ]
    plan = once.plan.model_copy(update={"trials": (*once.plan.trials, *planned)})
    return once._replace(plan=plan, trials={**once.trials, **trials})


def test_a_model_that_is_swapped_between_repetitions_concludes_nothing_in_either() -> None:
    result = derive_series(repeated(reports="m-1-2099"))
    assert len(result.comparisons) == 2
    for comparison in result.comparisons:
        assert comparison.primary.mechanical_outcome == "INCONCLUSIVE"
        told = {(one.code, one.about, one.arm) for one in comparison.primary.reasons}
        assert told == {("PIN_DRIFT", "models.m-1", name) for name in CONDITIONS}
        assert "m-1-2099" in comparison.primary.reasons[0].sentence
    first, second = (one.primary.reasons[0].evidence for one in result.comparisons)
    assert first[0].startswith("again-baseline/gateway:") and second[0].startswith("t-baseline/gateway:")


def test_one_model_in_all_repetitions_is_no_drift() -> None:
    series = repeated(reports="m-1-2026")
    assert swapped_in(series) == {}
    told = [one.primary.mechanical_outcome for one in derive_series(series).comparisons]
    assert told == ["CONFIRMED", "CONFIRMED"]


def test_what_is_found_while_deriving_is_what_is_found_beforehand() -> None:
    series = repeated(reports="m-1-2099")
    known = series._replace(named={}, swapped=swapped_in(series))
    assert derived_files(derive_series(known)) == derived_files(derive_series(series))


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
