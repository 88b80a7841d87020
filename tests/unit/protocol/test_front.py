"""The front: the names it offers exist, and loading it loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import oyer.protocol as front


def test_every_offered_name_exists() -> None:
    for name in front.__all__:
        assert getattr(front, name) is not None


def test_the_table_is_what_the_imports_say() -> None:
    assert front.__file__ is not None
    tree = ast.parse(Path(front.__file__).read_text(encoding="utf-8"))
    said = {
        alias.name: str(found.module).removeprefix("oyer.protocol.")
        for branch in tree.body
        if isinstance(branch, ast.If)
        for found in branch.body
        if isinstance(found, ast.ImportFrom)
        for alias in found.names
    }
    assert said == front._HOME_OF
    assert sorted(said) == sorted(front.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        front.nowhere  # noqa: B018


def test_only_what_is_asked_for_is_loaded() -> None:
    code = "import sys; from oyer.protocol import McpClient, dumps; print(*sorted(sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "oyer.protocol.mcp_client" in loaded
    assert not loaded & {f"oyer.protocol.{name}" for name in ("chat", "copies", "edits", "mcp_server", "policy")}


def test_processes_that_must_start_fast_load_nothing_heavy() -> None:
    code = "import sys, oyer.protocol as p; [getattr(p, name) for name in p.__all__]; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "oyer.protocol.mcp_server" in loaded
    heavy = {"dataclasses", "asyncio", "inspect", "decimal", "logging", "socket", "pydantic", "msgspec"}
    assert not loaded & heavy
