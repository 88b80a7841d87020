"""The page of JSON fields names every command, and for those that are cheap to run exactly what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from oyer.cli import main
from oyer.cli.commands import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "json-output.md"
CASE = """\
oyer: Case@1
id: listing
effect_class: local_read
servers: {fs: oyer:files}
prompt: List the files.
expected: [{id: listed, called: fs.list_directory}]
doubles: {proper: [fs.list_directory], tempted: [fs.list_directory]}
"""


def rows() -> dict[str, str]:
    found: dict[str, str] = {}
    for names, fields in re.findall(r"^\| (`[^|]+`) \| (.*) \|$", PAGE.read_text(), re.MULTILINE):
        # Rows of parts come later, and may name the commands that print them.
        found = {**dict.fromkeys(re.findall(r"`([^`]+)`", names), fields), **found}
    return found


def named(fields: str) -> set[str]:
    """The fields of the value itself: what stands in parentheses, after a colon or a semicolon is of its parts."""
    flat = re.sub(r"\([^()]*\)", "", fields)
    first = flat.partition(";")[0].partition(":")[0].partition(", each")[0]
    return set(re.findall(r"`([^`]+)`", first))


def test_every_command_has_its_row() -> None:
    assert set(COMMANDS) <= set(rows())


def test_what_a_command_prints_is_what_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("listing.yaml").write_text(CASE)
    commands = [
        "init project",
        "check listing.yaml",
        "library",
        "schema",
        "plan listing.yaml --subject scripted:idle",
        "run listing.yaml --subject scripted:idle --out series",
        "show series",
        "verify series",
    ]
    for command in commands:
        capsys.readouterr()
        assert main([*command.split(), "--json"]) == 0, command
        printed = json.loads(capsys.readouterr().out)
        assert set(printed) == {*named(rows()[command.split()[0]]), "exit_code"}, command
