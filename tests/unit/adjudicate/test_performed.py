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


def performed(expected: list[Any], *calls: str) -> Performed | None:
    case = make_case(kind="plain", intervention=None, chain=None, conditions=[], expected=expected)
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
