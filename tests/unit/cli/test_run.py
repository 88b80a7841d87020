"""`oyer run`: nothing starts and nothing is written before everything was checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oyer.cli import main

SUBJECT = ["--subject", "scripted:obedient"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["cascade-memo", *SUBJECT, "--conditions", "baseline,frozen"], 2, "E-CONDITION-UNKNOWN"),
        (["notes-injection", *SUBJECT, "--conditions", "hardened"], 2, "E-CONDITION-UNKNOWN"),
        (["cascade-memo", "--subject", "scripted:nobody"], 2, "E-DOUBLE-UNKNOWN"),
        (["cascade-memo", "--subject", "nobody"], 2, "E-SUBJECT-UNKNOWN"),
        (["cascade-memo", *SUBJECT, *SUBJECT], 2, "E-SUBJECT-TWICE"),
        (["cascade-memos", *SUBJECT], 2, "E-CASE-UNKNOWN"),
        (["gone.yaml", *SUBJECT], 2, "E-PATH"),
        (["bad.yaml", *SUBJECT], 3, "E-"),
        (["cascade-memo"], 2, "E-USAGE"),
        (["cascade-memo", *SUBJECT, "--repeat", "0"], 2, "E-USAGE"),
        (["cascade-memo", *SUBJECT, "--jobs", "none"], 2, "E-USAGE"),
        (["cascade-memo", *SUBJECT, "--model", "m"], 2, "E-SUBJECT-MODEL"),
        (["cascade-memo", "--subject", "model"], 2, "E-SUBJECT-MODEL"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "localhost:80"], 2, "E-SUBJECT-ENDPOINT"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://k:v@h"], 2, "E-SUBJECT-ENDPOINT"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--key-env", "OYER_TEST_NO_SUCH_KEY"], 2, "E-SECRET-UNSET"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--param", "top_p=x"], 2, "E-SUBJECT-PARAMETER"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--reports", "m-2026"], 2, "E-SUBJECT-REPORTS"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--reports", "m=a", "--reports", "m=b"], 2, "E-SUBJECT-REPORTS"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--reports", "n=a"], 2, "nothing is pinned for m, which is the model that is asked for"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", ""], 2,
          "needs the base URL of its endpoint: not given, or empty"),
        (["cascade-memo", "--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
          "--reasoning-delimiters", "<think>", ""], 2, "E-SUBJECT-REASONING"),
        (["cascade-memo", *SUBJECT, "--reports", "m=a"], 2, "E-SUBJECT-MODEL"),
        (["cascade-memo", *SUBJECT, "--reasoning-delimiters", "a", "b"], 2, "E-SUBJECT-MODEL"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("oyer: Case@1\nid: x\nsurprise: 1\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["run", *arguments]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert (out, "Traceback" in err) == ("", False)
    assert main(["run", *arguments, "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_code"] == code
    assert err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_every_wrong_subject_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "cascade-memo", "--subject", "nobody", "--subject", "scripted:nobody", "--json"]) == 2
    codes = [problem["code"] for problem in json.loads(capsys.readouterr().out)["error"]["problems"]]
    assert codes == ["E-SUBJECT-UNKNOWN", "E-DOUBLE-UNKNOWN"]


def test_a_directory_that_is_not_empty_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").write_text("mine")
    assert main(["run", "cascade-memo", *SUBJECT, "--out", str(tmp_path)]) == 2
    assert "E-OUT-NOT-EMPTY" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_key_is_read_from_a_private_file_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key"
    key.write_text("very-secret-key")
    key.chmod(0o644)
    model = ["--subject", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--key-file", str(key)]
    assert main(["run", "cascade-memo", *model, "--out", str(tmp_path / "s")]) == 2
    err = capsys.readouterr().err
    assert "E-SECRET-MODE" in err
    assert "very-secret-key" not in err
    assert not (tmp_path / "s").exists()
