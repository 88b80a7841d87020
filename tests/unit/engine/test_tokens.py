"""Counting what answers report as used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from oyer.engine.tokens import TokenCount


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
