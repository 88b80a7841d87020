"""A row that says delivered names commands that exist, with the options they have, or tests that are there."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest

import dev
from oyer.cli.commands import COMMANDS, oyer_group

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "state-of-work.md"


def rows(page: str) -> list[tuple[str, str, list[str]]]:
    """Read the rows of every table: the capability, its state, and what shows it."""
    found = []
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0] != "capability" and set(cells[0]) != {"-"}:
            found.append((cells[0], cells[1], re.findall(r"`([^`]+)`", cells[2])))
    return found


def complaint(shown: str) -> str:
    """Say what is wrong with a command or path that is to show something; nothing where it is there."""
    words = shlex.split(shown)
    if words[0] == "oyer":
        return oyer_complaint(words[1:])
    if words[0] == "make":
        return "" if words[1] in dev.TARGETS else f"make has no target {words[1]}"
    if words[:2] == ["bash", ".ci/run"] or words[0].startswith("tests/"):
        path = ROOT / words[-1]
        return "" if path.exists() else f"{words[-1]} is not there"
    return "neither a command nor a path"


def oyer_complaint(words: list[str]) -> str:
    """Say which command or option of `oyer` does not exist."""
    if words[0] not in COMMANDS:
        return f"oyer has no command {words[0]}"
    command = oyer_group.get_command(click.Context(oyer_group), words[0])
    assert command is not None
    options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    missing = [word for word in words[1:] if word.startswith("-") and word not in options]
    return f"oyer {words[0]} has no option {', '.join(missing)}" if missing else ""


def test_every_row_is_delivered_or_designed_and_every_delivered_one_is_shown() -> None:
    found = rows(PAGE.read_text(encoding="utf-8"))
    assert len(found) > 50
    for capability, state, shown in found:
        assert state in ("delivered", "designed"), capability
        if state == "delivered":
            assert shown, f"nothing shows: {capability}"
            assert [told for told in map(complaint, shown) if told] == [], capability


def test_a_delivered_command_is_not_called_designed() -> None:
    for capability, state, shown in rows(PAGE.read_text(encoding="utf-8")):
        for command in shown if state == "designed" else ():
            words = shlex.split(command)
            if words[0] == "oyer" and words[0:2] not in (["oyer", "run"], ["oyer", "plan"]):
                assert complaint(command), f"{command} exists; is this delivered? {capability}"


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("oyer demo", ""),
        ("oyer run CASE --subject S --repeat N", ""),
        ("oyer run CASE --no-such-option", "has no option --no-such-option"),
        ("oyer frobnicate", "has no command frobnicate"),
        ("make test", ""),
        ("make tea", "has no target tea"),
        ("tests/docs/test_state_of_work.py", ""),
        ("tests/nowhere.py", "is not there"),
        ("look at it", "neither"),
    ],
)
def test_what_does_not_exist_is_named(shown: str, wrong: str) -> None:
    assert complaint(shown) == wrong or (wrong and wrong in complaint(shown))


def test_the_tools_are_those_of_this_repository() -> None:
    assert Path(sys.modules["dev"].__file__ or "").is_relative_to(ROOT / "tools")
