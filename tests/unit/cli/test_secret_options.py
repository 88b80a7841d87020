"""Secrets that a command is given: read once, and out of everything that is said from then on."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from oyer.cli.crash import write_crash_note
from oyer.cli.secret_options import read_secrets
from oyer.cli.streams import _Hidden, holds_hidden, write_out
from oyer.cli.terminal import print_json
from oyer.errors import UsageError

SECRET = 'canary/"quoted"-0123456789'


@pytest.fixture(autouse=True)
def nothing_hidden() -> Iterator[None]:
    yield
    _Hidden.secrets.clear()
    _Hidden.redactor = None


def test_a_secret_comes_from_the_environment_or_a_private_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    place = tmp_path / "key"
    place.write_text("another-secret-of-a-file\n")
    place.chmod(0o600)
    assert read_secrets(["TOKEN", f"OTHER={place}"]) == {"TOKEN": SECRET, "OTHER": "another-secret-of-a-file"}
    assert holds_hidden(f"it is {SECRET}") and holds_hidden("another-secret-of-a-file") and not holds_hidden("nothing")


def test_what_cannot_be_given_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    (tmp_path / "open").write_text("a-secret-that-all-can-read")
    (tmp_path / "open").chmod(0o644)
    for words, code in ((["TOKEN", "TOKEN"], "E-USAGE"), (["NO_SUCH_TOKEN"], "E-SECRET-UNSET"),
                        ([f"X={tmp_path / 'open'}"], "E-SECRET-MODE")):  # fmt: skip
        with pytest.raises(UsageError, match=code):
            read_secrets(words)


def test_nothing_that_is_printed_holds_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    read_secrets(["TOKEN"])
    out = io.StringIO()
    write_out(out, f"plain {SECRET}, as JSON {json.dumps(SECRET)}\n")
    assert "canary" not in out.getvalue() and out.getvalue().count("secret:TOKEN:") == 2
    print_json({"told": [SECRET], SECRET: 1})
    printed = capsys.readouterr().out
    assert "canary" not in printed and printed.isascii() and len(json.loads(printed)) == 2


def test_the_note_of_a_crash_does_not_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    read_secrets(["TOKEN"])
    path = write_crash_note(ValueError(f"it broke over {SECRET}"))
    assert path is not None
    told = Path(path).read_text(encoding="utf-8")
    Path(path).unlink()
    assert "canary" not in told and "it broke over \u27e6secret:TOKEN:" in told
