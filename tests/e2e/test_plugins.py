"""A plug-in through the doors: refused, run, verified with and without it, judged again, and what becomes of a bug."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from judged_kit import CASE, PLUGIN, oyer

from oyer.cli import main

pytestmark = pytest.mark.e2e

BUG = PLUGIN.replace("    before", "    evidence.nothing_of_the_kind()\n    before", 1)
MISSING = "'Evidence' object has no attribute 'nothing_of_the_kind'"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "old.txt").write_text("as it was")
    (tmp_path / "case.yaml").write_text(CASE)
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "bug.py").write_text(BUG)
    return tmp_path


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plugged")
    (root / "world").mkdir()
    (root / "world" / "old.txt").write_text("as it was")
    (root / "case.yaml").write_text(CASE)
    (root / "mine.py").write_text(PLUGIN)
    subjects = ["--subject", "scripted:oracle", "--subject", "scripted:idle", "--subject", "scripted:obedient"]
    ran = oyer("run", root / "case.yaml", *subjects, "--plugin", root / "mine.py", "--out", root / "series")
    assert ran.code == 0, ran.error
    return root / "series"


def verdicts(path: Path) -> dict[str, str]:
    outcomes = [json.loads(file.read_bytes()) for file in sorted((path / "outcomes").iterdir())]
    return {one["subject"].removeprefix("scripted:"): one["verdicts"][0]["verdict"] for one in outcomes}


def check_9(path: Path, *words: str | Path) -> tuple[int, str]:
    said = oyer("verify", path, *words)
    return said.code, next(check["status"] for check in said.value["checks"] if check["number"] == 9)


def test_the_reference_passes_and_neither_the_idle_nor_the_near_miss_does(series: Path) -> None:
    assert verdicts(series) == {"oracle": "PASS", "idle": "FAIL", "obedient": "FAIL"}


def test_its_judgements_are_made_again_only_where_its_very_code_is_given(series: Path, place: Path) -> None:
    assert check_9(series) == (5, "not_run")
    assert check_9(series, "--plugin", place / "mine.py") == (0, "ok")
    (place / "mine.py").write_text(PLUGIN + "\n# the same, and yet another file\n")
    assert check_9(series, "--plugin", place / "mine.py") == (5, "not_run")


def test_another_evaluator_judges_beside_and_changes_nothing(series: Path, place: Path) -> None:
    mine = place / "series"
    shutil.copytree(series, mine)
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    (place / "other.py").write_text(PLUGIN + "\n# a later revision\n")
    said = oyer("judge", mine, "--plugin", place / "other.py")
    assert (said.code, len(said.value["made"]), said.value["before"]) == (0, 3, {"old-files": 0})
    again = oyer("judge", mine, "--plugin", place / "other.py")
    assert (again.value["made"], again.value["before"]) == ([], {"old-files": 3})
    assert {path: path.read_bytes() for path in before} == before
    found = oyer("verify", mine).value
    assert {check["status"] for check in found["checks"]} == {"ok", "not_applicable", "not_run"}
    assert len(oyer("verify", mine, "--plugin", place / "other.py").value["checks"][8]["findings"]) == 3
    both = ["--plugin", place / "mine.py", "--plugin", place / "other.py"]
    assert check_9(mine, *both) == check_9(mine, *both[2:], *both[:2]) == (0, "ok")
    # Both revisions may be named where a series is judged: each is asked for what it has not judged.
    assert oyer("judge", mine, *both).value["before"] == {"old-files": 6}


def test_what_was_judged_later_is_shown(series: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = place / "series"
    shutil.copytree(series, mine)
    (place / "other.py").write_text(PLUGIN + "\n# a later revision\n")
    assert oyer("show", mine).value["judged_later"] == []
    assert oyer("judge", mine, "--plugin", place / "other.py").code == 0
    shown = oyer("show", mine).value
    states = [
        (one["evaluator"], one["rubric"], one["parts"][0]["state"], one["error"]) for one in shown["judged_later"]
    ]
    assert states == [("old-files", "careful", state, None) for state in ("supported", "supported", "refuted")]
    assert [len(trial["judged_later"]) for trial in shown["trials"]] == [1, 1, 1]
    (one,) = oyer("show", mine, "2").value["trial"]["judged_later"]
    assert one["code"] == "sha256:" + sha256((place / "other.py").read_bytes()).hexdigest()
    capsys.readouterr()
    assert main(["show", str(mine)]) == 0
    page = capsys.readouterr().out
    assert f"judged beside the plan by old-files ({one['code'][:19]}) under careful" in " ".join(page.split())
    assert "alone part 1 refuted by receipt" in page


def test_a_trial_that_could_not_be_judged_is_an_error_each_time_it_is_asked_for(series: Path, place: Path) -> None:
    mine = place / "series"
    shutil.copytree(series, mine)
    first = oyer("judge", mine, "--plugin", place / "bug.py")
    again = oyer("judge", mine, "--plugin", place / "bug.py")
    assert (first.code, again.code, len(first.value["made"]), again.value["made"]) == (5, 5, 3, [])
    assert [(one["made"], "AttributeError" in one["error"]) for one in first.value["errors"]] == [(True, True)] * 3
    assert [{**one, "made": True} for one in again.value["errors"]] == first.value["errors"]
    assert not any(one["made"] for one in again.value["errors"])
    assert "AttributeError" in oyer("show", mine).value["judged_later"][0]["error"]


def test_nothing_is_added_to_what_does_not_verify(series: Path, place: Path) -> None:
    mine = place / "series"
    shutil.copytree(series, mine)
    (mine / "outcomes" / "stray.json").write_text("{}")
    said = oyer("judge", mine, "--plugin", place / "mine.py")
    assert (said.code, "E-JUDGE-BROKEN" in said.error) == (4, True)


def test_one_that_fails_is_an_error_of_its_own_and_never_a_verdict(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--subject", "scripted:oracle", "--out", place / "out"]
    ran = oyer("run", place / "case.yaml", "--plugin", place / "bug.py", *words)
    assert ran.code == 0, ran.error
    (outcome,) = [json.loads(file.read_bytes()) for file in (place / "out" / "outcomes").iterdir()]
    assert outcome["status"] == "evaluator_error"
    alone, wrote = outcome["verdicts"][0]["criteria"]
    assert (alone["verdict"], wrote["verdict"], outcome["verdicts"][0]["verdict"]) == ("UNKNOWN", "PASS", "UNKNOWN")
    assert check_9(place / "out", "--plugin", place / "bug.py") == (0, "ok")
    told = oyer("show", place / "out").value["evaluator_errors"]
    assert told == {outcome["trial"]: ["old-files: it raised AttributeError: " + MISSING]}
    capsys.readouterr()
    for words in ([], ["0"]):
        assert main(["show", str(place / "out"), *words]) == 0
        page = " ".join(capsys.readouterr().out.split())
        assert f"UNKNOWN alone EVALUATOR_ERROR: old-files: it raised AttributeError: {MISSING}" in page


def test_an_evaluator_that_nobody_loaded_is_refused_before_anything_runs(place: Path) -> None:
    for words in (["check", place / "case.yaml"], ["run", place / "case.yaml", "--subject", "scripted:oracle"]):
        said = oyer(*words)
        assert (said.code, "E-EVALUATOR-UNKNOWN" in said.error) == (3, True)
    assert oyer("check", place / "case.yaml", "--plugin", place / "mine.py").code == 0


def test_an_evaluator_is_the_code_that_was_declared(place: Path) -> None:
    declared = '---\noyer: Evaluator@1\nid: old-files\nkind: mechanical\ncode: "sha256:{}"\n'
    (place / "case.yaml").write_text(CASE + declared.format("0" * 64))
    words = ["--subject", "scripted:oracle", "--out", place / "out"]
    said = oyer("run", place / "case.yaml", "--plugin", place / "mine.py", *words)
    assert (said.code, "E-PLUGIN-CODE" in said.error) == (3, True)
    assert not (place / "out").exists()


def test_known_subjects_are_told_apart_by_it(place: Path) -> None:
    out = ["--out", place / "tried", "--record", place / "records", "--double", "oracle", "--double", "idle"]
    said = oyer("qualify", place / "case.yaml", "--plugin", place / "mine.py", *out)
    (found,) = said.value["qualifications"]
    assert {one["double"]: one["found"] for one in found["doubles"]}["oracle"] == "PASS", found


def test_one_that_changed_after_it_was_planned_does_not_run(place: Path) -> None:
    words = ["--subject", "scripted:oracle", "--plugin", place / "mine.py"]
    assert oyer("plan", place / "case.yaml", *words, "-o", place / "plan.json").code == 0
    (place / "mine.py").write_text(PLUGIN + "\n# and more\n")
    said = oyer("run", "--plan", place / "plan.json", "--plugin", place / "mine.py", "--out", place / "out")
    assert (said.code, "E-PIN-DRIFT" in said.error, "evaluators.old-files" in said.error) == (3, True, True)
    assert not (place / "out").exists()
