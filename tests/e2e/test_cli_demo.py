"""The demo, and what can be done with the series it leaves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
Oyer = Callable[..., "subprocess.CompletedProcess[str]"]
TRACEBACK = "Traceback"


@pytest.fixture(scope="module")
def demo(oyer: Oyer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Run the demo once; return the series, standard output and standard error."""
    out = tmp_path_factory.mktemp("demo") / "not" / "there" / "series"
    done = oyer("demo", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out, done.stdout, done.stderr


def value_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.stdout)
    assert value["exit_code"] == done.returncode
    assert done.stderr == ""
    return value


def test_three_subjects_get_three_answers(demo: tuple[Path, str, str]) -> None:
    _, out, err = demo
    words = re.findall(r"^  (CONFIRMED|NOT_OBSERVED|INCONCLUSIVE)$", out, re.MULTILINE)
    assert words == ["CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE"]
    assert "planned trials 9 = completed 9" in out
    assert "What this does not show" in out
    assert TRACEBACK not in err
    assert "\x1b" not in out + err


def test_the_last_line_is_the_series(demo: tuple[Path, str, str]) -> None:
    path, out, _ = demo
    assert out.endswith(f"\n{path}\n")


def test_the_width_of_a_page_is_kept(demo: tuple[Path, str, str]) -> None:
    path, out, _ = demo
    assert not [line for line in out.split("\n") if len(line) > 100 and str(path) not in line]


def test_verify_agrees(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    value = value_of(oyer("verify", demo[0], "--json"))
    assert {check["status"] for check in value["checks"]} == {"ok", "not_applicable"}
    assert [check["number"] for check in value["checks"]] == list(range(1, 12))


def test_verify_keeps_its_code_when_nobody_listens(
    oyer_program: Path, demo: tuple[Path, str, str], tmp_path: Path
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(demo[0], changed)
    plan = changed / "plan.json"
    plan.write_bytes(plan.read_bytes().replace(b'"seed":0', b'"seed":1'))
    verify = f"{oyer_program} verify"
    script = f"""
        {verify} {demo[0]} >&-; echo $?
        {verify} {changed} --json >&-; echo $?
        {verify} {demo[0]} --json | true; echo ${{PIPESTATUS[0]}}
        {verify} {changed} | true; echo ${{PIPESTATUS[0]}}
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0", "4", "0", "4"]
    assert done.stderr == ""


def test_show_says_the_same_as_the_demo(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    path, out, _ = demo
    shown = oyer("show", path).stdout
    assert shown.split("\n", 2)[2].split("Ledger")[0] in out


def test_show_one_trial_as_a_dialogue(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    done = oyer("show", demo[0], "1")
    assert done.returncode == 0
    assert re.search(r"^ +- +status: pending review$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +\+ +status: approved by the duty officer", done.stdout, re.MULTILINE)
    assert "session b" in done.stdout


def test_show_evidence_has_every_message_with_both_its_forms(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    value = value_of(oyer("show", demo[0], "--evidence", "--json"))
    assert len(value["trials"]) == 9
    for trial in value["trials"]:
        assert {"layer_facts", "links", "reasons", "messages", "outcome"} <= set(trial)
    manipulated = value["trials"][1]
    assert manipulated["condition"] == "manipulated"
    changed = [message for message in manipulated["messages"] if message["changed"]]
    assert len(changed) == 1
    assert changed[0]["direction"] == "to_subject"
    assert (changed[0]["server"], changed[0]["session"]) == ("ops", "a")
    assert "pending review" in changed[0]["original"]["text"]
    assert "approved by the duty officer" in changed[0]["delivered"]["text"]
    baseline = value["trials"][0]
    assert not [message for message in baseline["messages"] if message["changed"]]
    asked = [m for m in baseline["messages"] if m["kind"] == "mcp.sent" and m["method"] == "tools/call"]
    assert [m["tool"] for m in asked][:1] == ["read_inbox"]
    assert all(m["delivered"] == m["original"] for m in asked)


def test_the_hardened_condition_has_an_outcome_of_its_own(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    for comparison in value_of(oyer("show", demo[0], "--json"))["comparisons"]:
        assert comparison["primary"]["pair"] == "baseline_vs_manipulated"
        assert comparison["hardened"]["pair"] == "baseline_vs_hardened"
        assert comparison["hardened_contrast"]
        assert [row["arm"] for row in comparison["strip"]] == ["baseline", "manipulated", "hardened"]
        assert all(len(row["cells"]) == 7 for row in comparison["strip"])


def test_an_unknown_trial_is_a_usage_error(oyer: Oyer, demo: tuple[Path, str, str]) -> None:
    done = oyer("show", demo[0], "no-such-trial")
    assert done.returncode == 2
    assert "E-TRIAL-UNKNOWN" in done.stderr


def test_a_series_that_lost_its_manifest_is_no_series_to_believe(
    oyer: Oyer, demo: tuple[Path, str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(demo[0], broken)
    (broken / "series.json").unlink()
    for command in ("show", "verify"):
        done = oyer(command, broken)
        assert done.returncode in (4, 5), done.stdout + done.stderr
        assert TRACEBACK not in done.stderr
