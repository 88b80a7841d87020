"""The front: the names it offers exist, and loading it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import oyer.protocol as front


def test_every_offered_name_exists() -> None:
    for name in front.__all__:
        assert getattr(front, name) is not None


def test_processes_that_must_start_fast_load_nothing_heavy() -> None:
    code = "import sys; import oyer.protocol; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "oyer.protocol.mcp_server" in loaded
    heavy = {"dataclasses", "asyncio", "inspect", "decimal", "logging", "socket", "pydantic", "msgspec"}
    assert not loaded & heavy
