"""The house as it stands keeps every rule, and each rule catches a breach planted in a copy of the house."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import contracts

ROOT = Path(__file__).resolve().parents[2]
FRONT = '"""A planted room."""\n\n__all__ = ["Thing"]\n\n\nclass Thing:\n    """A planted value."""\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small house in which a test may plant breaches: the front and the error tree as they stand."""
    package = tmp_path / "src" / "oyer"
    package.mkdir(parents=True)
    for name in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "src" / "oyer" / name, package)
    return tmp_path


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the whole house."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def plant(tree: Path, **files: str) -> None:
    """Write modules named like `records__bad`; every room on the way gets a front unless it has one."""
    for name, text in files.items():
        path = tree / "src" / "oyer" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        front = path.parent / "__init__.py"
        if not front.exists():
            front.write_text(FRONT)
        path.write_text('"""A planted module."""\n\nfrom __future__ import annotations\n\n' + text + "\n")


def run(tool: list[str], tree: Path) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, PYTHONPATH=str(tree / "src"), NO_COLOR="1", COLUMNS="200")
    return subprocess.run(tool, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def test_the_house_keeps_the_contracts_and_a_breach_planted_in_it_is_named(house: Path) -> None:
    plant(house, records__planted="import os", verify__planted="from oyer.engine import Thing", engine__planted="")
    found = contracts.check(house)
    assert [breach for breach in found if not breach.path.endswith("planted.py")] == []
    assert [breach.message for breach in found if breach.rule == "io"] == [
        "no os on floors 0 to 8 (if it does not act, add it to PURE_STDLIB)"
    ]
    assert "oyer.verify is not allowed to import oyer.engine" in lint_imports(house).stdout


# ------------------------------------------------------------------- floors (import-linter)


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    return run([sys.executable, "-c", code, "--config", str(ROOT / ".importlinter"), "--no-cache"], tree)


def test_the_house_keeps_its_floors() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 kept, 0 broken" in result.stdout


@pytest.mark.parametrize(
    ("below", "above"),
    [
        ("errors", "records"),
        ("records", "evidence"),
        ("evidence", "protocol"),
        ("protocol", "observe"),
        ("verify", "engine"),
        ("verify", "store"),
        ("verify", "conform"),
        ("conform", "verify"),
        ("store", "host"),
        ("host", "instruments"),
        ("subjects", "engine"),
        ("engine", "cli"),
        ("plan", "report"),
        ("instruments", "subjects"),
        ("programs", "evaluators"),
        ("library", "cli"),
        ("cli", "web"),
    ],
)
def test_a_room_that_imports_a_higher_floor_or_a_sibling_is_named(tree: Path, below: str, above: str) -> None:
    line = f"from oyer.{above} import Thing"
    if below == "errors":
        plant(tree, **{f"{above}__planted": ""})
        front = tree / "src" / "oyer" / "errors.py"
        front.write_text(front.read_text() + f"\n{line}\n")
    else:
        plant(tree, **{f"{above}__planted": "", f"{below}__planted": line})
    result = lint_imports(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"oyer.{below} is not allowed to import oyer.{above}" in result.stdout


def test_a_room_on_no_floor_is_named(tree: Path) -> None:
    plant(tree, attic__planted="")
    result = lint_imports(tree)
    assert result.returncode != 0
    assert "attic" in result.stdout + result.stderr


# ------------------------------------------------------------------- ruff


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("PTH123", 'handle = open("x", encoding="utf-8")'),
        ("PTH110", 'import os\n\nfound = os.path.exists("x")'),
        ("T201", 'print("x")'),
        ("DTZ005", "import datetime\n\nnow = datetime.datetime.now()"),
        ("BLE001", "try:\n    pass\nexcept Exception:\n    pass"),
        ("TID252", "from . import sibling"),
    ],
)
@pytest.mark.parametrize("room", ["records", "engine", "cli"])
def test_ruff_names_a_planted_breach(tree: Path, code: str, line: str, room: str) -> None:
    plant(tree, **{f"{room}__planted": line})
    config = str(ROOT / "pyproject.toml")
    result = run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", config, f"src/oyer/{room}/planted.py"], tree
    )
    assert result.returncode == 1, result.stdout + result.stderr
    assert code in result.stdout


# ------------------------------------------------------------------- tools/contracts.py

CORE_BREACHES = {
    "import os": "no os on floors",
    "import socket": "no socket on floors",
    "from time import monotonic": "no time on floors",
    "import random": "no random on floors",
    "import sqlite3\nx = sqlite3.connect('x.db')": "no sqlite3.connect() on floors",
    "import sqlite3\nx = sqlite3.connect(':memory:', uri=True)": "no sqlite3.connect() on floors",
    "import sqlite3\nx = sqlite3.Connection('x.db')": "no sqlite3.Connection() on floors",
    "import sqlite3\nx = sqlite3.connect": "no sqlite3.connect() on floors",
    "from sqlite3 import connect": "no sqlite3.connect on floors",
    "import secrets": "no secrets on floors",
    "import subprocess": "no subprocess on floors",
    "import logging": "no logging on floors",
    "import asyncio": "no asyncio on floors",
    "import sys": "no sys on floors",
    "import importlib": "no importlib on floors",
    "import urllib.request": "no urllib.request on floors",
    "from urllib import request": "no urllib.request on floors",
    "import urllib.parse\nx = urllib.request.urlopen": "no urllib.request.urlopen on floors",
    "from pathlib import Path": "no pathlib.Path on floors",
    "import pathlib\nx = pathlib.Path": "no pathlib.Path on floors",
    "import io\nx = io.open('x')": "no io.open on floors",
    "x = open('x')": "no open() on floors",
    "print('x')": "no print() on floors",
    "x = input()": "no input() on floors",
    "speak = print": "no print() on floors",
    "def f(p):\n    return p.read_text()": "no .read_text() on floors",
    "def f(p):\n    p.write_bytes(b'')": "no .write_bytes() on floors",
    "def f(p):\n    return p.exists()": "no .exists() on floors",
    "def f(p):\n    return list(p.iterdir())": "no .iterdir() on floors",
    "from datetime import UTC, datetime\nx = datetime.now(tz=UTC)": "no datetime.now() on floors",
    "def f():\n    import os": "no os on floors",
    "import aiohttp": "may not use the library aiohttp",
    "import httpx2": "may not use the library httpx2",
    "def f():\n    import mcp": "may not use the library mcp",
    "def f():\n    import numpy": "may not use the library numpy",
}


@pytest.mark.parametrize("room", ["records", "verify"])
@pytest.mark.parametrize("text", CORE_BREACHES)
def test_the_io_line_names_a_planted_breach(tree: Path, text: str, room: str) -> None:
    plant(tree, **{f"{room}__planted": text})
    found = [breach for breach in contracts.check(tree) if breach.path.endswith("planted.py")]
    assert [breach.path for breach in found[:1]] == [f"src/oyer/{room}/planted.py"]
    assert any(breach.rule == "io" and CORE_BREACHES[text] in breach.message for breach in found), found


def test_the_io_line_lets_pure_things_pass(tree: Path) -> None:
    plant(
        tree,
        observe__planted="import io\nimport json\nfrom pathlib import PurePosixPath\n"
        "from urllib.parse import urlsplit\n\nx = (io.BytesIO, json.loads, PurePosixPath, urlsplit)",
        store__planted="import os\nfrom pathlib import Path\n\nx = (os, Path('x').exists())",
    )
    assert contracts.check(tree) == []


BREACHES = [
    ("front", "engine", "from oyer.store.disk import Thing", "enter through the front: from oyer.store import"),
    ("front", "engine", "import oyer.store", "enter through the front: from oyer.store import"),
    ("front", "engine", "from oyer.store import disk", "the front of store does not offer disk"),
    ("front", "engine", "from oyer import store", "enter through the front: from oyer.ROOM import NAME"),
    ("front", "records", "import oyer", "enter through the front: from oyer.ROOM import NAME"),
    ("front", "engine", "import oyer\nx = oyer.store.disk", "enter through the front: from oyer.store import NAME"),
    ("front", "engine", "from ..store import disk", "the front of store does not offer disk"),
    ("front", "engine", "def f():\n    from oyer.store.disk import Thing", "enter through the front"),
    ("room", "programs", "from oyer.store import Thing", "programs may use only errors, evidence, protocol, not store"),
    ("owner", "engine", "import pydantic", "pydantic is used only in records/"),
    ("owner", "evidence", "from pydantic import BaseModel", "pydantic is used only in records/"),
    ("io", "records", "import msgspec", "records may not use the library msgspec"),
    ("io", "protocol", "import msgspec", "protocol may not use the library msgspec"),
    ("late", "stats", "import scipy.special", "scipy is slow to load"),
    ("late", "subjects", "import mcp", "mcp is slow to load"),
    ("light", "protocol", "import dataclasses", "dataclasses is slow to load; protocol must start in 50 ms"),
    ("light", "programs", "import asyncio", "asyncio is slow to load; programs must start in 50 ms"),
    ("light", "programs", "import aiohttp", "must stay light: no aiohttp"),
    ("size", "engine", "x = 1\n" * 400, "a module has at most 400"),
    ("size", "engine", "def f():\n" + "    x = 1\n" * 60, "f has 61 lines; a function has at most 60"),
    ("syntax", "engine", "def (", "invalid syntax"),
]


@pytest.mark.parametrize(("rule", "room", "text", "message"), BREACHES)
def test_each_rule_names_a_planted_breach(tree: Path, rule: str, room: str, text: str, message: str) -> None:
    plant(tree, store__disk="", **{f"{room}__planted": text})
    found = [breach for breach in contracts.check(tree) if breach.path == f"src/oyer/{room}/planted.py"]
    assert any(breach.rule == rule and message in breach.message for breach in found), found


def test_the_front_of_the_whole_may_be_used_above_the_line(tree: Path) -> None:
    plant(tree, engine__planted="import oyer\nfrom oyer import __version__\n\nx = (oyer.__file__, __version__)")
    assert contracts.check(tree) == []


def test_late_imports_keep_a_library_allowed(tree: Path) -> None:
    plant(tree, stats__planted="def f():\n    import scipy.special\n    return scipy.special")
    assert contracts.check(tree) == []


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "manager", "base", "net_utils", "_base"])
def test_a_name_that_says_nothing_is_named(tree: Path, name: str) -> None:
    plant(tree, **{f"engine__{name}": ""})
    assert any(breach.rule == "name" and breach.path.endswith(f"{name}.py") for breach in contracts.check(tree))


@pytest.mark.parametrize("text", ['"""A room."""\n', '__all__ = ["a"]\n', '"""A room."""\n\n__all__ = [*()]\n'])
def test_a_front_without_docstring_or_list_is_named(tree: Path, text: str) -> None:
    room = tree / "src" / "oyer" / "engine"
    room.mkdir(exist_ok=True)
    (room / "__init__.py").write_text(text)
    assert any(
        breach.rule == "front" and breach.path == "src/oyer/engine/__init__.py" for breach in contracts.check(tree)
    )


# ------------------------------------------------------------------- case ids


def plant_case(tree: Path) -> None:
    cases = tree / "src" / "oyer" / "library" / "cases"
    cases.mkdir(parents=True, exist_ok=True)
    if not (cases.parent / "__init__.py").exists():
        (cases.parent / "__init__.py").write_text(FRONT)
    (cases / "planted.yaml").write_text("oyer: Case@1\nid: planted-case\nrevision: 1\n")
    (cases / "other.yaml").write_text("oyer: Rubric@1\nid: planted-rubric\n")


@pytest.mark.parametrize("name", ["engine/planted.py", "cli/default.txt", "planted.json"])
def test_a_case_id_outside_the_library_is_named(tree: Path, name: str) -> None:
    plant_case(tree)
    path = tree / "src" / "oyer" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('"""Planted."""\n\nCASE = "planted-case"\n')
    found = [breach for breach in contracts.check(tree) if breach.rule == "case-id"]
    assert [(breach.path, breach.line) for breach in found] == [(f"src/oyer/{name}", 3)]


def test_case_ids_inside_the_library_and_other_words_pass(tree: Path) -> None:
    plant_case(tree)
    (tree / "src" / "oyer" / "library" / "notes.txt").write_text("planted-case\n")
    (tree / "src" / "oyer" / "notes.txt").write_text("planted-rubric, unplanted-case, planted-case-two\n")
    assert [breach for breach in contracts.check(tree) if breach.rule == "case-id"] == []


def test_the_command_prints_breaches_and_ends_with_one(tmp_path: Path) -> None:
    tree = tmp_path
    plant(tree, records__case="import json")
    tool = [sys.executable, str(ROOT / "tools" / "contracts.py"), str(tree)]
    clean = run(tool, tree)
    assert (clean.returncode, clean.stdout) == (0, "contracts: kept\n")
    plant(tree, records__case="import os")
    broken = run(tool, tree)
    assert broken.returncode == 1
    assert "src/oyer/records/case.py:5: io: no os on floors 0 to 8" in broken.stdout
    assert run([*tool[:2], str(tree / "nowhere")], tree).returncode == 2


# ------------------------------------------------------------------- what importing costs

HEAVY = "aiohttp asyncio httpx2 mcp numpy scipy pydantic msgspec socket ssl email".split()


@pytest.mark.parametrize("module", ["oyer", "oyer.errors"])
def test_importing_the_front_is_light(module: str) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(*sorted(set(sys.modules) - before))"
    loaded = run([sys.executable, "-c", code], ROOT).stdout.split()
    assert module in loaded
    assert [name for name in loaded if name.split(".")[0] in HEAVY] == []


HELP = """
import sys
from oyer.cli import main
sys.argv = ["oyer", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *sorted(sys.modules))
"""


@pytest.mark.skipif(importlib.util.find_spec("oyer.cli") is None, reason="the command line is not built yet")
def test_help_loads_no_network_model_or_numeric_library() -> None:
    result = run([sys.executable, "-c", HELP], ROOT)
    assert result.returncode == 0, result.stderr
    loaded = result.stdout.rpartition("LOADED ")[2].split()
    heavy = {"aiohttp", "asyncio", "httpx2", "mcp", "msgspec", "numpy", "pydantic", "scipy"}
    assert [name for name in loaded if name.split(".")[0] in heavy] == []
