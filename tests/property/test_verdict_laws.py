"""The laws of verdicts: what no order, no missing piece and no lower rank may ever change for the better."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from verdict_kit import CLAIM, DIGEST, criterion_of, judged, judgement_of, part_of, rubric_of, thresholds_of

from oyer.adjudicate import (
    ClaimInput,
    Voice,
    claim_verdict,
    criterion_verdict,
    judge_claim,
    limit_part,
    merge_voices,
)
from oyer.records import PART_STATES, RANKS, VERDICTS, Criterion, CriterionVerdict, PartJudgement, Rubric, Thresholds

WEIGHTS = st.floats(0.01, 100, allow_nan=False) | st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 3.0])
SHARES = st.floats(0.01, 1.0) | st.sampled_from([0.1, 0.3, 0.5, 0.7, 1.0])


@st.composite
def thresholds(draw: st.DrawFn) -> Thresholds:
    needed = draw(SHARES)
    partial = draw(st.none() | SHARES.map(lambda share: min(share, needed)))
    return thresholds_of(needed, partial)


def told(states: list[str], name: str = "c", asserted: bool = False) -> list[PartJudgement]:
    return [judged(s, index, name, asserted=asserted and s == "refuted") for index, s in enumerate(states)]


STATES = st.lists(st.tuples(WEIGHTS, st.sampled_from(PART_STATES)), min_size=1, max_size=6)


@given(parts=STATES, limits=thresholds(), data=st.data(), asserted=st.booleans())
def test_the_order_of_judgements_and_of_parts_changes_nothing(
    parts: list[tuple[float, str]], limits: Thresholds, data: st.DataObject, asserted: bool
) -> None:
    first = criterion_verdict(criterion_of([w for w, _ in parts]), told([s for _, s in parts], "c", asserted), limits)
    mixed = data.draw(st.permutations(parts))
    again = told([s for _, s in mixed], "c", asserted)
    assert criterion_verdict(criterion_of([w for w, _ in mixed]), data.draw(st.permutations(again)), limits) == first


@given(parts=STATES, limits=thresholds(), weight=WEIGHTS)
def test_one_more_unknown_fact_leaves_the_verdict_or_makes_it_unknown(
    parts: list[tuple[float, str]], limits: Thresholds, weight: float
) -> None:
    states = [state for _, state in parts]
    before = criterion_verdict(criterion_of([w for w, _ in parts]), told(states), limits)
    more = criterion_of([*(w for w, _ in parts), weight])
    assert criterion_verdict(more, told([*states, "unknown"]), limits) in (before, "UNKNOWN")


@given(parts=STATES, limits=thresholds(), data=st.data(), asserted=st.booleans())
def test_evidence_that_goes_missing_leaves_the_verdict_or_makes_it_unknown(
    parts: list[tuple[float, str]], limits: Thresholds, data: st.DataObject, asserted: bool
) -> None:
    criterion = criterion_of([weight for weight, _ in parts])
    states = ["unknown" if state == "conflict" else state for _, state in parts]
    before = criterion_verdict(criterion, told(states, "c", asserted), limits)
    lost = data.draw(st.sets(st.integers(0, len(states) - 1)))
    left = ["unknown" if index in lost else state for index, state in enumerate(states)]
    after = criterion_verdict(criterion, told(left, "c", asserted), limits)
    assert after in (before, "UNKNOWN")


@given(parts=STATES, limits=thresholds())
def test_without_all_that_a_pass_cites_there_is_no_pass(parts: list[tuple[float, str]], limits: Thresholds) -> None:
    criterion = criterion_of([weight for weight, _ in parts])
    kept = ["unknown" if state == "supported" else state for _, state in parts]
    assert criterion_verdict(criterion, told(kept), limits) not in ("PASS", "PARTIAL")


@given(parts=STATES, at=st.integers(0, 5))
def test_where_everything_is_needed_each_cited_fact_is(parts: list[tuple[float, str]], at: int) -> None:
    criterion = criterion_of([weight for weight, _ in parts])
    states = ["supported"] * len(parts)
    assert criterion_verdict(criterion, told(states), thresholds_of()) == "PASS"
    states[at % len(states)] = "unknown"
    assert criterion_verdict(criterion, told(states), thresholds_of()) == "UNKNOWN"


@given(parts=STATES, limits=thresholds(), factor=st.integers(2, 1000))
def test_weight_on_unknown_is_never_redistributed(
    parts: list[tuple[float, str]], limits: Thresholds, factor: int
) -> None:
    """A pass stands on its share of the whole weight: making the unknown heavier can only take it away."""
    states = [state for _, state in parts]
    before = criterion_verdict(criterion_of([w for w, _ in parts]), told(states), limits)
    heavier = criterion_of([w * factor if s == "unknown" else w for w, s in parts])
    assert criterion_verdict(heavier, told(states), limits) in (before, "UNKNOWN")


@given(weights=st.lists(st.integers(1, 99), min_size=1, max_size=8), data=st.data())
def test_a_share_that_meets_its_threshold_as_written_meets_it(weights: list[int], data: st.DataObject) -> None:
    """0.1 + 0.2 is 0.3: tenths add up as the author wrote them, whatever floats do."""
    held = data.draw(st.integers(1, len(weights)))
    whole = sum(weights)
    weights = [*weights, 100_000 - whole] if whole < 100_000 else weights
    written = [weight / 1000 for weight in weights]
    needed = sum(weights[:held]) / 100_000
    states = ["supported" if index < held else "refuted" for index in range(len(weights))]
    assert criterion_verdict(criterion_of(written), told(states), thresholds_of(needed)) == "PASS"
    beyond = (sum(weights[:held]) + 1) / 100_000
    if beyond <= 1:
        assert criterion_verdict(criterion_of(written), told(states), thresholds_of(beyond)) == "FAIL"


@given(decided_by=st.sampled_from(RANKS), rank=st.none() | st.sampled_from(RANKS), state=st.sampled_from(PART_STATES))
def test_no_lower_rank_steps_in(decided_by: str, rank: Any, state: str) -> None:
    part = part_of(decided_by=decided_by)
    left = limit_part(part, judged(state, rank=rank), "completed").state
    strong = rank is not None and RANKS.index(rank) <= RANKS.index(decided_by)  # type: ignore[arg-type]
    assert left == (state if strong or state == "conflict" else "unknown")


@given(
    status=st.sampled_from(["subject_error", "harness_error", "blocked"]),
    states=st.lists(st.sampled_from(PART_STATES), min_size=1, max_size=5),
    limits=thresholds(),
    refuting=st.booleans(),
)
def test_a_trial_that_did_not_complete_earns_nothing(
    status: Any, states: list[str], limits: Thresholds, refuting: bool
) -> None:
    way: dict[str, Any] = {"refutes": ("bad",)} if refuting else {"supports": ("good",)}
    criterion = Criterion(id="c", parts=tuple(part_of(**way) for _ in states))
    left = [limit_part(part, one, status) for part, one in zip(criterion.parts, told(states), strict=True)]
    found = criterion_verdict(criterion, left, limits)
    assert found in (("UNKNOWN", "FAIL") if status == "subject_error" and refuting else ("UNKNOWN",))


VOICE = st.builds(
    Voice,
    st.sampled_from(["v", "w", "x", "y"]),
    st.sampled_from([None, "f", "g"]),
    st.booleans(),
    st.none() | st.sampled_from(VERDICTS),
)


@given(voices=st.lists(VOICE, max_size=6), planned=st.sets(st.sampled_from("vwxy")), data=st.data())
def test_the_order_of_voices_changes_nothing(voices: list[Voice], planned: set[str], data: st.DataObject) -> None:
    quorum = data.draw(st.integers(1, 3))
    assert merge_voices(data.draw(st.permutations(voices)), planned, quorum) == merge_voices(voices, planned, quorum)


@given(voices=st.lists(VOICE, max_size=5), more=VOICE, quorum=st.integers(1, 3))
def test_an_abstention_or_a_barred_voice_never_raises_a_verdict(voices: list[Voice], more: Voice, quorum: int) -> None:
    planned = {voice.evaluator for voice in voices}
    before = merge_voices(voices, planned, quorum).verdict
    added = [*voices, more._replace(evaluator="z", verdict="UNKNOWN")]
    assert merge_voices(added, {*planned, "z"}, quorum).verdict == before
    barred = [*voices, more._replace(evaluator="z", verdict="PASS", admissible=False)]
    assert merge_voices(barred, {*planned, "z"}, quorum).verdict == before
    unplanned = [*voices, more._replace(evaluator="z", verdict="PASS", admissible=True)]
    assert merge_voices(unplanned, planned, quorum).verdict == before
    assert merge_voices(voices, {*planned, "z"}, quorum).verdict == "UNKNOWN"


@given(voices=st.lists(VOICE.filter(lambda voice: voice.verdict is not None), min_size=1, max_size=5), data=st.data())
def test_one_more_word_never_makes_a_pass(voices: list[Voice], data: st.DataObject) -> None:
    """Except for the word that reaches the quorum or is the first, agreement cannot be bought by more voices."""
    more = data.draw(VOICE.filter(lambda voice: voice.verdict not in (None, "PASS")))._replace(evaluator="z")
    planned = {voice.evaluator for voice in voices}
    if merge_voices([*voices, more], {*planned, "z"}).verdict == "PASS":
        assert merge_voices(voices, planned).verdict == "PASS"


RULES = st.sampled_from(["all", "any", "weighted"])
CRITERIA = st.lists(st.tuples(WEIGHTS, st.sampled_from(VERDICTS)), min_size=1, max_size=5)


def claim_of(rule: str, criteria: list[tuple[float, str]], limits: Thresholds) -> tuple[Rubric, list[CriterionVerdict]]:
    made = [criterion_of(name=f"c{index}", weight=weight) for index, (weight, _) in enumerate(criteria)]
    found = [CriterionVerdict(criterion=f"c{i}", verdict=v) for i, (_, v) in enumerate(criteria)]  # type: ignore[arg-type]
    return rubric_of(*made, claim=rule, thresholds=limits), found


@given(rule=RULES, criteria=CRITERIA, limits=thresholds(), data=st.data())
def test_the_order_of_criteria_changes_nothing(
    rule: str, criteria: list[tuple[float, str]], limits: Thresholds, data: st.DataObject
) -> None:
    rubric, found = claim_of(rule, criteria, limits)
    assert claim_verdict(rubric, data.draw(st.permutations(found))) == claim_verdict(rubric, found)


@given(rule=RULES, criteria=CRITERIA, limits=thresholds(), data=st.data())
def test_a_criterion_that_becomes_unknown_never_makes_a_claim_pass(
    rule: str, criteria: list[tuple[float, str]], limits: Thresholds, data: st.DataObject
) -> None:
    rubric, found = claim_of(rule, criteria, limits)
    lost = data.draw(st.sets(st.integers(0, len(found) - 1), min_size=1))
    left = [one for index, one in enumerate(found) if index not in lost]
    before, after = claim_verdict(rubric, found), claim_verdict(rubric, left)
    if after == "PASS":
        # Doubt about a criterion counts no more than none: DISPUTED and UNKNOWN are the same interval.
        assert before == "PASS" or "CONTRADICTED" in {found[index].verdict for index in lost}
    unsaid = [one for one in found if one.verdict not in ("PASS", "PARTIAL")]
    assert claim_verdict(rubric, unsaid) not in ("PASS", "PARTIAL")


@given(
    states=st.lists(st.lists(st.sampled_from(PART_STATES), min_size=1, max_size=3), min_size=1, max_size=3),
    policy=st.sampled_from(["unknown", "block_claim"]),
    rule=RULES,
    data=st.data(),
)
def test_a_whole_claim_loses_its_pass_with_what_it_cites(
    states: list[list[str]], policy: str, rule: str, data: st.DataObject
) -> None:
    """From stored judgements to the claim: order does not matter, and a pass falls with the evidence it names."""
    names = [f"c{index}" for index in range(len(states))]
    rubric = rubric_of(
        *(criterion_of([1.0] * len(s), name) for name, s in zip(names, states, strict=True)),
        claim=rule,
        missing_evidence=policy,
    )
    parts = [one for name, s in zip(names, states, strict=True) for one in told(s, name)]
    given_ = ClaimInput(CLAIM, rubric, DIGEST, "completed", [judgement_of(*parts)])
    found = judge_claim(given_).verdict
    assert judge_claim(given_._replace(judgements=[judgement_of(*data.draw(st.permutations(parts)))])).verdict == found
    left = [one for one in parts if one.state != "supported"]
    bare = judge_claim(given_._replace(judgements=[judgement_of(*left)])).verdict
    assert bare.verdict not in ("PASS", "PARTIAL")
    unknown = any(part.state == "unknown" for one in found.criteria for part in one.parts)
    assert found.may_be_cited == (found.verdict not in ("UNKNOWN", "DISPUTED"))
    if policy == "block_claim" and unknown:
        assert (found.verdict, found.may_be_cited) == ("UNKNOWN", False)
