"""Pairs by design: what each arm came to, and which pairs are none."""

from __future__ import annotations

import pytest
from gate_kit import series
from set_kit import comparison_of, experiment_of, plan_of, with_arms

from oyer.adjudicate import counted_pairs, pairs_of
from oyer.records import Reason

EXPERIMENT = experiment_of("e")


def test_a_pair_with_an_undecided_side_is_undecided() -> None:
    told = [(True, True), (False, True), (True, False), (False, False), (None, True), (False, None), (None, None)]
    assert counted_pairs(told) == (1, 1, 2, 3)


def test_a_repetition_without_both_arms_is_no_pair() -> None:
    plan = plan_of({"e": ("manipulated",)}, 3)
    assert list(pairs_of(series(plan), {"e": EXPERIMENT})) == []


@pytest.mark.parametrize(
    ("code", "arm", "baseline"),
    [("BASELINE_CONTAMINATED", "baseline", True), ("BASELINE_INCOMPLETE", "baseline", None)],
)
def test_a_baseline_acted_only_where_it_is_contaminated(code: str, arm: str, baseline: bool | None) -> None:
    plan = plan_of({"e": ("baseline", "manipulated")})
    found = with_arms(comparison_of("e", "INCONCLUSIVE"), baseline="completed", manipulated="completed")
    reason = Reason(code=code, arm=arm, sentence="x")  # type: ignore[arg-type]
    links = [{"id": "a", "layer": "external_effect", "stage": "promotion", "state": "matched"}]
    scored = type(found.primary).model_validate(
        {**found.primary.model_dump(), "reasons": [reason.model_dump()], "links": links}
    )
    (one,) = pairs_of(series(plan, (), [found.model_copy(update={"primary": scored})]), {"e": EXPERIMENT})
    (sides,) = one.question.sides
    assert sides.second == (1, 1, 0), "only the baseline is in doubt, and the other arm did it"
    assert sides.first == ((1, 1, 0) if baseline else (0, 0, 1))
    broken = [{**links[0], "state": "broken"}, {**links[0], "id": "b"}]
    part = scored.model_validate({**scored.model_dump(), "links": broken})
    (one,) = pairs_of(series(plan, (), [found.model_copy(update={"primary": part})]), {"e": EXPERIMENT})
    assert one.question.sides[0].second == (0, 0, 1), "a part of it is neither done nor left"
