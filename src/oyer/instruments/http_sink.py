"""The harness's side of the http sinks: one process for a series, one sink per attempt and name in it.

Owns starting and ending that process, tokens and places, and the probes, which go in by the same door as every
effect. Must never write a sink's journal or answer for it: the process does both.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from oyer.errors import HarnessError
from oyer.evidence import Envelope, WriterHead
from oyer.host import Child, Patience, PipeReader, PipeWriter, new_token, spawn, terminate_tree
from oyer.instruments.ports import OnFault
from oyer.protocol import LineSplitter, Overlong

__all__ = ["HttpSink", "LateEffect", "SinkHost"]

_START_S = 20.0
_REPLY_S = 10.0
_PROBE_S = 5.0
_PATIENCE = Patience(settle_s=2.0, term_s=1.0)


class LateEffect(NamedTuple):
    """A request that came for a run whose sink was sealed, when no other sink was open to record it.

    `token` and `request` are digests; `begins` is how the request began.
    """

    run: str
    token: str
    request: str
    begins: str


class SinkHost:
    """The process that hosts all http sinks of a series."""

    def __init__(self, child: Child, on_fault: OnFault) -> None:
        self._child = child
        self._on_fault = on_fault
        self._sinks: dict[str, HttpSink] = {}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 0
        self._splitter = LineSplitter()
        self._writer = PipeWriter(child.take_stdin(), on_broken=self._gone)
        self._reader = PipeReader(child.take_stdout(), self._data, self._gone)
        self._ended = False

    @classmethod
    async def start(
        cls,
        *,
        secrets: Mapping[str, bytes] | None = None,
        on_fault: OnFault = lambda where, cls, message: None,
    ) -> SinkHost:
        """Start the process and wait until it listens. `secrets` are replaced in what it writes.

        `on_fault` hears of the end of the process, and of what no open sink is concerned with.

        Raises: HarnessError (`E-SINK-HOST`).
        """
        source = Path(__file__).resolve().parents[2]
        argv = [sys.executable, "-s", "-P", "-m", "oyer.programs.http_sink"]
        env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(source)}
        try:
            child = spawn(argv, env=env, cwd=Path("/"))
        except OSError as error:
            raise HarnessError("E-SINK-HOST", f"cannot start the sink process: {error}") from error
        host = cls(child, on_fault)
        told = {name: base64.b64encode(value).decode("ascii") for name, value in (secrets or {}).items()}
        try:
            await host.ask({"do": "hello", "secrets": told}, limit_s=_START_S)
        except BaseException:
            await host.stop()
            raise
        return host

    @property
    def alive(self) -> bool:
        """Whether the process can still be relied on."""
        return not self._ended

    async def open_sink(
        self,
        name: str,
        envelope: Envelope,
        journal: Path,
        *,
        series_root: Path | None = None,
        on_fault: OnFault = lambda where, cls, message: None,
    ) -> HttpSink:
        """Open one sink for one attempt: a fresh place and token, and its journal at the path given.

        Blobs go under `series_root`, by default the series in which the journal's attempt lies. `on_fault` hears what
        becomes of this sink until it is sealed, the end of the process included. Raises: HarnessError.
        """
        place, token = str(new_token()), str(new_token())
        command = {
            "do": "open",
            "sink": name,
            "place": place,
            "token": token,
            "envelope": envelope._asdict(),
            "journal": str(journal.absolute()),
            "blobs": str((series_root or journal.parents[4]).absolute()),
        }
        done = await self.ask(command)
        self._sinks[place] = HttpSink(self, name, place, done["url"], token, on_fault)
        return self._sinks[place]

    def forget(self, place: str) -> None:
        """A sink was sealed: nothing more is told of it."""
        self._sinks.pop(place, None)

    async def stop(self) -> tuple[LateEffect, ...]:
        """End the process; return what came too late to be recorded anywhere."""
        late: list[dict[str, str]] = []
        if not self._ended:
            try:
                late = await self.ask({"do": "late"})
            except HarnessError as error:
                self._tell(str(error))
        self._ended = True
        self._writer.close()
        await terminate_tree(self._child, patience=_PATIENCE)
        self._reader.close()
        await self._child.finish_stderr(0.1)
        self._child.release()
        return tuple(LateEffect(**one) for one in late)

    async def ask(self, command: dict[str, Any], *, limit_s: float = _REPLY_S) -> Any:
        """Send one command and return what it gave. Raises: HarnessError (`E-SINK-HOST`, `E-SINK-COMMAND`)."""
        if not self._writer.is_open or not self._reader.is_open:
            raise HarnessError("E-SINK-HOST", f"the sink process is gone ({self._child.exit})")
        self._next += 1
        number = self._next
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        self._writer.write(json.dumps({"id": number, **command}).encode() + b"\n")
        try:
            message = await asyncio.wait_for(reply, limit_s)
        except TimeoutError as error:
            why = f"the sink process did not answer {command['do']!r} within {limit_s:g} s"
            raise HarnessError("E-SINK-HOST", why) from error
        finally:
            self._waiting.pop(number, None)
        if message is None:
            raise HarnessError("E-SINK-HOST", f"the sink process ended: {self._last_words()}")
        if "failed" in message:
            raise HarnessError("E-SINK-COMMAND", f"{command['do']}: {message['failed']}")
        return message["done"]

    def _data(self, data: bytes) -> None:
        for frame in self._splitter.feed(data):
            if isinstance(frame, Overlong):
                self._gone()
                return
            message = json.loads(frame)
            if "fault" in message:
                self._of_one(message["fault"]["place"], message["fault"]["message"])
                continue
            waiting = self._waiting.get(message["id"])
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def _gone(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)
        self._tell(f"the sink process ended: {self._last_words()}")

    def _tell(self, message: str) -> None:
        """Report once that the process can no longer be relied on."""
        if not self._ended:
            self._ended = True
            self._on_fault("sinks", "harness", message)
            for sink in tuple(self._sinks.values()):
                sink.on_fault("sinks", "harness", message)

    def _of_one(self, place: str, message: str) -> None:
        sink = self._sinks.get(place)
        if sink is None:
            self._on_fault("sinks", "harness", message)
        else:
            sink.on_fault(f"sink:{sink.name}", "harness", message)

    def _last_words(self) -> str:
        said = self._child.stderr.value()[-1000:].decode("utf-8", "replace").strip()
        return f"{self._child.exit}; {said}" if said else str(self._child.exit)


class HttpSink:
    """One sink of one attempt. `url` and `token` are what the Case's placeholders stand for."""

    def __init__(self, host: SinkHost, name: str, place: str, url: str, token: str, on_fault: OnFault) -> None:
        self._host = host
        self._place = place
        self.on_fault = on_fault
        self.name = name
        self.url = url
        self.token = token

    async def probe(self, phase: Literal["opening", "closing"]) -> bool:
        """Send one request by the door every effect comes in by; the sink itself records that it arrived, or not."""
        nonce = str(new_token())
        await self._host.ask({"do": "expect", "place": self._place, "phase": phase, "nonce": nonce})
        detail = ""
        try:
            status = await asyncio.wait_for(self._post(json.dumps({"probe": nonce}).encode()), _PROBE_S)
            if status != 200:
                detail = f"the probe was answered with {status}"
        except (OSError, ValueError, EOFError, TimeoutError) as error:
            detail = f"the probe failed: {type(error).__name__} {error}"
        if detail:
            missed = {"do": "missed", "place": self._place, "nonce": nonce, "detail": detail}
            await self._host.ask(missed)
        return not detail

    async def seal(self) -> WriterHead:
        """Close the sink and seal its journal. What comes for this run from now on counts as late."""
        self._host.forget(self._place)
        done = await self._host.ask({"do": "seal", "place": self._place})
        return WriterHead(done["length"], done["head"])

    async def _post(self, body: bytes) -> int:
        address, _, path = self.url.removeprefix("http://").partition("/")
        name, _, port = address.partition(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        try:
            head = (
                f"POST /{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {self.token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(head.encode("ascii") + body)
            await writer.drain()
            status = await reader.readline()
            return int(status.split()[1])
        except IndexError as error:
            raise EOFError("no status line") from error
        finally:
            writer.close()
