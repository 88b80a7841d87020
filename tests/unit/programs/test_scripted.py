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
from oyer.subjects import Given, Scripts, ServerCommand, StopLimits, make_subject
from oyer.subjects.child import ChildSubject, program_argv
from oyer.subjects.identity import identify

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
            end = await subject.turn("Go.", timeout_s=60)
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


async def said(open_journal: Callable[[str], Any], script: dict[str, Any], turns: int) -> list[str]:
    """Play a script that calls nothing in a process of its own; return what it says in each turn."""
    subject = ChildSubject(
        open_journal("harness"),
        identify("own", "scripted", {}),
        argv=program_argv("oyer.programs.scripted"),
        role="script",
        configure=lambda _session, _given: script,
        stop=StopLimits(),
    )
    with open_run_dir() as place:
        env = base_environment(place.home, place.temp, os.environ)
        try:
            await subject.open_session("a", Given(servers={}, cwd=str(place.world), env=env))
            return [(await subject.turn("Go.", timeout_s=60)).text for _ in range(turns)]
        finally:
            await subject.close_session()


def says(*texts: str) -> list[dict[str, str]]:
    return [{"say": text} for text in texts]


async def test_rounds_follow_the_turns_and_each_is_played_whole(open_journal: Callable[[str], Any]) -> None:
    script = {"steps": says("1", "2", "3"), "turns": 2, "rounds": [says("a", "b"), [], says("c")]}
    assert await said(open_journal, script, 6) == ["1", "2\n3", "a\nb", "", "c", ""]


async def test_who_repeats_does_so_in_its_turns_and_rounds(open_journal: Callable[[str], Any]) -> None:
    script = {"steps": says("no", "never"), "repeat": True, "turns": 2, "rounds": [says("no", "never")]}
    assert await said(open_journal, script, 4) == ["no\nnever"] * 3 + [""]


async def test_the_parts_of_a_session_are_played_one_after_the_other(open_journal: Callable[[str], Any]) -> None:
    one = {"steps": says("1", "2"), "turns": 1, "rounds": [says("a")]}
    two = {"steps": says("3", "4"), "turns": 2}
    three = {"steps": says("no"), "repeat": True, "turns": 2}
    played = await said(open_journal, {"parts": [one, two, three]}, 7)
    assert played == ["1\n2", "a", "3", "4", "no", "no", ""]


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
