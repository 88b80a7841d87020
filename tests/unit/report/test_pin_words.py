"""What two series fixed otherwise, in words: each thing once, and nothing that only follows."""

from __future__ import annotations

from typing import Any

from set_kit import DIGEST, case_of, plan_of

from oyer.records import Environment, Evaluator, PinSet, PlannedCase, Repeat, Rubric, TrialSuite
from oyer.report import FixedSide, pin_words

OTHER = "sha256:" + "1" * 64
ENVIRONMENT: dict[str, Any] = {
    "subject": {"driver": "model", "name": "mine", "revision": "r1", "identified": True, "model": "small"},
    "prompts": DIGEST,
    "tools": {"fs": {"command": ["serve"], "listing": "raw:" + "0" * 64}},
    "dependencies": {"anyio": "4.0.0"},
    "dependencies_digest": DIGEST,
    "hardware": {"system": "Linux", "machine": "x86_64", "cores": 2, "memory_bytes": 8},
    "harness": {"version": "0.1.0", "source": DIGEST},
    "python": "3.11.7",
    "isolation": "process",
}
PINS: dict[str, Any] = dict.fromkeys(
    ("case", "world", "prompts", "subject", "parameters", "harness", "dependencies"), DIGEST
)
RUBRIC = {"oyer": "Rubric@1", "id": "r", "criteria": [{"id": "c", "parts": [{"evaluator": "judge"}]}]}
SUITE = {"oyer": "TrialSuite@1", "id": "s", "cases": [{"case": "c"}, {"case": "d"}]}


def side(environment: dict[str, Any] | None = None, **changes: Any) -> FixedSide:
    made = Environment.model_validate({**ENVIRONMENT, **(environment or {})})
    found = FixedSide(
        plan=plan_of(["c", "d"], 2),
        cases={name: case_of(name) for name in ("c", "d")},
        rubrics={"r": Rubric.model_validate(RUBRIC)},
        evaluators={"judge": Evaluator(id="judge", kind="model", model="m", prompt=DIGEST)},
        environments={"c": made, "d": made},
        pinned=dict.fromkeys(("c", "d"), PinSet.model_validate({**PINS, "models": {"small": "small-1"}})),
        suite=TrialSuite.model_validate(SUITE),
    )
    return found._replace(**changes)


def said(old: FixedSide, new: FixedSide) -> list[str]:
    return [one.sentence for one in pin_words(old, new)]


def test_nothing_is_said_of_what_is_alike() -> None:
    assert pin_words(side(), side()) == ()


def test_a_subject_is_told_once_however_many_cases_it_ran() -> None:
    other = side({"subject": {**ENVIRONMENT["subject"], "model": "large", "revision": "r2"}})
    assert said(side(), other) == [
        "the subject: revision was r1, is r2",
        "the subject: model was small, is large",
    ]


def test_host_harness_packages_and_servers_are_told_by_their_names() -> None:
    other = side(
        {
            "hardware": {**ENVIRONMENT["hardware"], "cores": 8},
            "harness": {"version": "0.2.0", "source": DIGEST},
            "dependencies": {"anyio": "4.1.0", "new": "1"},
            "dependencies_digest": OTHER,
            "python": "3.12.1",
            "prompts": OTHER,
            "tools": {"fs": {"command": ["serve", "-v"], "listing": "raw:" + "0" * 64}},
        }
    )
    assert set(said(side(), other)) == {
        "the host: cores was 2, is 8",
        "the harness: version was 0.1.0, is 0.2.0",
        "the packages of the harness: anyio was 4.0.0, is 4.1.0",
        "the packages of the harness: new is new: 1",
        "Python: was 3.11.7, is 3.12.1",
        "what was delivered to the subject is not the same",
        'the servers: fs.command was ["serve"], is ["serve", "-v"]',
    }


def test_a_prompt_is_told_by_its_words_and_not_again_by_what_was_delivered() -> None:
    turned = case_of("c", sessions=[{"id": "a", "turns": ["Do it now."]}])
    other = side({"prompts": OTHER}, cases={"c": turned, "d": turned.model_copy(update={"id": "d"})})
    told = said(side(), other)
    assert 'case c: its prompt: "it." (word 2) became "it now."' in told
    assert not any("delivered" in one for one in told)


def test_cases_worlds_rubrics_evaluators_models_and_plans() -> None:
    plan = plan_of(["c", "d"], 2)
    moved = tuple(
        PlannedCase(id=one.id, revision=1, digest=one.digest, world=OTHER if one.id == "c" else None)
        for one in plan.cases
    )
    old = side(
        plan=plan.model_copy(
            update={
                "cases": tuple(
                    one.model_copy(update={"world": DIGEST if one.id == "c" else None}) for one in plan.cases
                )
            }
        )
    )
    other = side(
        plan=plan.model_copy(update={"cases": moved, "seed": 7, "repeat": Repeat(fixed=3)}),
        rubrics={},
        evaluators={"judge": Evaluator(id="judge", kind="model", model="n", prompt=DIGEST)},
        pinned={"c": PinSet.model_validate({**PINS, "models": {"small": "small-2"}})},
        cases={"c": case_of("c"), "e": case_of("e")},
        suite=TrialSuite.model_validate({**SUITE, "title": "Two"}),
    )
    assert set(said(old, other)) == {
        "the suite: title was , is Two",
        "case d is no longer there",
        "case e is new",
        "case c: its fixture world has other content",
        "rubric r is no longer there",
        "evaluator judge: model was m, is n",
        "the model that answered: small was small-1, is small-2",
        "the plan: seed: was 0, is 7",
        "the plan: repeat: fixed was 1, is 3",
    }


def test_only_one_of_them_ran_a_suite() -> None:
    assert said(side(), side(suite=None)) == ["only the first series ran a suite"]
    assert said(side(suite=None), side()) == ["only the second series ran a suite"]
