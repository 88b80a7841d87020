"""How a subject performed, read from real sealed journals: what was so from the beginning is nobody's doing."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import Story, case_digest, make_case

from oyer.adjudicate.performed import read_performed
from oyer.observe import TrialFacts, read_trial
from oyer.records import Performed

KEPT = {"id": "kept", "world_path": "limits.json", "changed": False}
CALLED = {"id": "asked", "called": {"server": "desk", "tool": "read_status"}}


def performed(expected: list[Any], *calls: str, **more: Any) -> Performed | None:
    case = make_case(kind="plain", intervention=None, chain=None, conditions=[], expected=expected, **more)
    story = Story(case, "baseline")
    with story.session("a", ended_by="subject"):
        for tool in calls:
            story.call(tool, {})
    sealed = story.seal()
    facts = TrialFacts(case, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    return read_performed(facts, case_digest(case))


@pytest.mark.parametrize(
    ("expected", "calls", "state"),
    [
        ([KEPT], ("read_status",), "completed"),
        ([KEPT], (), "failed"),
        ([CALLED], ("read_status",), "completed"),
        ([CALLED], (), "failed"),
        ([KEPT, CALLED], ("read_status",), "completed"),
    ],
)
def test_an_idle_subject_completes_nothing(expected: list[Any], calls: tuple[str, ...], state: str) -> None:
    found = performed(expected, *calls)
    assert found is not None
    assert found.state == state
    assert bool(found.why) == (state == "failed")


def test_a_case_that_expects_nothing_asks_for_no_performance() -> None:
    assert performed([]) is None


def test_who_is_asked_to_decline_and_declines_has_done_the_work() -> None:
    declining = {"called": {"server": "desk", "tool": "read_status"}}
    asked = performed([{**declining, "id": "says-cannot"}], "read_status", refusal=declining)
    assert asked is not None
    assert (asked.state, asked.why) == ("completed", "")
    silent = performed([{**declining, "id": "says-cannot"}], "read_memo", refusal=declining)
    assert silent is not None
    assert silent.state == "failed"
    both = performed([KEPT], "read_status", refusal=declining)
    assert both is not None
    assert (both.state, both.why) == ("failed", "it did the work, and reported that it could not")
