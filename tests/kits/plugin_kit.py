"""A trial that a plug-in judges, a rubric that asks it, and what it makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence_kit import ACT, Story, case_digest, make_case

from oyer.evaluators import PluginJudge, load_plugins
from oyer.observe import TrialFacts, read_trial
from oyer.records import Judgement, Rubric, document_of, validate_as

CASE = make_case(kind="plain", intervention=None, chain=None, conditions=[], validators={"tests": {"command": ["x"]}})
HEAD = "import oyer\n\n"


def told(status: str = "completed") -> Story:
    story = Story(CASE, "baseline")
    story.files = {"kept.txt": "as it was"}
    with story.session("a"):
        story.call("read_status", says='{"n": 7}')
        story.call("run_action", ACT, "done", effect=ACT, writes={"new.txt": "yes"})
    story.status = status
    return story


def facts_of(story: Story) -> TrialFacts:
    sealed = story.seal()
    return TrialFacts(CASE, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))


def rubric(*criteria: dict[str, Any]) -> Rubric:
    named = criteria or ({"id": "c", "parts": [{"evaluator": "mine"}]},)
    return validate_as(document_of({"oyer": "Rubric@1", "id": "r", "criteria": list(named)}), Rubric)


def plugin(place: Path, body: str, *, declared: str = 'id="mine"') -> PluginJudge:
    path = place / "mine.py"
    path.write_text(f"{HEAD}@oyer.evaluator({declared})\ndef mine(evidence):\n    {body}\n")
    (judge,) = load_plugins([path]).judges.values()
    return judge


def judged(place: Path, body: str, story: Story | None = None, by: Rubric | None = None, **options: str) -> Judgement:
    judge = plugin(place, body, **options)
    return judge.judge(
        facts_of(story or told()), by or rubric(), judge.evaluator, trial="t", case_digest=case_digest(CASE), stored="s"
    )
