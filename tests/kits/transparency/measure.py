"""Running the suite directly, through the tap, and through the tap with something spoilt before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from oyer.evidence import Chain, Envelope
from oyer.host import Patience, boot_id, open_run_dir, stamp
from oyer.instruments import TapLimits, TappedServer
from oyer.instruments.tap_http import HttpTap
from oyer.store import MemoryJournal
from transparency.forwarder import Ablation, forwarding
from transparency.probe import byte_server, bytes_pass
from transparency.suite import WIRES, Suite, Verdicts

__all__ = ["Compared", "Spoilt", "compare", "spoil", "tapped"]

Say = Callable[[str], None]
SECOND_LOOKS = 5
"""The suite gives some answers half a second, which a busy machine may miss: so many scenarios are asked once more."""


class Compared(NamedTuple):
    """One server and one revision: what the suite says without the tap and with it, and what the tap found at fault."""

    direct: Verdicts
    through: Verdicts
    faults: tuple[tuple[str, str, str], ...]
    messages: int


class Spoilt(NamedTuple):
    """What one ablation did: by revision the scenarios that came out differently; and whether bytes still pass."""

    noticed: Mapping[str, tuple[str, ...]]
    bytes_pass: bool


class Tapped(NamedTuple):
    """A tap in front of a server."""

    url: str
    journal: MemoryJournal
    faults: list[tuple[str, str, str]]


@asynccontextmanager
async def tapped(url: str) -> AsyncIterator[Tapped]:
    """Put a tap in front of an endpoint, as a trial does."""
    faults: list[tuple[str, str, str]] = []
    with open_run_dir() as run_dir:
        journal = MemoryJournal(Chain("tap:wide", Envelope("s", "t", "r0", "baseline", 1, boot_id())), stamp)
        server = TappedServer("wide", (), {}, run_dir.world, url=url)
        limits = TapLimits(patience=Patience(settle_s=0.1))
        tap = HttpTap(server, journal, limits=limits, on_fault=lambda *fault: faults.append(fault))
        await tap.open()
        try:
            yield Tapped(tap.url, journal, faults)
        finally:
            await tap.close()


async def compare(suite: Suite, url: str, wire: str, place: Path, say: Say, declared: Collection[str] = ()) -> Compared:
    """Ask about a server with and without a tap; what differs undeclared is asked once more, both ways."""
    direct = dict(await asyncio.to_thread(suite.ask, url, wire, place / "direct"))
    async with tapped(url) as tap:
        through = dict(await asyncio.to_thread(suite.ask, tap.url, wire, place / "through"))
        differ = tuple(name for name in _differ(direct, through) if name not in declared)
        if 0 < len(differ) <= SECOND_LOOKS:
            say(f"  asked once more: {', '.join(differ)}")
            direct |= await asyncio.to_thread(suite.ask_again, url, wire, place / "direct again", differ)
            through |= await asyncio.to_thread(suite.ask_again, tap.url, wire, place / "through again", differ)
    return Compared(direct, through, tuple(tap.faults), tap.journal.data.count(b"\n"))


async def spoil(
    suite: Suite, url: str, ablation: Ablation, direct: Mapping[str, Verdicts], place: Path, say: Say
) -> Spoilt:
    """Ask about a server through a forwarder that spoils something and a tap, and hold it to `direct`, by revision."""
    noticed = {}
    for wire in WIRES:
        async with tapped(url) as tap, forwarding(tap.url, ablation) as door:
            ask = partial(suite.ask, door, wire, place / wire, scenario_s=ablation.scenario_s)
            found = dict(await asyncio.to_thread(ask))
            differ = _differ(direct[wire], found)
            if 0 < len(differ) <= SECOND_LOOKS and not ablation.buffer:
                say(f"  {ablation.name}, asked once more: {', '.join(differ)}")
                found |= await asyncio.to_thread(suite.ask_again, door, wire, place / f"{wire} again", differ)
        noticed[wire] = _differ(direct[wire], found)
    seen: list[bytes] = []
    async with byte_server(seen) as server, tapped(server) as tap, forwarding(tap.url, ablation) as door:
        return Spoilt(noticed, await bytes_pass(door, seen))


def _differ(one: Verdicts, other: Verdicts) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))
