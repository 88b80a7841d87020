"""Looking at many cases: a few at a time, and nothing goes on behind a failure."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from oyer.engine import CaseSource
from oyer.engine.looking import LOOKING_AT_ONCE, look_at_all
from oyer.errors import RecordError
from oyer.records import parse_cases


def sources(count: int) -> list[CaseSource]:
    text = "---\n".join(f"oyer: Case@1\nid: c{n}\neffect_class: none\nprompt: Go.\n" for n in range(count))
    return [CaseSource(loaded, Path(), None) for loaded in parse_cases(text.encode(), name="c.yaml")]


def test_no_more_than_a_few_at_a_time_and_every_answer_under_its_case() -> None:
    running, most = 0, 0

    async def look(source: CaseSource) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return source.case.id.upper()

    found = asyncio.run(look_at_all(sources(11), look))
    assert found == {f"c{n}": f"C{n}" for n in range(11)}
    assert most == LOOKING_AT_ONCE


def test_the_first_failure_is_raised_as_it_is_and_the_others_are_ended() -> None:
    ended: list[str] = []

    async def look(source: CaseSource) -> Any:
        if source.case.id == "c1":
            raise RecordError("E-X", "this one is wrong")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(source.case.id)

    with pytest.raises(RecordError, match="this one is wrong"):
        asyncio.run(look_at_all(sources(3), look))
    assert sorted(ended) == ["c0", "c2"]
