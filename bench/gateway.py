"""What the model gateway adds to streamed answers: to the first token, and to tokens per second, at 1 to 128 streams.

Every way leads from one client to one endpoint (`ways/endpoint.py`) that streams tokens: directly; through a bare
forwarder on the same HTTP library, which only copies and is the floor; and through the gateway, with a key to look for
and its journal on disk. The ways take turns in every round, so that whatever else the machine does falls on all alike.

Printed per way: median and p99 of the time to the first token while tokens come every 20 ms, what it adds to the direct
way and that as a multiple of the bare forwarder, and how far behind the direct way the last token is; then tokens per
second while they come as fast as they can. At last how much larger this process grew with the most streams at once.

``python bench/gateway.py [--rounds N] [--streams 1,16,128]``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from oyer.instruments.gateway import RecordingGateway
from oyer.instruments.gateway_upstream import Upstream
from tap import FORWARDER, HERE, Harness, harness
from ways.figures import Way

PACED, FLOOD = 10, 300
"""Tokens of a stream that is paced, and of one that is not."""
PAUSE_MS = 20
DIRECT, BARE, GATEWAY = "direct", "bare forwarder", "gateway"
KEY = "sk-a-key-that-no-answer-may-hold-0123456789"
Door = dict[str, str]
"""Where a way begins, and the key that is shown there."""


class Streams:
    """What `count` streams at once came to: ns to the first token and to the last of each, and tokens per second."""

    def __init__(self, count: int, tokens: int) -> None:
        self.count = count
        self.tokens = tokens
        self.first: list[int] = []
        self.last: list[int] = []
        self.per_s = 0.0

    async def run(self, door: Door, pause_ms: int) -> None:
        """Open them all, and read each to its end."""
        began = time.perf_counter()
        await asyncio.gather(*(self._one(door, pause_ms) for _ in range(self.count)))
        self.per_s = self.count * self.tokens / (time.perf_counter() - began)

    async def _one(self, door: Door, pause_ms: int) -> None:
        address = urlsplit(door["url"])
        asked: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Count."}]}
        body = json.dumps({**asked, "tokens": self.tokens, "pause_ms": pause_ms}).encode()
        began = time.perf_counter_ns()
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(
            f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Authorization: Bearer {door['key']}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        seen, first = b"", 0
        tokens = 0
        while not seen.endswith(b"0\r\n\r\n"):
            piece = await reader.read(1 << 16)
            if not piece:
                raise SystemExit(f"{door['url']} ended too early: {seen[-200:]!r}")
            tokens += piece.count(b" word")
            if not first and b"data:" in piece:
                first = time.perf_counter_ns()
            seen = (seen + piece)[-400:]
        self.first.append(first - began)
        self.last.append(time.perf_counter_ns() - began)
        writer.close()
        if tokens < self.tokens * 0.9:  # a word cut in two by a read is not counted
            raise SystemExit(f"{door['url']} gave {tokens} of {self.tokens} tokens")


async def measure(doors: dict[str, Door], counts: list[int], rounds: int) -> None:
    """Measure all ways, in turns, and print a table for each number of streams."""
    for count in counts:
        ways = [Way(name) for name in doors]
        late: dict[str, list[float]] = {name: [] for name in doors}
        repeats = max(1, 8 // count)
        for number in range(rounds + 1):
            start = number % len(ways)
            for way in ways[start:] + ways[:start]:
                firsts: list[int] = []
                lasts: list[int] = []
                for _ in range(repeats):
                    paced = Streams(count, PACED)
                    await paced.run(doors[way.name], PAUSE_MS)
                    firsts += paced.first
                    lasts += paced.last
                flood = Streams(count, FLOOD)
                await flood.run(doors[way.name], 0)
                if number:
                    way.batches.append(firsts)
                    way.rates.append(flood.per_s)
                    late[way.name].append(statistics.median(lasts))
        sys.stdout.write(table(count, ways, late, rounds) + "\n")
        sys.stdout.flush()


def table(count: int, ways: list[Way], late: dict[str, list[float]], rounds: int) -> str:
    """Write one table."""
    named = {way.name: way for way in ways}
    direct, bare = named[DIRECT], named[BARE]
    floor = bare.added(direct)
    rows = [
        f"{count} streams at once ({rounds} rounds)\n",
        f"{'way':<18}{'first us':>10}{'p99 us':>9}{'added us':>9}{'x bare':>8}{'last +ms':>9}{'tok/s':>8}{'direct':>7}",
    ]
    for way in ways:
        added = "" if way is direct else f"{way.added(direct) / 1e3:.0f}"
        times = "" if way is direct else f"{way.added(direct) / floor:.2f}"
        behind = statistics.median(own - base for own, base in zip(late[way.name], late[DIRECT], strict=True)) / 1e6
        rows.append(
            f"{way.name:<18}{way.median() / 1e3:>10.0f}{way.tail() / 1e3:>9.0f}{added:>9}{times:>8}{behind:>9.1f}"
            f"{way.rate():>8.0f}{way.rate() / direct.rate():>7.0%}"
        )
    return "\n".join(rows) + "\n"


def largest_kb() -> int:
    """The most memory this process ever had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def open_gateway(lab: Harness, url: str) -> tuple[RecordingGateway, Door]:
    """Open a gateway in this process, with its journal on disk."""
    gateway = RecordingGateway(lab.journal("gateway"), Upstream(url, key=KEY))
    gateway.session = "bench"
    door = await gateway.start()
    return gateway, {"url": door.base_url, "key": door.key}


async def run(counts: list[int], rounds: int) -> None:
    """Open every way, and have them measured from another process."""
    async with harness() as lab:
        url = await lab.served([sys.executable, "-I", "-S", str(HERE / "ways" / "endpoint.py")])
        bare = await lab.served([*FORWARDER, "--http", url])
        gateway, door = await open_gateway(lab, url)
        try:
            doors = {DIRECT: {"url": url, "key": "none"}, BARE: {"url": bare, "key": "none"}, GATEWAY: door}
            grown = []
            for count in counts:
                argv = [sys.executable, __file__, "--client", json.dumps(doors), "--streams", str(count)]
                before = largest_kb()
                child = await asyncio.create_subprocess_exec(*argv, "--rounds", str(rounds))
                if await child.wait():
                    raise SystemExit("the client failed")
                grown.append((count, largest_kb() - before))
            print("this process, which holds the gateway, grew by", end=" ")
            print(", ".join(f"{kb} kB at {count}" for count, kb in grown), "streams")
        finally:
            await gateway.stop()


def main() -> None:
    """Start what the arguments ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--streams", default="1,16,128")
    parser.add_argument("--client", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    counts = [int(one) for one in asked.streams.split(",")]
    if asked.client:
        asyncio.run(measure(json.loads(asked.client), counts, asked.rounds))
    else:
        asyncio.run(run(counts, asked.rounds))


if __name__ == "__main__":
    main()
