"""What tests of instruments share: a journal in memory that keeps the law, and a tap with a client on a relay."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oyer.errors import HarnessError, OyerError
from oyer.evidence import Chain, Envelope, Event, parse_event, payload_bytes
from oyer.host import Child, Patience, RunDir, boot_id, spawn, stamp
from oyer.instruments import CallWatcher, Tap, TapLimits, TappedServer, TapRules
from oyer.store import MemoryJournal

PEERS = Path(__file__).parent / "peers"
RELAY = Path(__file__).parents[1] / "src" / "oyer" / "programs" / "relay.py"
QUICK = Patience(settle_s=0.3, term_s=0.3, kill_s=3.0, grace_s=0.1)
ENVELOPE = Envelope("s", "t", "r0123456789abcdef", "baseline", 1, boot_id())


class KitJournal(MemoryJournal):
    """The store's journal in memory, with its events at hand; it can be made to fail like a full disk."""

    def __init__(self, writer: str) -> None:
        super().__init__(Chain(writer, ENVELOPE), stamp)
        self.events: list[Event] = []
        self.synced: list[str] = []
        self.fails_on: str | None = None

    def _keep(self, line: bytes, blobs: Mapping[str, bytes], *, hold: bool = False) -> None:
        event = parse_event(line[:-1])
        if event.kind == self.fails_on:
            self._poison = HarnessError("E-STORE-WRITE", "No space left on device")
            raise self._poison
        super()._keep(line, blobs, hold=hold)
        self.events.append(event)

    def sync(self) -> None:
        super().sync()
        self.synced = [event.ref for event in self.events]

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    def raw(self, event: Event, key: str = "payload") -> bytes:
        return payload_bytes(event.body[key], self.contents.get)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


class Client:
    """A subject's side of one relay: a child process whose standard streams are ours."""

    def __init__(self, relay: Child) -> None:
        self.relay = relay
        self._in = relay.take_stdin()
        self._out = relay.take_stdout()
        os.set_blocking(self._in, True)
        os.set_blocking(self._out, True)
        self._held = b""

    async def send(self, raw: bytes) -> None:
        view = memoryview(raw)
        while view:
            view = view[await asyncio.to_thread(os.write, self._in, view) :]

    async def line(self) -> bytes:
        """Return the next line with its end; what is left at the end of the stream; b"" then."""
        while b"\n" not in self._held:
            chunk = await asyncio.to_thread(os.read, self._out, 1 << 20)
            if not chunk:
                rest, self._held = self._held, b""
                return rest
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line + b"\n"

    async def rest(self) -> bytes:
        pieces = []
        while piece := await self.line():
            pieces.append(piece)
        return b"".join(pieces)

    async def ask(self, identifier: int, method: str, params: object = None) -> dict[str, Any]:
        await self.send(request(identifier, method, params))
        answer: dict[str, Any] = json.loads(await self.line())
        return answer

    async def call(self, identifier: int, arguments: object = None, tool: str = "echo") -> dict[str, Any]:
        return await self.ask(identifier, "tools/call", {"name": tool, "arguments": arguments or {}})

    def close_stdin(self) -> None:
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    def release(self) -> None:
        self.close_stdin()
        os.close(self._out)
        self.relay.release()

    async def leave(self) -> int | None:
        """Close as a polite client does, and return what the relay exits with."""
        self.close_stdin()
        ended = await self.relay.wait_at_most(10)
        return ended.code if ended else None


def request(identifier: int, method: str, params: object = None) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": identifier, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode() + b"\n"


class Rig:
    """A tap in front of one peer, and as many clients as asked for."""

    def __init__(self, run_dir: RunDir, command: Sequence[str]) -> None:
        self.run_dir = run_dir
        self.journal = KitJournal("tap:ops")
        self.faults: list[tuple[str, str, str]] = []
        self.command = tuple(command)
        self.tap: Tap | None = None
        self.clients: list[Client] = []
        self.env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp)}
        self.is_bridged = False

    async def open(
        self,
        *,
        rules: TapRules | None = None,
        declared: TapRules | None = None,
        limits: TapLimits | None = None,
        watchers: Sequence[CallWatcher] = (),
    ) -> Tap:
        path = self.run_dir.new_socket_path()
        server = TappedServer("ops", self.command, self.env, self.run_dir.world, str(self.run_dir.temp))
        server = server._replace(is_bridged=self.is_bridged)
        self.tap = Tap(
            server,
            path,
            self.journal,
            rules=rules or TapRules(),
            declared=declared or TapRules(),
            limits=limits or TapLimits(patience=QUICK),
            watchers=watchers,
            on_fault=lambda *fault: self.faults.append(fault),
        )
        self.tap.session = "a"
        await self.tap.open()
        self.path = path
        return self.tap

    async def client(self) -> Client:
        argv = [sys.executable, "-I", "-S", str(RELAY), str(self.path)]
        client = Client(spawn(argv, env={"PATH": os.environ["PATH"]}, cwd=self.run_dir.world))
        self.clients.append(client)
        return client

    async def close(self) -> None:
        if self.tap is not None:
            await self.tap.close()
        for client in self.clients:
            client.relay.kill_group()
            await client.relay.wait()
            client.release()


def peer(manner: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(PEERS / "mcp_peer.py"), manner]


def replay_chain(journal: KitJournal) -> list[OyerError]:
    """Return what is wrong with the references of a journal: every cause must stand before its event."""
    seen: set[str] = set()
    wrong: list[OyerError] = []
    for event in journal.events:
        wrong += [OyerError("E-TEST", f"{event.ref} cites {ref}") for ref in event.because if ref not in seen]
        seen.add(event.ref)
    return wrong
