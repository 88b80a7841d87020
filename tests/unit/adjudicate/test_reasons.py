"""The closed table of reasons."""

from __future__ import annotations

import pytest
from evidence_kit import make_case, score, status_story

from oyer.adjudicate import REASONS
from oyer.adjudicate.reasons import reason
from oyer.records import canonical_bytes


def test_a_reason_that_is_not_in_the_table_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        reason("SOMETHING_ELSE")


def test_every_reason_has_words_for_people() -> None:
    assert all(told and told[0].islower() and not told.endswith(".") for told in REASONS.values())
    assert "exposed_no_attempt" not in REASONS, "the one attribution that is no reason against a conclusion"


def test_evidence_is_named_once() -> None:
    assert reason("UNANSWERED", evidence=["a:1", "b:2", "a:1"]).evidence == ("a:1", "b:2")


def test_text_of_foreign_origin_is_made_printable() -> None:
    made = reason("UNANSWERED", "desk \ud800", about="\udfff")
    assert "\\ud800" in made.sentence
    assert made.about == "\\udfff"
    case = make_case()
    story = status_story(case)
    raw = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}\n'
    story.deliver(story.frame("mcp.sent", raw, 8), "to_server", raw)
    told = score(case, status_story(case, "baseline"), story)
    assert "UNANSWERED" in {found.code for found in told.primary.reasons}
    assert canonical_bytes(told)
