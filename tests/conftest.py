"""What every test may rely on: tools from outside, coroutine tests, and Hypothesis profiles.

A test names what it needs from outside with ``@pytest.mark.needs("npm-filesystem")``, or takes the fixture of the same
name (`npm_filesystem`, `git_server`, `smollm_python`), which gives the place. Without the tool the test is skipped with
the reason; but if the tool is listed in OYER_REQUIRE (names with commas, or `all`), the test fails instead. So CI
cannot pass by silently lacking what it should have tried.

Coroutine tests run on a fresh event loop of their own.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CI_TOOLS = Path(__file__).resolve().parent.parent / "build" / "ci"


class Missing(Exception):
    """A tool is not on this machine; the message says what was looked for."""


def program(name: str) -> Callable[[], Path]:
    """Look for a program on PATH."""

    def find() -> Path:
        found = shutil.which(name)
        if found is None:
            raise Missing(f"no program {name} on PATH")
        return Path(found)

    return find


def module(name: str) -> Callable[[], Path]:
    """Look for an importable module, without importing it."""

    def find() -> Path:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise Missing(f"no module {name} in this environment")
        return Path(spec.origin)

    return find


def placed(variable: str, usual: str, *programs: str) -> Callable[[], Path]:
    """Look where an environment variable points, or else where `.ci/run` installs; and for programs it runs with."""

    def find() -> Path:
        for name in programs:
            program(name)()
        given = os.environ.get(variable)
        path = Path(given) if given else CI_TOOLS / usual
        if not path.exists():
            raise Missing(f"{path} does not exist; set {variable}, or install it with: bash .ci/run tools")
        return path

    return find


TOOLS: dict[str, Callable[[], Path]] = {
    "atheris": placed("OYER_ATHERIS_PYTHON", "fuzz/bin/python"),
    "bwrap": program("bwrap"),
    "conformance": placed(
        "OYER_MCP_CONFORMANCE", "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    ),
    "git": program("git"),
    "git-server": placed("OYER_GIT_SERVER", "git-server/bin/mcp-server-git", "git"),
    "make": program("make"),
    "mcp-sdk": module("mcp"),
    "node": program("node"),
    "node24": placed("OYER_NODE24", "node24/node"),
    "npm-everything": placed(
        "OYER_NPM_EVERYTHING", "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    ),
    "npm-filesystem": placed(
        "OYER_NPM_FILESYSTEM", "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "node"
    ),
    "smollm": placed("OYER_SMOLLM_PYTHON", "smollm/bin/python"),
}


def required() -> frozenset[str]:
    """Return the tools whose absence is a failure; a name nobody knows stops the run."""
    names = frozenset(filter(None, os.environ.get("OYER_REQUIRE", "").replace(" ", "").split(",")))
    if "all" in names:
        return frozenset(TOOLS)
    unknown = sorted(names - set(TOOLS))
    if unknown:
        raise pytest.UsageError(f"OYER_REQUIRE names {', '.join(unknown)}; known are {', '.join(sorted(TOOLS))}")
    return names


def locate(name: str) -> Path:
    """Return the place of a tool, or skip the running test, or fail it if the tool is required."""
    if name not in TOOLS:
        pytest.fail(f"needs {name}, which nobody can look for; known are {', '.join(sorted(TOOLS))}", pytrace=False)
    try:
        return TOOLS[name]()
    except Missing as missing:
        if name in required():
            pytest.fail(f"needs {name}, which OYER_REQUIRE demands: {missing}", pytrace=False)
        pytest.skip(f"needs {name}: {missing}")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a misspelt OYER_REQUIRE before any test runs."""
    config.addinivalue_line("markers", "needs(*tools): skipped without these tools, failed if OYER_REQUIRE lists them")
    required()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a marker that names a tool nobody can look for."""
    for item in items:
        for marker in item.iter_markers("needs"):
            unknown = sorted(set(marker.args) - set(TOOLS)) or ([] if marker.args else ["nothing"])
            if unknown:
                raise pytest.UsageError(
                    f"{item.nodeid} needs {', '.join(unknown)}; known are {', '.join(sorted(TOOLS))}"
                )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test whose tools are missing, before its fixtures start anything."""
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            locate(name)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def test_...` with `asyncio.run`; everything else as always."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def need() -> Callable[[str], Path]:
    """Ask for a tool by a name that is known only when the test runs; returns its place, or skips or fails."""
    return locate


@pytest.fixture
def npm_filesystem() -> Path:
    """The JavaScript entry of the filesystem server from npm; start it with `node`."""
    return locate("npm-filesystem")


@pytest.fixture
def git_server() -> Path:
    """The program `mcp-server-git`, in an environment of its own."""
    return locate("git-server")


@pytest.fixture
def smollm_python() -> Path:
    """A Python that can import xllamacpp and holds the SmolLM2 model."""
    return locate("smollm")


_common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=30, derandomize=True, **_common)
settings.register_profile("ci", max_examples=120, derandomize=True, print_blob=True, **_common)
settings.register_profile("laws", max_examples=2_000, print_blob=True, **_common)
settings.register_profile("fuzz", max_examples=20_000, print_blob=True, **_common)
settings.load_profile("fast")
