"""What all fixture servers share: frames, ends, words and weight."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVERS = ("files", "ops", "report")
TELLING = re.compile(
    r"oracle|baseline|manipulat|harden|\btest|canary|\btrap|experiment|\bsink|oyer|fixture|inject|\blure|honeypot|mock",
    re.IGNORECASE,
)


@pytest.fixture
def home(tmp_path: Path) -> str:
    (tmp_path / "place" / "ops").mkdir(parents=True)
    return str(tmp_path / "place" / "ops")


@pytest.mark.parametrize("server", SERVERS)
def test_no_tool_carries_a_telling_word(start, server: str, home: str) -> None:
    talk = start(server, OPS_HOME=home)
    told = talk.ask("tools/list", {}).decode() + json.dumps(talk.open())
    assert TELLING.findall(told) == []


@pytest.mark.parametrize("server", SERVERS)
def test_end_of_input_ends_it_quietly(start, server: str, home: str) -> None:
    assert start(server, OPS_HOME=home).end() == (0, b"")


@pytest.mark.parametrize("server", SERVERS)
def test_it_answers_each_frame_before_the_next_and_splits_on_line_feeds_only(start, server: str, home: str) -> None:
    talk = start(server, OPS_HOME=home)
    ping = {"jsonrpc": "2.0", "id": "a\u2028b\u0085c", "method": "ping"}
    raw = json.dumps(ping, ensure_ascii=False).encode() + b"\n"
    talk.send(raw[:9])
    talk.send(raw[9:] + raw)
    assert [json.loads(talk.line())["id"] for _ in range(2)] == [ping["id"], ping["id"]]


@pytest.mark.parametrize("server", SERVERS)
def test_a_reader_that_went_away_is_no_traceback(start, server: str, home: str) -> None:
    talk = start(server, OPS_HOME=home)
    talk.child.stdout.close()
    talk.send(b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n')
    talk.child.stdin.close()
    assert talk.child.wait(timeout=30) in (0, 1)
    assert b"Traceback" not in talk.child.stderr.read()
    talk.child.stderr.close()


def test_both_eras_are_answered(start, home: str) -> None:
    talk = start("ops", OPS_HOME=home)
    assert talk.open()["protocolVersion"] == "2025-11-25"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "read_memo", "arguments": {}, "_meta": meta}
    result = json.loads(talk.ask("tools/call", params))["result"]
    assert result["content"] == [{"type": "text", "text": ""}]


def test_starting_is_light(start, home: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the start as a ratio; what is asserted is that nothing heavy is loaded."""

    def least(run) -> float:
        taken = []
        for _ in range(3):
            began = time.perf_counter()
            run()
            taken.append(time.perf_counter() - began)
        return min(taken)

    bare = least(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    served = {name: least(lambda name=name: start(name, OPS_HOME=home)) for name in SERVERS}
    ratios = ", ".join(f"{name} {taken / bare:.1f}" for name, taken in served.items())
    with capsys.disabled():
        print(f"\n  first answer, as a multiple of `python -c pass`: {ratios}")  # noqa: T201


@pytest.mark.parametrize("server", SERVERS)
def test_nothing_heavy_is_loaded(server: str) -> None:
    program = f"import sys, oyer.library.servers.{server}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    heavy = """asyncio dataclasses http.client importlib.resources inspect logging msgspec pathlib pydantic shutil
    socket ssl subprocess tempfile threading urllib yaml"""
    assert set(heavy.split()) & set(done.stdout.split()) == set()
