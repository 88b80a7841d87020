"""What the tap adds to a call, over standard streams and over HTTP, beside a direct connection and other forwarders.

Every way leads from one client to one small server (`ways/server.py`): directly; through a bare forwarder that only
copies, which is the floor; through the tap with its journal on disk; and through the proxies of two libraries
(`fastmcp`, `mcp-proxy`), which need environments of their own: `python bench/tap.py --install`.
Targets: the tap adds at most 1.3 times what the bare forwarder adds, and ten times less than the libraries.

"A change declared": another arm changes these answers, so each message is understood before it goes on, in all arms.
Printed per way: median and p99 of a call, what it adds to the direct way, the same as a multiple of the bare
forwarder, calls per second with 16 under way. Twice: with a pause before each call, as an agent calls (what is done
after an answer was handed over costs nobody time), and back to back (everything counts). Then apart: answers that are
changed, whose originals are on the disk before anything goes on, beside what the disk itself takes for that.

``python bench/tap.py [--rounds N] [--only stdio|http|across|changed] [--own] [--install]``
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from oyer.engine.place import bridge_to
from oyer.evidence import Chain, Envelope, Redactor
from oyer.host import base_environment, boot_id, open_run_dir, stamp
from oyer.instruments import DeclaredEdit, Tap, TapLimits, TappedServer, TapRules
from oyer.instruments.tap_http import HttpTap
from oyer.protocol import Edit, Selector
from oyer.store import BlobStore, JournalWriter
from ways import proxies
from ways.clients import Client, HttpClient, StreamClient
from ways.figures import Way, interleave, table

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
SERVER = [sys.executable, "-I", "-S", str(HERE / "ways" / "server.py")]
FORWARDER = [sys.executable, str(HERE / "ways" / "forwarders.py")]
RELAY = [sys.executable, "-I", "-S", str(SOURCES / "oyer" / "programs" / "relay.py")]
BATCH, AT_ONCE = 25, 16
EDIT = Edit("append_text", {"text": "!"})
CHANGED = TapRules(edit=DeclaredEdit("bench", Selector("echo", tool="echo", occurrence="every"), EDIT))
DIRECT, BARE = "direct", "bare forwarder"
Spec = dict[str, Any]
"""How a client gets somewhere: {"argv": ...} or {"url": ...}."""


# -- what stands between ---------------------------------------------------------------------------------------


class Harness:
    """Taps in this process, with journals on disk, and the servers and forwarders that are processes of their own."""

    def __init__(self, root: Path, run_dir: Any, stack: contextlib.AsyncExitStack) -> None:
        self.root = root
        self.synced_ns: list[int] = []
        self._run_dir = run_dir
        self._stack = stack
        self._count = 0

    def journal(self, writer: str = "tap:echo") -> JournalWriter:
        """Make a journal of its own, which notes how long it waits for the disk."""
        self._count += 1
        place = self.root / str(self._count)
        place.mkdir()
        redactor = Redactor({})
        chain = Chain(writer, Envelope("s", "t", "r0", "baseline", 1, boot_id()))
        blobs = BlobStore(place, place, redactor)
        journal = JournalWriter(place / "tap.jsonl", chain, blobs=blobs, clock=stamp, redactor=redactor)
        waited = journal.sync

        def sync() -> None:
            began = time.perf_counter_ns()
            waited()
            self.synced_ns.append(time.perf_counter_ns() - began)

        journal.sync = sync  # type: ignore[method-assign]
        self._stack.callback(journal.close)
        self._stack.callback(journal.seal)
        return journal

    async def stream_tap(self, command: tuple[str, ...], rules: TapRules, declared: TapRules) -> Spec:
        """Open a tap over standard streams."""
        env = base_environment(self._run_dir.home, self._run_dir.temp, os.environ)
        env["PYTHONPATH"] = str(SOURCES)
        server = TappedServer("echo", command, env, self._run_dir.world)
        limits = TapLimits(max_frames=1 << 40, max_total_bytes=1 << 60)
        socket_path = self._run_dir.new_socket_path()
        tap = Tap(server, socket_path, self.journal(), rules=rules, declared=declared, limits=limits)
        await tap.open()
        self._stack.push_async_callback(tap.close)
        tap.session = "bench"
        return {"argv": [*RELAY, str(tap.socket_path)]}

    async def http_tap(self, url: str, rules: TapRules, declared: TapRules) -> Spec:
        """Open a tap between HTTP and HTTP."""
        server = TappedServer("echo", (), {}, self._run_dir.world, url=url)
        limits = TapLimits(max_frames=1 << 40, max_total_bytes=1 << 60)
        tap = HttpTap(server, self.journal(), rules=rules, declared=declared, limits=limits)
        await tap.open()
        self._stack.push_async_callback(tap.close)
        tap.session = "bench"
        return {"url": tap.url}

    async def served(self, argv: list[str]) -> str:
        """Start a process that prints its address; it ends when its standard input does."""
        child = await asyncio.create_subprocess_exec(*argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdin is not None and child.stdout is not None
        self._stack.push_async_callback(child.wait)
        self._stack.callback(child.stdin.close)
        return (await child.stdout.readline()).decode().strip()

    async def proxied(self, argv: list[str], port: int) -> Spec:
        """Start a proxy that serves on a port, and wait until it does."""
        child = await asyncio.create_subprocess_exec(
            *argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._stack.push_async_callback(child.wait)
        self._stack.callback(lambda: child.returncode is None and child.terminate())
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                return {"url": f"http://127.0.0.1:{port}/mcp"}
            await asyncio.sleep(0.1)
        raise SystemExit(f"{argv} did not open its port")


@contextlib.asynccontextmanager
async def harness() -> AsyncIterator[Harness]:
    """Open a place for everything, and end everything."""
    with open_run_dir() as run_dir, tempfile.TemporaryDirectory() as root:
        async with contextlib.AsyncExitStack() as stack:
            yield Harness(Path(root), run_dir, stack)


def fastmcp(target: str | list[str], port: int | None) -> list[str] | None:
    """Return how the proxy of fastmcp is started, None where it is not installed."""
    python = proxies.python_of("fastmcp")
    return python and [str(python), "-c", proxies.FASTMCP, json.dumps(target), json.dumps(port)]


def free_port() -> int:
    """Return a port of this machine that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -- the ways of each table --------------------------------------------------------------------------------------


async def stdio_ways(lab: Harness, libraries: bool) -> dict[str, Spec | str]:
    """Standard streams on both sides."""
    ways: dict[str, Spec | str] = {
        DIRECT: {"argv": SERVER},
        BARE: {"argv": [*FORWARDER, "--lines", *SERVER]},
        "tap": await lab.stream_tap(tuple(SERVER), TapRules(), TapRules()),
        "tap, a change declared": await lab.stream_tap(tuple(SERVER), TapRules(), CHANGED),
    }
    if libraries:
        argv = fastmcp(SERVER, None)
        ways["fastmcp"] = {"argv": argv} if argv else proxies.missing("fastmcp")
    return ways


async def http_ways(lab: Harness, libraries: bool) -> dict[str, Spec | str]:
    """Streamable HTTP on both sides."""
    url = await lab.served([*SERVER, "--http"])
    ways: dict[str, Spec | str] = {
        DIRECT: {"url": url},
        BARE: {"url": await lab.served([*FORWARDER, "--http", url])},
        "tap": await lab.http_tap(url, TapRules(), TapRules()),
        "tap, a change declared": await lab.http_tap(url, TapRules(), CHANGED),
    }
    if libraries:
        port = free_port()
        argv = fastmcp(url, port)
        ways["fastmcp"] = await lab.proxied(argv, port) if argv else proxies.missing("fastmcp")
    return ways


async def across_ways(lab: Harness, libraries: bool) -> dict[str, Spec | str]:
    """Standard streams for the subject, HTTP at the server: what `mcp-proxy` is made for, and the tap's bridge."""
    url = await lab.served([*SERVER, "--http"])
    ways: dict[str, Spec | str] = {
        DIRECT: {"url": url},
        BARE: {"url": await lab.served([*FORWARDER, "--http", url])},
        "tap and bridge": await lab.stream_tap(bridge_to(url, 1 << 26, "http"), TapRules(), TapRules()),
    }
    if not libraries:
        return ways
    argv = fastmcp(url, None)
    ways["fastmcp"] = {"argv": argv} if argv else proxies.missing("fastmcp")
    python = proxies.python_of("mcp-proxy")
    command = python and [str(python.with_name("mcp-proxy")), "--transport", "streamablehttp", url]
    ways["mcp-proxy"] = {"argv": command} if command else proxies.missing("mcp-proxy")
    return ways


async def changed_ways(lab: Harness, _libraries: bool) -> dict[str, Spec | str]:
    """Answers that are changed: the original is on the disk before the changed one goes on."""
    url = await lab.served([*SERVER, "--http"])
    return {
        DIRECT: {"argv": SERVER},
        BARE: {"argv": [*FORWARDER, "--lines", *SERVER]},
        "tap, stdio, changed": await lab.stream_tap(tuple(SERVER), CHANGED, CHANGED),
        "tap, HTTP, changed": await lab.http_tap(url, CHANGED, CHANGED),
    }


WAYS = {"stdio": stdio_ways, "http": http_ways, "across": across_ways, "changed": changed_ways}
TITLES = {
    "stdio": "standard streams on both sides",
    "http": "HTTP on both sides",
    "across": "standard streams for the subject, HTTP at the server",
    "changed": "every answer changed",
}


# -- the client, a process of its own: it must not share an interpreter with the tap it measures -----------------


@contextlib.contextmanager
def opened(ways: dict[str, Spec]) -> Iterator[dict[str, Client]]:
    """Connect every way."""
    clients: dict[str, Client] = {}
    try:
        for name, spec in ways.items():
            clients[name] = HttpClient(spec["url"]) if "url" in spec else StreamClient(spec["argv"])
        yield clients
    finally:
        for client in clients.values():
            client.close()


def measure(kind: str, ways: dict[str, Spec | str], rounds: int) -> None:
    """Measure all ways of one table and print it, once with pauses and once without."""
    notes = {name: spec for name, spec in ways.items() if isinstance(spec, str)}
    with opened({name: spec for name, spec in ways.items() if not isinstance(spec, str)}) as clients:
        for manner, pause_s in (("a pause of 8 ms before each call", 0.008), ("back to back", 0.0)):

            def batch(way: Way, pause_s: float = pause_s) -> list[int]:
                times = []
                for _ in range(BATCH):
                    if pause_s:
                        time.sleep(pause_s)
                    began = time.perf_counter_ns()
                    clients[way.name].call({})
                    times.append(time.perf_counter_ns() - began)
                return times

            def rate(way: Way) -> float:
                count = 4 * AT_ONCE
                began = time.perf_counter()
                clients[way.name].many(count, AT_ONCE)
                return count / (time.perf_counter() - began)

            measured = [Way(name) for name in clients]
            interleave(measured, rounds, batch, rate)
            title = f"{TITLES[kind]}, {manner} ({rounds} rounds of {BATCH} calls)"
            sys.stdout.write(table(title, measured, direct=DIRECT, bare=BARE, notes=notes) + "\n")
            sys.stdout.flush()


def disk_ns(place: Path, count: int) -> list[int]:
    """How long this disk takes to keep two lines, as nobody can do with less."""
    times = []
    with (place / "floor").open("ab", buffering=0) as file:
        for _ in range(count):
            began = time.perf_counter_ns()
            file.write(b"x" * 800)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter_ns() - began)
    return times


async def run(kind: str, rounds: int, libraries: bool) -> None:
    """Open what one table needs, and have it measured from another process."""
    async with harness() as lab:
        ways = await WAYS[kind](lab, libraries)
        argv = [sys.executable, __file__, "--client", kind, json.dumps(ways), "--rounds", str(rounds)]
        child = await asyncio.create_subprocess_exec(*argv)
        if await child.wait():
            raise SystemExit(f"the client of {kind} failed")
        if kind == "changed":
            floor, waited = disk_ns(lab.root, len(lab.synced_ns)), statistics.median(lab.synced_ns)
            print(
                f"of a changed answer, waiting for the disk: {waited / 1e3:.0f} us (median of {len(floor)}); "
                f"a bare write and fdatasync there: {statistics.median(floor) / 1e3:.0f} us\n"
            )


def main() -> None:
    """Start what the arguments ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--only", choices=list(WAYS))
    parser.add_argument("--own", action="store_true", help="leave the proxies of libraries out")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--client", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.install:
        proxies.install()
    elif asked.client:
        measure(asked.client[0], json.loads(asked.client[1]), asked.rounds)
    else:
        for kind in [asked.only] if asked.only else WAYS:
            asyncio.run(run(kind, asked.rounds, not asked.own))


if __name__ == "__main__":
    main()
