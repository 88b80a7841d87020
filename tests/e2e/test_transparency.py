"""The protocol's own conformance suite gives the same answers through the tap as without it, check by check."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from series_kit import PEERS

from oyer.evidence import Chain, Envelope
from oyer.host import Patience, boot_id, open_run_dir, stamp
from oyer.instruments import TapLimits, TappedServer, tap_http_wire
from oyer.instruments.tap_http import HttpTap
from oyer.store import MemoryJournal

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.needs("mcp-sdk", "conformance", "node24")]
WIRES = {"2025-11-25": 18, "2026-07-28": 18}
"""How many scenarios at least this server passes: a suite that fails everywhere would compare equal too."""

Verdicts = dict[str, list[tuple[str, str]]]


@contextmanager
def sdk_server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, str(PEERS / "sdk_server.py"), str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                assert server.poll() is None
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.kill()


def suite(node: Path, program: Path, url: str, wire: str, place: Path) -> Verdicts:
    """Run the whole suite of one revision; return status and id of every check, by scenario."""
    argv = [str(node), str(program), "server", "--url", url, "--suite", "all", "--spec-version", wire, "-o", str(place)]
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    place.mkdir()
    subprocess.run(argv, cwd=place, env=env, capture_output=True, timeout=150, check=False)
    found: Verdicts = {}
    for checks in sorted(place.glob("server-*/checks.json")):
        scenario = checks.parent.name.removeprefix("server-").rsplit(f"-{checks.parent.name[-24:]}", 1)[0]
        read = json.loads(checks.read_text(encoding="utf-8"))
        found[scenario] = sorted((str(check["id"]), str(check["status"])) for check in read)
    return found


async def through(url: str, ask: Callable[[str], Verdicts]) -> tuple[Verdicts, list[tuple[str, str, str]], int]:
    """Ask with a tap in between; return also the faults and how many messages were recorded."""
    faults: list[tuple[str, str, str]] = []
    with open_run_dir() as run_dir:
        journal = MemoryJournal(Chain("tap:wide", Envelope("s", "t", "r0", "baseline", 1, boot_id())), stamp)
        server = TappedServer("wide", (), {}, run_dir.world, url=url)
        limits = TapLimits(patience=Patience(settle_s=0.1))
        tap = HttpTap(server, journal, limits=limits, on_fault=lambda *fault: faults.append(fault))
        await tap.open()
        try:
            verdicts = await asyncio.to_thread(ask, tap.url)
        finally:
            await tap.close()
    return verdicts, faults, journal.data.count(b"\n")


@pytest.mark.parametrize("wire", WIRES)
async def test_the_suite_sees_no_tap(tmp_path: Path, need: Callable[[str], Path], wire: str) -> None:
    node, program = need("node24"), need("conformance")
    with sdk_server() as url:
        direct = suite(node, program, url, wire, tmp_path / "direct")
        tapped, faults, events = await through(url, lambda door: suite(node, program, door, wire, tmp_path / "tapped"))
    passed = [name for name, checks in direct.items() if all(status != "FAILURE" for _, status in checks)]
    assert len(passed) >= WIRES[wire], sorted(set(direct) - set(passed))
    assert {name: (direct.get(name), tapped.get(name)) for name in direct if tapped.get(name) != direct[name]} == {}
    assert tapped == direct, faults
    assert events > 5 * len(direct)
    assert [fault for fault in faults if fault[1] == "harness"] == []


async def test_the_comparison_notices_a_tap_that_drops_a_header(
    tmp_path: Path, need: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, program = need("node24"), need("conformance")
    wire = "2025-11-25"
    monkeypatch.setattr(tap_http_wire, "_NOT_FORWARDED", tap_http_wire._NOT_FORWARDED | {"mcp-session-id"})
    with sdk_server() as url:
        direct = suite(node, program, url, wire, tmp_path / "direct")
        tapped, _, _ = await through(url, lambda door: suite(node, program, door, wire, tmp_path / "tapped"))
    assert len([name for name in direct if tapped.get(name) != direct[name]]) > len(direct) // 2
