"""`oyer diff` and `oyer run --against` on real series: exit codes, refusals, pins in words, what losses leave open."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from listing_kit import listing_suite
from series_kit import judged_file, run

from oyer.cli import main


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int) -> Any:
    capsys.readouterr()
    found = main([*(str(each) for each in arguments), "--json"])
    out = json.loads(capsys.readouterr().out)
    assert found == code, out
    return out


def codes(out: Any) -> list[str]:
    return [problem["code"] for problem in out["error"]["problems"]]


def play(place: Path, subject: str, name: str, repeat: int = 6) -> Path:
    """Run the suite that stands in a place."""
    out = place / name
    suite, asked = place / "suite.yaml", ("--subject", f"scripted:{subject}", "--repeat", str(repeat), "--jobs", "4")
    assert main(["run", str(suite), *asked, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite, run by one that does it, by one that does nothing, and by one that crashes in four of six."""
    place = tmp_path_factory.mktemp("diff")
    listing_suite(place)
    for subject, name in (("oracle", "a"), ("idle", "idle"), ("crasher:4", "lossy")):
        play(place, subject, name)
    return place


def test_a_difference_for_the_worse_exits_with_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "diff", place / "a", place / "idle", "--seed", 3, "--draws", 2000, code=1)
    tests = {test["about"]: test for test in found["tests"]}
    did = tests["completed in cases of kind trap"]
    assert (did["word"], did["method"], did["estimand"]) == ("worse", "two proportions, exact", "this case only")
    assert (did["difference"], did["tests"], found["seed"], found["draws"]) == (-1.0, 2, 3, 2000)
    judged = tests["PASS of looked (rubric looked) in cases of kind trap"]
    assert judged["word"] == "not_decided", "an idle subject earns no verdict, and that is no FAIL"
    assert "the subject: name was scripted:oracle, is scripted:idle" in [one["sentence"] for one in found["pins"]]
    assert found["subjects"] == [["scripted:oracle", "scripted:idle"]]
    row = next(row for row in found["rows"] if row["about"] == "performed(listing)")
    assert (row["first"]["line"], row["second"]["line"]) == (
        "6 planned = completed 6 + undecided 0",
        "6 planned = failed 6 + undecided 0",
    )
    assert main(["diff", str(place / "a"), str(place / "idle")]) == 1
    flat = " ".join(capsys.readouterr().out.split())
    assert "worse in listing: difference -1.00" in flat
    assert "B 6 planned = failed 6 + undecided 0" in flat


def test_the_other_way_round_nothing_is_worse_and_not_all_is_decided(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "diff", place / "idle", place / "a", code=5)
    assert {test["word"] for test in found["tests"]} == {"better", "not_decided"}


def test_the_same_again_exits_with_none(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = play(place, "oracle", "again")
    found = told(capsys, "diff", place / "a", again, code=0)
    assert {test["word"] for test in found["tests"]} == {"no_difference_decided"}
    assert found["pins"] == []


def test_what_crashes_leaves_it_open(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of six two pass and four are lost: what is decided all passes, and the bounds say that this says nothing."""
    found = told(capsys, "diff", place / "a", place / "lossy", code=5)
    assert {test["word"] for test in found["tests"]} == {"not_decided"}
    assert {tuple(round(end, 3) for end in test["bounds"]) for test in found["tests"]} == {(-0.667, 0.0)}
    assert {test["difference"] for test in found["tests"]} == {None}
    assert found["rows"][0]["second"]["why"] == {"subject_error": 4}


def test_so_few_trials_that_nothing_could_be_seen_decide_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [play(place, "oracle", name, repeat=3) for name in ("few", "fewer")]
    found = told(capsys, "diff", *few, code=5)
    assert {test["why"] for test in found["tests"]} == {
        "so few decided trials could not show a difference, whatever they came to"
    }


def test_a_bundle_is_as_good_as_a_directory(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "a.oyer"
    assert main(["bundle", str(place / "a"), "-o", str(bundle)]) == 0
    assert told(capsys, "diff", bundle, place / "idle", code=1)["a"] == str(bundle)


def test_what_does_not_verify_is_not_compared(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(place / "a", changed)
    target = next((changed / "outcomes").iterdir())
    target.write_bytes(target.read_bytes().replace(b'"PASS"', b'"FAIL"'))
    for pair in ((changed, place / "a"), (place / "a", changed)):
        found = told(capsys, "diff", *pair, code=4)
        assert set(codes(found)) == {"E-DIFF-UNVERIFIED"}
        assert str(changed) in {problem["where"] for problem in found["error"]["problems"]}


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("suite.yaml", "List the files.", "List the files again.", "E-DIFF-CASES"),
        ("world/notes.md", "one", "two", "E-DIFF-CASES"),
        ("suite.yaml", "criteria: [{id: looked,", "criteria: [{id: glanced,", "E-DIFF-RUBRIC"),
    ],
)
def test_what_was_asked_otherwise_is_refused_before_and_after_a_run(
    file: str, old: str, new: str, code: str, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing_suite(tmp_path)
    target = tmp_path / file
    assert old in target.read_text()
    target.write_text(target.read_text().replace(old, new))
    asked = ("run", tmp_path / "suite.yaml", "--subject", "scripted:oracle", "--out", tmp_path / "b")
    assert codes(told(capsys, *asked, "--against", place / "a", code=3)) == [code]
    assert not (tmp_path / "b").exists(), "nothing started"
    told(capsys, *asked, code=0)
    assert codes(told(capsys, "diff", place / "a", tmp_path / "b", code=3)) == [code]


def test_pins_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of two cases has another prompt: it is not compared, and its word that changed is named."""
    path = listing_suite(tmp_path)
    text = path.read_text()
    more = (
        text.split("---\n")[0].replace("id: listing", "id: twin").replace("{id: looked, rubric", "{id: peeked, rubric")
    )
    path.write_text(f"{more}---\n{text}".replace("cases: [listing]", "cases: [listing, twin]"))
    first = play(tmp_path, "oracle", "first", repeat=6)
    path.write_text(path.read_text().replace("prompt: List the files.", "prompt: List all the files.", 1))
    second = play(tmp_path, "oracle", "second", repeat=6)
    found = told(capsys, "diff", first, second, code=0)
    assert found["cases"] == ["listing"]
    sentences = [one["sentence"] for one in found["pins"]]
    assert any("case twin: its prompt: \"all\" was put in after word 1, 'List'" in each for each in sentences), (
        sentences
    )


def test_run_against_answers_for_ci(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("run", place / "suite.yaml", "--repeat", 6, "--jobs", 4, "--against", place / "a")
    found = told(capsys, *asked, "--subject", "scripted:idle", "--out", tmp_path / "worse", code=1)
    assert found["against"]["exit_code"] == found["exit_code"] == 1
    assert (found["against"]["a"], found["against"]["b"]) == (str(place / "a"), str(tmp_path / "worse"))
    assert main([*map(str, asked), "--subject", "scripted:oracle", "--out", str(tmp_path / "fine")]) == 0
    lines = capsys.readouterr().out.rstrip().split("\n")
    assert lines[-1] == str(tmp_path / "fine"), "the path stays the last line"
    assert any(line.startswith("No difference for the worse is decided.") for line in lines)
    missing = ("run", place / "suite.yaml", "--subject", "scripted:idle", "--against", tmp_path / "nowhere")
    assert codes(told(capsys, *missing, "--out", tmp_path / "unrun", code=2)) == ["E-PATH"]
    assert not (tmp_path / "unrun").exists()


def test_subjects_are_paired_by_name_or_as_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = listing_suite(tmp_path)
    both = ("--subject", "scripted:oracle", "--subject", "scripted:idle", "--repeat", "7", "--jobs", "4")
    assert main(["run", str(suite), *both, "--out", str(tmp_path / "two")]) == 0
    two = tmp_path / "two"
    assert codes(told(capsys, "diff", two, two, code=3)) == ["E-DIFF-SAME"] * 2, "evidence held against itself"
    again = tmp_path / "again"
    assert main(["run", str(suite), *both, "--out", str(again)]) == 0
    same = told(capsys, "diff", two, again, code=5)
    assert same["subjects"] == [["scripted:oracle"] * 2, ["scripted:idle"] * 2]
    by_design = told(capsys, "diff", two, two, "--subject", "scripted:oracle=scripted:idle", code=1)
    did = next(test for test in by_design["tests"] if test["word"] == "worse")
    assert did["method"] == "exact McNemar, pairs by design"
    row = next(row for row in by_design["rows"] if row["about"] == "performed(listing)")
    assert row["pairs"] == {"gained": 0, "lost": 7, "alike": 0, "undecided": 0}
    assert codes(told(capsys, "diff", two, two, "--subject", "nobody", code=2)) == ["E-DIFF-SUBJECT"] * 2
    assert codes(told(capsys, "diff", two, again, "-k", "nothing", code=3)) == ["E-DIFF-CASES"]


def test_what_an_interruption_left_is_undecided(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[object] = []

    def after_three(progress: object) -> None:
        ended.append(progress)
        if len(ended) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    cases, rubrics = judged_file(place / "suite.yaml")
    cut = run(cases, ["scripted:oracle"], tmp_path / "cut", repeat=6, rubrics=rubrics, on_progress=after_three)
    whole = run(cases, ["scripted:oracle"], tmp_path / "whole", repeat=6, rubrics=rubrics)
    assert cut.interrupted
    found = told(capsys, "diff", whole.path, cut.path, code=5)
    row = found["rows"][0]
    assert "not_run" in row["second"]["why"]
    assert row["second"]["decided"] + row["second"]["undecided"] == 6


PLUGIN = """\
import oyer


@oyer.evaluator(id="mine", needs="protocol")
def mine(evidence: oyer.Evidence) -> oyer.Opinion:
    calls = evidence.calls("fs.list_directory")
    return oyer.supported(*calls) if calls else oyer.unknown("it did not look")
"""


def test_verdicts_of_two_revisions_of_an_evaluator_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = listing_suite(tmp_path)
    suite.write_text(suite.read_text().replace("{supports: listed}", "{evaluator: mine}"))
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(PLUGIN)
    other.write_text(PLUGIN + "# another revision\n")
    asked = ("run", suite, "--subject", "scripted:oracle", "--repeat", 4, "--jobs", 4)
    for plugin, name in ((one, "a"), (one, "b"), (other, "c")):
        told(capsys, *asked, "--plugin", plugin, "--out", tmp_path / name, code=0)
    a, b, c = (tmp_path / name for name in "abc")
    assert set(codes(told(capsys, "diff", a, b, code=4))) == {"E-DIFF-UNVERIFIED"}, "its judgements were not made again"
    same = told(capsys, "diff", a, b, "--plugin", one, code=5)
    assert "in a family of 2" in same["tests"][0]["why"]
    refused = told(capsys, "diff", a, c, "--plugin", one, "--plugin", other, code=3)
    assert codes(refused) == ["E-DIFF-EVALUATOR"]
    against = (*asked, "--plugin", other, "--out", tmp_path / "d", "--against", a)
    assert set(codes(told(capsys, *against, code=4))) == {"E-DIFF-UNVERIFIED"}
    assert not (tmp_path / "d").exists()
