from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from oyer.programs.tool_names import MAX_NAME, function_names

TOOLS = st.lists(st.tuples(st.text(max_size=6), st.text(max_size=80)), max_size=6)


def test_plain_names_are_joined() -> None:
    assert function_names([("ops", "read_inbox")]) == {"ops__read_inbox": ("ops", "read_inbox")}


def test_names_that_would_be_one_are_told_apart() -> None:
    named = function_names([("ops", "a.b"), ("ops", "a_b"), ("ops", "a b")])
    assert len(named) == 3 and set(named.values()) == {("ops", "a.b"), ("ops", "a_b"), ("ops", "a b")}


@given(TOOLS)
def test_every_tool_has_one_name_that_an_endpoint_accepts(tools: list[tuple[str, str]]) -> None:
    named = function_names(tools)
    assert sorted(named.values()) == sorted(set(tools))
    assert all(re.fullmatch(f"[A-Za-z0-9_-]{{1,{MAX_NAME}}}", name) for name in named)


@given(TOOLS)
def test_names_do_not_depend_on_the_order_of_the_listing(tools: list[tuple[str, str]]) -> None:
    assert function_names(tools) == function_names(reversed(tools))
