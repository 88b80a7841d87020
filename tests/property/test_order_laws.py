"""Laws of orders: a complete Williams square balances what directly precedes what, whatever its size."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oyer.plan import seeded_order, williams


@given(st.integers(2, 24))
def test_each_treatment_follows_each_other_equally_often(treatments: int) -> None:
    rows = williams(treatments)
    assert len(rows) == treatments * (1 if treatments % 2 == 0 else 2)
    assert all(sorted(row) == list(range(treatments)) for row in rows)
    follows = Counter(pair for row in rows for pair in pairwise(row))
    assert set(follows) == {(a, b) for a in range(treatments) for b in range(treatments) if a != b}
    assert set(follows.values()) == {len(rows) // treatments}


@given(st.integers(1, 24))
def test_each_treatment_stands_at_each_place_equally_often(treatments: int) -> None:
    rows = williams(treatments)
    for place in range(treatments):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // treatments}


@given(st.lists(st.integers(), max_size=30), st.integers(0, 2**53 - 1))
def test_a_seeded_order_holds_everything_once_and_is_the_same_again(items: list[int], seed: int) -> None:
    told = seeded_order(items, seed)
    assert sorted(told) == sorted(items)
    assert told == seeded_order(items, seed)
