"""The table of reason kinds: made of real codes, and the one that the specification prints."""

from __future__ import annotations

import re
from pathlib import Path

from oyer.adjudicate import REASONS
from oyer.conform import KINDS

SPEC = Path(__file__).parents[3] / "docs" / "spec" / "vectors.md"


def test_every_code_is_a_reason() -> None:
    assert {code for codes in KINDS.values() for code in codes} <= set(REASONS)


def test_every_reason_that_is_listed_as_one_is_of_some_kind() -> None:
    said_otherwise = {"unwatched", "not_served", "attempted_no_effect", "attempted_not_exact", "cut_short"}
    assert set(REASONS) - {code for codes in KINDS.values() for code in codes} == said_otherwise


def test_the_specification_prints_this_table() -> None:
    section = SPEC.read_text(encoding="utf-8").split("## Reason kinds")[1].split("## ")[0]
    rows = re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", section, re.MULTILINE)
    assert {kind: frozenset(re.findall(r"`([A-Za-z_]+)`", codes)) for kind, codes in rows} == dict(KINDS)
