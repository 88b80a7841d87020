"""How much a tap adds to a round trip over stdio, as a ratio to a bare asyncio line forwarder in the same run.

Three ways from one client to one echo server: directly, through a forwarder made of asyncio streams that does
nothing but copy lines, and through relay and tap with a journal on disk. Batches of each are interleaved, so
that whatever else the machine does falls on all three alike. Printed: median and p99 per way, and the ratio;
once with a pause between calls, as an agent calls (what is done after an answer was handed over costs nobody
time), and once back to back (everything counts).

``python bench/tap_roundtrip.py [ROUNDS]``
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oyer.evidence import Chain, Envelope, Redactor
from oyer.host import base_environment, boot_id, open_run_dir, stamp
from oyer.instruments import Tap, TappedServer
from oyer.store import BlobStore, JournalWriter

ECHO = """
import os
held = b""
while chunk := os.read(0, 65536):
    held += chunk
    while b"\\n" in held:
        line, _, held = held.partition(b"\\n")
        number = line.split(b'"id":')[1].split(b",")[0]
        os.write(1, b'{"jsonrpc":"2.0","id":' + number + b',"result":{"content":[{"type":"text","text":"pong"}]}}\\n')
"""
SERVER = [sys.executable, "-I", "-S", "-c", ECHO]
RELAY = Path(__file__).resolve().parents[1] / "src" / "oyer" / "programs" / "relay.py"
BATCH = 50


async def forward_lines() -> None:
    """Stand between our own standard streams and the server, line by line."""
    loop = asyncio.get_running_loop()
    child = await asyncio.create_subprocess_exec(*SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while line := await source.readline():
            target.write(line)
            await target.drain()

    back = asyncio.create_task(pump(child.stdout, writer))
    await pump(reader, child.stdin)
    child.stdin.close()
    await back
    await child.wait()


class Way:
    """One way to the server: a child whose standard streams lead there."""

    def __init__(self, name: str, argv: list[str]) -> None:
        self.name = name
        self.times_ns: list[int] = []
        self._child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0

    def batch(self, *, keep: bool, pause_s: float) -> None:
        """Make one batch of round trips; the first ones only warm up."""
        assert self._child.stdin is not None and self._child.stdout is not None
        reads, writes = self._child.stdout.fileno(), self._child.stdin.fileno()
        for _ in range(BATCH):
            self._number += 1
            params = {"name": "echo", "arguments": {"text": "ping"}}
            call = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
            raw = json.dumps(call, separators=(",", ":")).encode() + b"\n"
            if pause_s:
                time.sleep(pause_s)
            began = time.perf_counter_ns()
            os.write(writes, raw)
            got = b""
            while not got.endswith(b"\n"):
                got += os.read(reads, 65536)
            if keep:
                self.times_ns.append(time.perf_counter_ns() - began)

    def close(self) -> None:
        """End the child as a polite client does."""
        self._child.communicate()


def measure(ways: list[Way], rounds: int, pause_s: float) -> None:
    """Make `rounds` round trips each way, in turns of one batch."""
    for way in ways:
        way.times_ns.clear()
    for number in range(rounds // BATCH + 1):
        for way in ways:
            way.batch(keep=number >= 1, pause_s=pause_s)


async def through_tap(ask: Callable[[str], None]) -> None:
    """Run a tap in this process while `ask(socket path)` talks through it in another."""
    with open_run_dir() as run_dir, tempfile.TemporaryDirectory() as place:
        root = Path(place)
        redactor = Redactor({})
        blobs = BlobStore(root, root, redactor)
        chain = Chain("tap:echo", Envelope("s", "t", "r0", "baseline", 1, boot_id()))
        journal = JournalWriter(root / "tap.jsonl", chain, blobs=blobs, clock=stamp, redactor=redactor)
        env = base_environment(run_dir.home, run_dir.temp, os.environ)
        tap = Tap(TappedServer("echo", tuple(SERVER), env, run_dir.world), run_dir.new_socket_path(), journal)
        await tap.open()
        await asyncio.to_thread(ask, str(tap.socket_path))
        await tap.close()
        journal.seal()
        journal.close()


def client(socket_path: str, rounds: int) -> None:
    """Measure all three ways from this one process and print both tables."""
    ways = [
        Way("direct", SERVER),
        Way("asyncio line forwarder", [sys.executable, __file__, "--forward"]),
        Way("relay and tap", [sys.executable, "-I", "-S", str(RELAY), socket_path]),
    ]
    for title, pause_s in (("a pause of 2 ms between calls", 0.002), ("back to back", 0.0)):
        measure(ways, rounds, pause_s)
        sys.stdout.write(f"{title}\n{table(ways)}\n")
    for way in ways:
        way.close()


def table(ways: list[Way]) -> str:
    """Return median and p99 of each way, and their ratios to the bare forwarder."""
    medians = {way.name: statistics.median(way.times_ns) for way in ways}
    tails = {way.name: statistics.quantiles(way.times_ns, n=100)[98] for way in ways}
    bare = "asyncio line forwarder"
    rows = [f"{'way':<24}{'median us':>12}{'p99 us':>12}{'median ratio':>14}{'p99 ratio':>12}"]
    for way in ways:
        median, tail = medians[way.name], tails[way.name]
        rows.append(
            f"{way.name:<24}{median / 1000:>12.1f}{tail / 1000:>12.1f}"
            f"{median / medians[bare]:>14.2f}{tail / tails[bare]:>12.2f}"
        )
    return "\n".join(rows) + "\n"


def main() -> None:
    """Start what the arguments ask for: the forwarder, the client, or the whole measurement."""
    if sys.argv[1:2] == ["--forward"]:
        asyncio.run(forward_lines())
    elif sys.argv[1:2] == ["--client"]:
        client(sys.argv[2], int(sys.argv[3]))
    else:
        rounds = sys.argv[1] if len(sys.argv) > 1 else "2000"
        # The client is a process of its own: it must not share an interpreter with the tap it measures.
        argv = [sys.executable, __file__, "--client"]
        asyncio.run(through_tap(lambda path: subprocess.run([*argv, path, rounds], check=True) and None))


if __name__ == "__main__":
    main()
