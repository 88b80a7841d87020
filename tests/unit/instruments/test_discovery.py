"""Discovery observes the whole listing in the server's own bytes, or says why not, and leaves nothing running."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

from instrument_kit import QUICK, Rig, peer, request
from oyer.errors import Blocked
from oyer.host.process_table import descendants_of
from oyer.instruments import TappedServer, discover
from oyer.protocol import listing_digest

RigMaker = Callable[[str], Rig]


def server_of(bench: Rig) -> TappedServer:
    return TappedServer("ops", bench.command, bench.env, bench.run_dir.world, str(bench.run_dir.temp))


async def test_all_pages_and_the_digest_a_tap_would_see(rig: RigMaker) -> None:
    bench = rig("plain")
    listing = await discover(server_of(bench), patience=QUICK)
    assert [tool["name"] for tool in listing.tools] == ["echo", *(f"tool{number}" for number in range(13))]
    assert (listing.complete, len(listing.answers)) == (True, 2)
    await bench.open()
    client = await bench.client()
    await client.send(request(77, "tools/list") + request(78, "tools/list", {"cursor": "8"}))
    pages = [await client.line(), await client.line()]
    await client.leave()
    await bench.close()
    recorded = [bench.journal.raw(event) for event in bench.journal.of("mcp.received")]
    assert recorded == pages
    assert listing_digest(recorded) == listing.digest
    assert listing.digest.startswith("raw:")


async def test_noise_and_line_ends_do_not_matter(rig: RigMaker) -> None:
    digests = {(await discover(server_of(rig(manner)), patience=QUICK)).digest for manner in ("plain", "banner")}
    assert len(digests) == 1


async def test_pages_without_end_are_bounded_and_said_so(rig: RigMaker) -> None:
    listing = await discover(server_of(rig("endless_pages")), patience=QUICK)
    assert listing.complete is False
    assert len(listing.answers) == 100


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/nonexistent/server"], "could not be started"),
        (peer("exits"), "API_KEY is required"),
        (["/bin/sleep", "60"], "did not answer within 0.2 s"),
        ([sys.executable, "-c", "print('x' * 20_000_000)"], "ended its stream|bytes"),
    ],
)
async def test_a_server_that_offers_nothing_blocks_and_is_gone(rig: RigMaker, command: list[str], said: str) -> None:
    before = [row.pid for row in descendants_of(os.getpid()) if not row.is_zombie]
    bench = rig("plain")
    bench.command = tuple(command)
    limit_s = 0.2 if "sleep" in command[0] else 60.0
    with pytest.raises(Blocked, match=said):
        await discover(server_of(bench), limit_s=limit_s, patience=QUICK)
    assert [row.pid for row in descendants_of(os.getpid()) if not row.is_zombie] == before
