"""The developer's door: which Python it takes, what it says when there is none, and that it needs nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).resolve().parents[3]
SOURCE = (ROOT / "tools" / "dev.py").read_text(encoding="utf-8")
GOOD = "#!/bin/sh\necho {version}\n"
SHIM = '#!/bin/sh\necho "shim: command not found" >&2\nexit 127\n'
NO_PIP = "#!/bin/sh\necho {version}\necho \"ModuleNotFoundError: No module named 'ensurepip'\" >&2\nexit 1\n"


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put programs on an otherwise empty PATH; the running Python is not among them."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))

    def put(**programs: str) -> Path:
        for name, text in programs.items():
            path = tmp_path / name.replace("_", ".")
            path.write_text(text)
            path.chmod(0o755)
        return tmp_path

    return put


def test_takes_the_newest_that_really_runs(offer) -> None:
    place = offer(
        python3_14=SHIM,
        python3_13=NO_PIP.format(version="3.13.0"),
        python3_12=GOOD.format(version="3.12.1"),
        python3_11=GOOD.format(version="3.11.7"),
    )
    assert dev.find_python() == (str(place / "python3.12"), "3.12.1")


def test_transparency_says_what_it_lacks_before_it_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OYER_NODE24", str(tmp_path / "node"))
    monkeypatch.setattr(dev, "ensure", lambda kind: pytest.fail("it installs first"))
    with pytest.raises(dev.Stop, match=r"node does not exist; set OYER_NODE24, or .*bash \.ci/run tools"):
        dev.transparency([])


def test_takes_a_plain_python3_that_is_new_enough(offer) -> None:
    place = offer(python3_11=SHIM, python3=GOOD.format(version="3.13.2"))
    assert dev.find_python() == (str(place / "python3"), "3.13.2")


@pytest.mark.parametrize("text", [GOOD.format(version="3.10.13"), SHIM, "#!/bin/sh\n", "not a program"])
def test_says_what_to_install_when_there_is_none(offer, text: str) -> None:
    offer(python3=text)
    with pytest.raises(dev.Stop, match=r"(?s)no Python 3\.11 or newer.*apt-get install python3 python3-venv"):
        dev.find_python()


def test_names_the_debian_package_when_venv_is_missing(offer) -> None:
    place = offer(python3_11=NO_PIP.format(version="3.11.2"))
    with pytest.raises(dev.Stop) as stop:
        dev.find_python()
    assert f"{place}/python3.11 (3.11.2) cannot make environments: ModuleNotFoundError" in str(stop.value)
    assert "sudo apt-get install python3-venv" in str(stop.value)


def test_a_python_of_its_own_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "/nowhere")
    assert not {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"} & set(dev.clean_environment())


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_an_unreadable_stamp_vouches_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(dev, "STAMP", tmp_path / "stamp.json")
    assert dev.read_stamp() == {}
    dev.STAMP.write_text(text)
    assert dev.read_stamp() == {}


def test_a_digest_tells_two_files_from_one(tmp_path: Path) -> None:
    a, b, c, d = (tmp_path / name for name in "abcd")
    a.write_bytes(b"xy")
    b.write_bytes(b"z")
    c.write_bytes(b"x")
    d.write_bytes(b"yz")
    assert dev.digest(a, b) != dev.digest(c, d)


def test_the_syntax_is_that_of_python_3_8() -> None:
    ast.parse(SOURCE, feature_version=(3, 8))


def test_it_needs_the_standard_library_only() -> None:
    names = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "dev.py"), *arguments], capture_output=True, text=True, check=False
    )


def test_help_lists_every_target() -> None:
    result = call()
    assert result.returncode == 0
    for name, target in dev.TARGETS.items():
        assert re.search(rf"^  {name} +{re.escape(target.__doc__ or '?')}$", result.stdout, re.MULTILINE)


def test_an_unknown_target_is_a_usage_error_without_traceback() -> None:
    result = call("tset")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("oyer: no target 'tset'. There are: demo, test,")


def test_the_makefile_only_calls_the_door() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").split("\n")
    recipes = [line for line in lines if line.startswith("\t")]
    assert recipes == ["\t@python3 tools/dev.py $@"]
    rule = next(line for line in lines if line.endswith(":") and not line.startswith("."))
    assert set(rule.rstrip(":").split()) == set(dev.TARGETS)
