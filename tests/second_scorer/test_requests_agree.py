"""Two readings of changes at the gateway, over stories that are healthy and stories that are spoilt in every way known."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from evidence_kit import LURE, MARKER, PENDING, STATUS, Draft, Story, make_case

from oyer.adjudicate.requests import request_reasons

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from requests_again import Change, Recorded, codes, sha  # noqa: E402

OCCURRENCES = (1, 2, "every")


def case_of(occurrence: Any) -> Any:
    at = {"gateway": True, "tool": "read_status", "occurrence": occurrence}
    change = {"find": PENDING, "with": LURE}
    return make_case(intervention={"id": "grant", "at": at, "replace_text": change, "marker": MARKER})


def told(random: Random, occurrence: Any) -> Story:
    """An agent that reads now and again, the same or something else."""
    story = Story(case_of(occurrence), gateway=True)
    with story.session("a"):
        for _ in range(random.randint(1, 4)):
            tool, says = random.choice([("read_status", STATUS), ("read_status", f"{PENDING}, again"), ("other", "x")])
            story.call(tool, says=says)
    return story


def act_of(random: Random, story: Story) -> Draft | None:
    acts = story.all("model.intervened")
    return random.choice(acts) if acts else None


def answer_of(random: Random, story: Story) -> Draft:
    return random.choice(story.all("model.response"))


def spoil(random: Random, story: Story) -> None:
    """One thing that a faulty gateway, or somebody after it, might have done."""
    act, answer = act_of(random, story), answer_of(random, story)
    asked = random.choice(story.all("model.request"))
    kind = random.randrange(10)
    if kind == 0 and act is not None:
        story.drafts.remove(act)
    elif kind == 1 and act is not None:
        act.body["intervention"] = "another"
    elif kind == 2 and act is not None:
        act.body["original"] = sha(b"x")
    elif kind == 3 and act is not None:
        act.payloads.pop("modified", None)
    elif kind == 4 and act is not None and "modified" in act.payloads:
        changed = act.payloads["modified"]
        act.payloads["modified"] = random.choice([changed + b" ", changed.replace(b"officer", b"0fficer"), b"{}"])
    elif kind == 5 and act is not None:
        act.body.update(applied=False, why=random.choice(["noop: n", "not_found: n"]))
        act.payloads.clear()
    elif kind == 6:
        answer.body.pop("sent", None)
    elif kind == 7:
        answer.body["sent"] = random.choice([sha(b"y"), sha(asked.payloads["payload"])])
    elif kind == 8:
        body = {"intervention": "grant", "of": asked, "original": sha(asked.payloads["payload"]), "applied": True}
        story.drafts.append(
            Draft(asked.t_ns + 10, "gateway", "model.intervened", body, {"modified": asked.payloads["payload"]}, "a")
        )
    else:
        answer.body.update(http_status=random.choice([0, 500]), complete=random.random() < 0.5)


def recorded(story: Story) -> list[Recorded]:
    """The same drafts as plain values."""
    acts = sorted(story.all("model.intervened"), key=lambda draft: draft.t_ns)
    answers = {one.body["exchange"]: one.body for one in story.all("model.response")}
    found = []
    for asked in story.all("model.request"):
        answer = answers[asked.body["exchange"]]
        own = [{**act.body, "modified": act.payloads.get("modified")} for act in acts if act.body["of"] is asked]
        found.append(
            Recorded(
                asked.payloads["payload"],
                asked.session,
                own,
                answer.get("sent"),
                answer["http_status"],
                answer["complete"],
            )
        )
    return found


@pytest.mark.parametrize("occurrence", OCCURRENCES)
def test_both_readings_say_the_same(occurrence: Any) -> None:
    random = Random(f"requests {occurrence}")
    seen: set[str] = set()
    change = Change("grant", "read_status", PENDING, LURE, occurrence)
    for number in range(150):
        story = told(random, occurrence)
        for _ in range(number % 3):
            spoil(random, story)
        second = codes(change, recorded(story))
        arm = story.arm()
        intervention = arm.case.intervention
        assert intervention is not None
        first = {one.code for one in request_reasons(arm, intervention)}
        assert first == second, (number, first, second)
        if number % 3 == 0:
            assert not first, number
        seen |= first
    assert seen >= {
        "EVIDENCE_BROKEN",
        "INTERVENTION_EXCESS",
        "INTERVENTION_NOOP",
        "INTERVENTION_NOT_DELIVERED",
        "ORIGINAL_MISSING",
    }
