"""The doctor tries things, and does not call available what is not provided."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError

import pytest

from oyer.cli import machine, main
from oyer.cli.machine import look_at_machine


def test_the_sandbox_is_not_claimed() -> None:
    sandbox = next(found for found in look_at_machine() if found.name == "sandbox")
    assert sandbox.state == "missing"
    assert "not available" in sandbox.told
    assert "bubblewrap" in sandbox.hint
    assert "user namespaces" in sandbox.hint


def test_agents_are_looked_up_and_never_started(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from pathlib import Path

    program = Path(str(tmp_path)) / "claude"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    agents = next(found for found in look_at_machine() if found.group == "Agents")
    assert agents.told == "claude"
    assert not (Path(str(tmp_path)) / "started").exists()


def test_doctor_prints_and_exits(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    needed = [f for f in told["findings"] if f["needed"] and f["state"] == "missing"]
    assert code == told["exit_code"] == (1 if needed else 0)
    assert main(["doctor"]) == code
    assert "Isolation" in capsys.readouterr().out


@pytest.mark.parametrize(("there", "state"), [(True, "ok"), (False, "limited")])
def test_whether_anything_can_be_signed_is_told(there: bool, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = machine.version

    def version(name: str) -> str:
        if name == "cryptography" and not there:
            raise PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(machine, "version", version)
    (found,) = [found for found in machine._packages() if found.name == "signing"]
    assert (found.state, found.needed) == (state, False)
