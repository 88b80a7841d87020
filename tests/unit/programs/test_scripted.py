"""The scripted subject through the real relay and tap, and what its program may load."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oyer.host import base_environment, open_run_dir
from oyer.instruments import Tap, TappedServer
from oyer.subjects import Given, Scripts, ServerCommand, make_subject

SOURCES = Path(__file__).parents[3] / "src"
SERVER = Path(__file__).parents[2] / "peers" / "notes_server.py"
RELAY = SOURCES / "oyer" / "programs" / "relay.py"


async def test_a_script_is_played_through_relay_and_tap(open_journal: Callable[[str], Any]) -> None:
    steps = [{"call": "ops.read"}, {"call": "ops.write", "arguments": {"text": "{last.text}!", "n": 1}}]
    scripts = Scripts.parse({"proper": {"a": steps}, "tempted": {"a": [*steps, {"say": "{last.text}"}]}})
    harness, witness = open_journal("harness"), open_journal("tap:ops")
    with open_run_dir() as place:
        base = base_environment(place.home, place.temp, os.environ)
        link = place.new_socket_path()
        server = TappedServer(
            "ops", (sys.executable, "-S", str(SERVER)), {**base, "PYTHONPATH": str(SOURCES)}, place.world, None
        )
        tap = Tap(server, link, witness)
        await tap.open()
        relay = ServerCommand((sys.executable, "-I", "-S", str(RELAY), str(link)))
        subject = make_subject("scripted:obedient", harness, scripts=scripts)
        try:
            await subject.open_session("a", Given(servers={"ops": relay}, cwd=str(place.world), env=base))
            end = await subject.turn("Go.", timeout_s=10)
        finally:
            await subject.close_session()
            await tap.close()
    assert (end.text, end.ended_by, end.calls) == ("written", "subject", 2)
    sent = [(event.body.get("method"), event.body.get("tool")) for event in witness.of("mcp.sent")]
    assert sent == [
        ("initialize", None),
        ("notifications/initialized", None),
        ("tools/list", None),
        ("tools/list", None),
        ("tools/list", None),
        ("tools/call", "read"),
        ("tools/call", "write"),
    ]
    assert b'"arguments":{"text":"status: pending!","n":1}' in witness.raw(witness.of("mcp.sent")[-1])
    assert harness.of("process.exited")[0].body["code"] == 0


def loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-S", "-P", "-c", code], env={"PYTHONPATH": str(SOURCES)}, capture_output=True, check=True
    )
    return set(shown.stdout.decode().split())


def test_the_program_loads_nothing_slow() -> None:
    slow = {"asyncio", "dataclasses", "inspect", "subprocess", "socket", "http", "urllib", "threading", "logging"}
    assert not slow & loaded_by("oyer.programs.scripted")
    assert not slow & loaded_by("oyer.programs.model")
