"""One place turns errors into words and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from oyer.cli import door, main
from oyer.errors import EvidenceError, HarnessError, OyerError, Problem, RecordError, UsageError

Raise = Callable[[BaseException], None]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Raise:
    """Put a command in the place of `library` that raises what it is given."""

    def put(error: BaseException) -> None:
        @click.command("library")
        @click.option("--json", "as_json", is_flag=True)
        def command(as_json: bool) -> int:
            raise error

        monkeypatch.setattr("oyer.cli.library.command", command)

    return put


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("E-X", "wrong"), 2),
        (RecordError("E-X", "wrong"), 3),
        (EvidenceError("E-X", "wrong"), 4),
        (HarnessError("E-X", "wrong"), 70),
        (KeyboardInterrupt(), 130),
        (click.UsageError("wrong"), 2),
    ],
)
def test_every_class_has_its_exit_code(
    failing: Raise, capsys: pytest.CaptureFixture[str], error: BaseException, code: int
) -> None:
    failing(error)
    assert main(["library"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.lstrip().startswith("error: ")
    assert "Traceback" not in err


def test_all_problems_are_told_with_place_and_hint(failing: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    found = [Problem("E-A", "one", "f.yaml:1:2: id", "do this"), Problem("E-B", "two\x1b[2J", "f.yaml:3:4")]
    failing(OyerError.of(found))
    main(["library"])
    err = capsys.readouterr().err
    assert "error: f.yaml:1:2: id: one [E-A]\n  hint: do this\n" in err
    assert r"error: f.yaml:3:4: two\x1b[2J [E-B]" in err
    assert "2 problems" in err


def test_with_json_the_error_is_one_object_on_standard_output(
    failing: Raise, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(RecordError.of([Problem("E-A", "one", "there", "so"), Problem("E-B", "two")]))
    assert main(["library", "--json"]) == 3
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "error": {
            "code": "E-A",
            "message": "one",
            "problems": [
                {"code": "E-A", "message": "one", "where": "there", "hint": "so"},
                {"code": "E-B", "message": "two", "where": "", "hint": ""},
            ],
        },
        "exit_code": 3,
    }


def test_a_usage_error_of_the_parser_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json", "--no-such-flag", "x"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "E-USAGE"


def test_a_bug_leaves_a_private_note_and_no_traceback(
    failing: Raise, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    failing(ZeroDivisionError("a secret value"))
    assert main(["library"]) == 70
    err = capsys.readouterr().err
    assert "a bug in Oyer: ZeroDivisionError" in err
    assert "Traceback" not in err
    note = next(tmp_path.glob("oyer-crash-*.txt"))
    assert str(note) in err
    assert note.stat().st_mode & 0o077 == 0
    assert "Traceback" in note.read_text()


def test_debugging_shows_the_traceback(
    failing: Raise, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("OYER_DEBUG", "1")
    failing(ZeroDivisionError("x"))
    main(["library"])
    assert "Traceback" in capsys.readouterr().err


def test_no_arguments_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "oyer demo" in "".join(capsys.readouterr())


def test_the_interrupt_code_is_the_documented_one() -> None:
    assert door.INTERRUPTED == 130


def test_without_a_command_the_help_is_shown_and_nothing_is_called_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: oyer")
    assert "E-USAGE" not in err
