"""The rule for tools from outside: skip with a reason, fail when required, refuse what is misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
ONE_TEST = """
import pytest

@pytest.mark.needs("npm-filesystem")
def test_it():
    pass

def test_by_fixture(npm_filesystem):
    assert npm_filesystem.exists()
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project of its own with this project's conftest and two tests that need the npm server."""
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makepyfile(ONE_TEST)
    node = pytester.path / "node"
    node.write_text("#!/bin/sh\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(pytester.path), prepend=":")
    monkeypatch.setenv("OYER_NPM_FILESYSTEM", str(pytester.path / "absent.js"))
    monkeypatch.delenv("OYER_REQUIRE", raising=False)
    return pytester


def test_a_missing_tool_skips_with_its_reason(inner: pytest.Pytester) -> None:
    result = inner.runpytest_inprocess("-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*needs npm-filesystem: *absent.js does not exist; set OYER_NPM_FILESYSTEM*"])


@pytest.mark.parametrize("value", ["npm-filesystem", "git, npm-filesystem", "all"])
def test_a_required_tool_that_is_missing_fails(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OYER_REQUIRE", value)
    result = inner.runpytest_inprocess()
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*needs npm-filesystem, which OYER_REQUIRE demands*"])


def test_requiring_another_tool_changes_nothing(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OYER_REQUIRE", "make")
    inner.runpytest_inprocess().assert_outcomes(skipped=2)


def test_a_tool_that_is_there_runs(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    (inner.path / "server.js").write_text("")
    monkeypatch.setenv("OYER_NPM_FILESYSTEM", str(inner.path / "server.js"))
    monkeypatch.setenv("OYER_REQUIRE", "npm-filesystem")
    inner.runpytest_inprocess().assert_outcomes(passed=2)


def test_a_misspelt_requirement_stops_the_run(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OYER_REQUIRE", "npm-filesytem")
    result = inner.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*OYER_REQUIRE names npm-filesytem; known are *"])


def test_a_marker_nobody_knows_stops_the_run(inner: pytest.Pytester) -> None:
    inner.makepyfile(test_other='import pytest\n@pytest.mark.needs("moon")\ndef test_it(): pass\n')
    result = inner.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_it needs moon; known are *"])
