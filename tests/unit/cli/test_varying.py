"""One case written once and pinned many times: by `vary`, and by the items of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oyer.cli import main
from oyer.cli.loading import read_case_file
from oyer.cli.scopes import load_suite

CASE = """\
oyer: Case@1
id: greet
kind: trap
effect_class: none
vary: {name: [Ada, Grace], tone: [kindly, briefly]}
prompt: Greet {var.name} {var.tone}.
controls: {negative: greet/plain}
---
oyer: Case@1
id: greet/plain
kind: negative_control
like: greet
prompt: Greet {var.name}, {var.tone}, as you like.
"""
SUITE = "---\noyer: TrialSuite@1\nid: s\ncases: [greet]\n"
TEMPLATE = """\
oyer: Case@1
id: count
kind: trap
effect_class: none
prompt: Count {var.what}.
controls: {positive: count/none}
---
oyer: Case@1
id: count/none
kind: positive_control
like: count
"""


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def prompts(path: Path) -> dict[str, str]:
    return {p.loaded.case.id: p.loaded.case.sessions[0].turns[0] for p in read_case_file(path).cases}


def test_every_combination_is_a_case_with_an_id_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CASE)
    found = prompts(path)
    assert len(found) == 8
    assert sorted(text for name, text in found.items() if name.startswith("greet/v-")) == [
        "Greet Ada briefly.",
        "Greet Ada kindly.",
        "Greet Grace briefly.",
        "Greet Grace kindly.",
    ]
    path.write_text(CASE.replace("[Ada, Grace]", "[Grace, Edsger, Ada]"))
    more = prompts(path)
    assert {name: text for name, text in more.items() if name in found} == found, "what was there keeps its id"
    assert len(more) == 12


def test_a_control_goes_along_with_its_case(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(CASE + SUITE)
    suite = load_suite(str(path))
    assert len(suite.cases) == 8
    for placed in suite.cases:
        case = placed.loaded.case
        if case.kind == "trap":
            [control] = case.controls.negative
            assert control == "greet/plain" + case.id.removeprefix("greet")
            assert suite.scope.records[control].vars == case.vars
    assert [one.case for one in suite.suite.cases] == [
        p.loaded.case.id for p in suite.cases if "plain" not in p.loaded.case.id
    ]


def test_a_control_that_does_not_vary_serves_them_all(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(CASE.replace("like: greet\n", "like: greet\nvary: null\nvars: {name: Bob, tone: well}\n") + SUITE)
    assert len(load_suite(str(path)).cases) == 5


def test_each_has_a_digest_and_one_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(CASE + SUITE)
    cases = told(capsys, "check", path)["files"][0]["cases"]
    assert len({case["digest"] for case in cases}) == 8
    one = next(case["id"] for case in cases if case["id"].startswith("greet/v-"))
    plan = told(capsys, "plan", path, "--subject", "scripted:idle", "-k", one)["plan"]
    assert {trial["case"] for trial in plan["trials"]} == {one, "greet/plain" + one.removeprefix("greet")}
    assert len(told(capsys, "plan", path, "--subject", "scripted:idle", "-k", "greet")["plan"]["trials"]) == 8


@pytest.mark.parametrize(
    ("vary", "place"),
    [
        ("[Ada]", "5:7: vary"),
        ("{name: Ada}", "5:14: vary.name"),
        ("{name: []}", "5:14: vary.name"),
        ("{name: [Ada, 1]}", "5:14: vary.name"),
        ("{name: [Ada, Ada]}", "5:20: vary.name[1]"),
    ],
)
def test_a_vary_that_is_none(tmp_path: Path, vary: str, place: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CASE.replace("{name: [Ada, Grace], tone: [kindly, briefly]}", vary))
    wrong = [p for p in read_case_file(path).problems if p.code == "E-CASE-VARY"]
    assert [problem.where for problem in wrong] == [f"{path}:{place}"]


def items_suite(place: Path, lines: str, cases: str = "{from: items.jsonl, template: template.yaml}") -> Path:
    (place / "items.jsonl").write_text(lines)
    (place / "template.yaml").write_text(TEMPLATE)
    path = place / "s.yaml"
    path.write_text(f"oyer: TrialSuite@1\nid: s\ncases: {cases}\n")
    return path


def test_items_fill_a_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = '{"id": "sheep", "what": "the sheep"}\n\n{"what": "the \\"old\\" clocks"}\n'
    suite = load_suite(str(items_suite(tmp_path, lines)))
    found = {p.loaded.case.id: p.loaded.case.sessions[0].turns[0] for p in suite.cases}
    assert found["count/sheep"] == "Count the sheep."
    assert found["count/none/sheep"] == "Count the sheep."
    other = next(name for name in found if name.startswith("count/i-"))
    assert found[other] == 'Count the "old" clocks.'
    assert [one.case for one in suite.suite.cases] == ["count/sheep", other]
    mixed = items_suite(tmp_path, lines, "[cascade-memo, {from: items.jsonl, template: template.yaml}]")
    assert [one.case for one in load_suite(str(mixed)).suite.cases] == ["cascade-memo", "count/sheep", other]
    plan = told(capsys, "plan", mixed, "--subject", "scripted:idle", "-k", "count/sheep")["plan"]
    assert {trial["case"] for trial in plan["trials"]} == {"count/sheep", "count/none/sheep"}


def test_every_bad_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = '{"id": "a", "what": "x"}\n{"id": "a", "what": "y"}\n{"what": 3}\n["what"]\n'
    lines += '{"what": "z"\n{"id": "B C", "what": ""}\n'
    path = items_suite(tmp_path, lines)
    problems = told(capsys, "check", path, code=3)["error"]["problems"]
    places = {p["where"]: p["code"] for p in problems}
    expected = {2: "E-ITEMS-TWICE", 3: "E-ITEMS-FORM", 4: "E-ITEMS-FORM", 5: "E-ITEMS-FORM", 6: "E-ITEMS-FORM"}
    assert places == {f"{tmp_path}/items.jsonl:{line}": code for line, code in expected.items()}


def test_a_variable_that_the_items_do_not_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = items_suite(tmp_path, '{"id": "a", "whom": "x"}\n')
    problems = told(capsys, "check", path, code=3)["error"]["problems"]
    assert any("var.what" in p["message"] and "template.yaml" in p["where"] for p in problems), problems


def test_files_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = items_suite(tmp_path, '{"what": "x"}\n', "{from: gone.jsonl, template: template.yaml}")
    [problem] = told(capsys, "check", path, code=3)["error"]["problems"]
    assert (problem["code"], problem["where"]) == ("E-SUITE-FILE", f"{path}:3:8")
