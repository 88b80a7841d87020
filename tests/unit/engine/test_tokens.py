"""Counting what answers report as used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from oyer.engine.tokens import CostCount, TokenCount


class Kept:
    """A recorder that keeps the kinds it was given."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def record(self, kind: str, body: Mapping[str, Any], **_more: Any) -> str:
        self.kinds.append(kind)
        return f"gateway:{len(self.kinds) - 1}"

    def kept(self, raw: bytes) -> tuple[str, int]:
        return "sha256:", len(raw)


@pytest.mark.parametrize(
    ("usages", "seen"),
    [
        ([{"total": 10}], []),
        ([{"total": 11}], [11]),
        ([{"input": 6, "output": 5}], [11]),
        ([{"total": 6}, None, {}, {"total": 6}, {"total": 6}], [12]),
        ([None, None], []),
    ],
)
def test_the_budget_is_passed_once_and_only_by_what_is_reported(usages: list[Any], seen: list[int]) -> None:
    heard: list[int] = []
    kept = Kept()
    count = TokenCount(kept, 10, heard.append)
    for number, usage in enumerate(usages):
        assert count.record("model.response", {"usage": usage}) == f"gateway:{number}"
    assert heard == seen
    assert kept.kinds == ["model.response"] * len(usages)


def test_nothing_but_answers_counts_and_everything_is_recorded() -> None:
    heard: list[int] = []
    kept = Kept()
    count = TokenCount(kept, 1, heard.append)
    count.record("model.request", {"usage": {"total": 100}})
    assert (heard, kept.kinds, count.kept(b"abc")) == ([], ["model.request"], ("sha256:", 3))


PRICES = {"m": {"input": "1", "output": "2"}}


def answer(usage: Any, **more: Any) -> dict[str, Any]:
    whole = {"http_status": 200, "complete": True}
    return {"requested_model": "m", "reported_model": "m", "usage": usage, **whole, **more}


@pytest.mark.parametrize(
    ("answers", "seen", "unknown"),
    [
        ([answer({"input": 6, "output": 2})], [], 0),
        ([answer({"input": 6, "output": 3})], [12], 0),
        (
            [answer({"input": 6, "output": 2}), answer({"input": 1, "output": 0}), answer({"input": 9, "output": 9})],
            [11],
            0,
        ),
        ([answer(None), answer(None)], [], 1),
        ([answer({"input": 1, "output": 1}, reported_model="swapped")], [], 1),
        ([answer(None, source="scripted"), answer(None, source="declared")], [], 0),
    ],
)
def test_a_budget_of_cost_is_passed_once_and_an_unknown_cost_is_said_once(
    answers: list[Any], seen: list[int], unknown: int
) -> None:
    heard: list[int] = []
    told: list[str] = []
    kept = Kept()
    count = CostCount(kept, 10, PRICES, "m", heard.append, lambda why, _: told.append(why))
    for one in answers:
        count.record("model.response", one)
    assert (heard, len(told), len(kept.kinds)) == (seen, unknown, len(answers))


@pytest.mark.parametrize(
    ("spoilt", "is_endpoints"),
    [
        ({}, True),
        ({"http_status": 429}, True),
        ({"http_status": 503}, True),
        ({"requested_model": "alias", "reported_model": "unpriced"}, True),
        ({"http_status": 400}, False),
        ({"complete": False}, False),
        ({"requested_model": None, "reported_model": None}, False),
        ({"requested_model": "dearer", "reported_model": "dearer"}, False),
    ],
)
def test_an_unknown_cost_is_the_endpoints_only_where_the_subject_cannot_have_brought_it_about(
    spoilt: dict[str, Any], is_endpoints: bool
) -> None:
    told: list[bool] = []
    count = CostCount(Kept(), 10, PRICES, "alias", lambda _: None, lambda _, whose: told.append(whose))
    count.record("model.response", answer(None, **spoilt))
    assert told == [is_endpoints]
