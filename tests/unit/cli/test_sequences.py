"""Sequences of a suite from its file to the plan: told at their place, composed, pinned, chosen, vouched for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oyer.adjudicate import with_sequences
from oyer.cli import main
from oyer.cli.scopes import load_suite
from oyer.errors import RecordError, UsageError
from oyer.plan import build_plan, outcome_form
from oyer.records import PlanFile, digest, members_of, plain

CASE = """\
oyer: Case@1
id: {id}
effect_class: local_write
world: world
servers: {{fs: oyer:files}}
prompt: List the files.
expected: [{{id: kept, world_path: {id}.md, contains: x}}]
doubles: {{proper: [fs.list_directory], tempted: [fs.list_directory]}}
"""
SUITE = """\
oyer: TrialSuite@1
id: small
cases: [one, two, three]
repeat: 2
sequences:
  - {id: together, cases: [one, two]}
  - {id: apart, cases: [three, one], share: world}
"""
SUBJECT = ("--subject", "scripted:idle")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "notes.md").write_text("one\n")
    path = tmp_path / "suite.yaml"
    path.write_text("---\n".join([*(CASE.format(id=name) for name in ("one", "two", "three")), SUITE]))
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_sequences_are_planned_after_the_cases_of_each_repetition(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = told(capsys, "plan", suite, *SUBJECT)["plan"]
    order = [(one["case"], one["repetition"]) for one in plan["trials"]]
    names = ["one", "two", "three", "together", "apart"]
    assert order == [(name, repetition) for repetition in (1, 2) for name in names]
    assert [one["id"] for one in plan["cases"]] == names
    assert {one["condition"] for one in plan["trials"]} == {"plain"}


def test_a_chosen_sequence_brings_its_cases_and_a_chosen_case_no_sequence(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for chosen, planned in (("apart", ["three", "one", "apart"]), ("two", ["two"])):
        plan = told(capsys, "plan", suite, *SUBJECT, "-k", chosen, "--repeat", 1)["plan"]
        assert [one["case"] for one in plan["trials"]] == planned
    assert main(["plan", str(suite), *SUBJECT, "-k", "apartt"]) == 2
    assert "did you mean apart?" in capsys.readouterr().err


def test_check_says_what_a_sequence_comes_to(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "check", suite, "--expand")["files"][0]["sequences"]
    assert [(one["id"], one["cases"]) for one in found] == [("together", ["one", "two"]), ("apart", ["three", "one"])]
    assert [one["id"] for one in found[1]["record"]["sessions"]] == ["m0-main", "m1-main"]
    assert main(["check", str(suite), "--expand"]) == 0
    again = suite.with_name("again.yaml")
    printed = capsys.readouterr().out
    again.write_text(printed)
    assert "# The sequence together comes to this case" in printed
    assert told(capsys, "check", again)["files"][0]["sequences"] == [
        {key: one[key] for key in ("id", "digest", "cases", "notes")} for one in found
    ]


def test_a_breach_is_told_at_its_place_in_the_suite(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.write_text(suite.read_text().replace("cases: [three, one]", "cases: [three, nobody]"))
    line = next(n for n, text in enumerate(suite.read_text().splitlines(), 1) if "nobody" in text)
    assert main(["check", str(suite)]) == 3
    assert f"suite.yaml:{line}:32: sequences[1].cases[1]: 'nobody' is no case" in capsys.readouterr().err


def test_cases_whose_paths_start_elsewhere_do_not_fit(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = suite.parent / "other"
    (other / "world").mkdir(parents=True)
    (other / "four.yaml").write_text(CASE.format(id="four"))
    text = suite.read_text().replace("cases: [one, two, three]", "files: other/*.yaml\ncases: [one, two, three, four]")
    suite.write_text(text.replace("[one, two]}", "[one, four]}"))
    assert main(["check", str(suite)]) == 3
    assert "E-SEQUENCE-PLACE" in capsys.readouterr().err


def test_the_form_retains_what_any_of_its_cases_looks_at(suite: Path) -> None:
    placed = load_suite(str(suite))
    cases = {one.loaded.case.id: one.loaded.case for one in placed.cases}
    form = outcome_form(cases["together"], {}, cases)
    assert form.retained == ("one.md", "two.md")
    assert form.judged == ()
    with pytest.raises(KeyError):
        outcome_form(cases["together"], {}, {})


def test_a_plan_names_exactly_the_cases_of_its_sequences(suite: Path) -> None:
    loaded = [one.loaded for one in load_suite(str(suite)).cases]
    build_plan(loaded, ["scripted:idle"], seed=0)
    with pytest.raises(UsageError, match="E-SEQUENCE-MEMBER"):
        build_plan([one for one in loaded if one.case.id != "three"], ["scripted:idle"], seed=0)


def test_a_plan_file_pins_members_and_refuses_others(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = suite.with_name("plan.json")
    told(capsys, "plan", suite, *SUBJECT, "-o", out)
    file = json.loads(out.read_text())
    assert set(file["cases"]) == {"one", "two", "three", "together", "apart"}
    assert file["sources"]["together"] == "suite.yaml"
    PlanFile.model_validate_json(out.read_text())
    file["cases"]["together"]["segments"][0]["digest"] = file["plan"]["cases"][1]["digest"]
    with pytest.raises(ValueError, match="not the case that the plan names"):
        PlanFile.model_validate_json(json.dumps(file))


def test_a_lock_knows_its_sequences(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = suite.with_name("old.json"), suite.with_name("new.json")
    assert main(["pin", str(suite), "-o", str(old)]) == 0
    suite.write_text(suite.read_text().replace("cases: [one, two]}", "cases: [two, one]}"))
    assert main(["pin", str(suite), "-o", str(new)]) == 0
    capsys.readouterr()
    assert main(["pin", "--diff", str(old), str(new)]) != 2
    printed = capsys.readouterr().out
    assert "the suite: sequences[0].cases[0] was one, is two" in printed
    assert "case together: segments[0].case was one, is two" in printed


def test_a_sequence_is_vouched_for_by_all_its_cases_and_by_nothing_else(suite: Path) -> None:
    cases = {one.loaded.case.id: one.loaded.case for one in load_suite(str(suite)).cases}
    assert with_sequences({"one", "two"}, cases) == {"one", "two", "together"}
    assert with_sequences({"one", "together"}, cases) == {"one"}
    assert members_of(cases["apart"]) == ("three", "one")


def test_no_double_is_tried_on_a_sequence(suite: Path) -> None:
    from oyer.cli.qualifying import choose

    _, named = choose([str(suite)], ())
    assert named == ("one", "two", "three")


def test_an_unsound_sequence_is_not_composed(suite: Path) -> None:
    suite.write_text(suite.read_text().replace("cases: [one, two]}", "cases: [one, one]}"))
    with pytest.raises(RecordError, match="E-SEQUENCE-TWICE"):
        load_suite(str(suite))


def test_a_composed_case_is_the_same_wherever_it_is_made(suite: Path) -> None:
    one, other = (load_suite(str(suite)).cases[3].loaded for _ in range(2))
    assert one.digest == other.digest == digest(one.case)
    assert plain(one.case)["doubles"] is None


def test_traces_that_no_reading_can_hit(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def notes(traces: str) -> list[list[str]]:
        suite.write_text(whole.replace("id: one\n", f"id: one\ntraces: [{traces}]\n"))
        return [each["notes"] for each in told(capsys, "check", suite)["files"][0]["sequences"]]

    whole = suite.read_text()
    changed = "{world_path: notes.md, changed: true}"
    [note], last = notes(changed)
    assert note.startswith("traces of one: each asks only whether the world changed")
    assert last == []  # nothing comes after it there
    assert main(["check", str(suite)]) == 0
    assert "    traces of one" in capsys.readouterr().out
    assert notes(f"{changed}, {{called: fs.read_file, arguments: {{path: notes.md}}}}") == [[], []]
    assert notes("{world_path: two.md, contains: x}") == [[], []]
