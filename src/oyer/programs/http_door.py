"""A server over standard streams, as a server over HTTP: one process for one session.

Owns the address and what is answered there. What each process says goes where `oyer.programs.door_session` puts it.
A line is a body or an event's data as it came, and a body is a line with its line ends turned into spaces (JSON has
none inside a string). Must never answer for a server, start one again that ended, or let a message go unheard: what
HTTP cannot say ends this process, with the reason on standard error.

python -m oyer.programs.http_door MAX_BYTES PORT COMMAND ...

Streamable HTTP is at `/mcp`, HTTP with SSE as of 2024-11-05 at `/sse`. The end of standard input ends every server in
the same way, and then this process.
Source: MCP transports, 2024-11-05 to 2026-07-28.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Final, NoReturn

from oyer.programs.door_channel import Channel, Reader
from oyer.programs.door_session import DoorSession, Sessions
from oyer.programs.door_wire import Client, Request, listen
from oyer.programs.wire import note, requests_in
from oyer.protocol import (
    SESSION_HEADER,
    UNDECIDED_EXIT,
    VERSION_HEADER,
    JsonValue,
    Message,
    encode_message,
    modern_version,
    parse_message,
)

__all__ = ["Door", "main"]

_POLL_S: Final = 0.05
_SESSION: Final = SESSION_HEADER.lower()
_VERSION: Final = VERSION_HEADER.lower()
_FIRST_WITHOUT: Final = "2026-07-28"
"""The first revision without sessions; they are dates, and compare as such."""
_STREAM: Final = "text/event-stream"
_TEXT: Final = (("Content-Type", "text/plain"),)
_UNKNOWN: Final = b"there is no such session"

Headers = tuple[tuple[str, str], ...]


class Door:
    """What is answered at the two addresses."""

    def __init__(self, sessions: Sessions, host: str) -> None:
        self._sessions = sessions
        self._host = host

    def serve(self, client: Client, request: Request) -> None:
        """Answer one request. Raises: OSError when the client went."""
        path, _, query = request.target.partition("?")
        foreign = request.headers.get("origin") not in (None, f"http://{self._host}")
        if foreign or request.headers.get("host") != self._host:
            client.say(403, b"this address is not for browsers or other hosts", _TEXT)
            return
        match request.method, path:
            case "POST", "/mcp":
                self._post(client, request)
            case "GET", "/mcp":
                self._listen(client, request)
            case "DELETE", "/mcp":
                session = self._sessions.take(request.headers.get(_SESSION, ""))
                client.say(404 if session is None else 200)
                if session is not None:
                    session.end()
            case "GET", "/sse":
                self._older_stream(client)
            case "POST", "/messages":
                self._older_post(client, self._sessions.find(query), request.body)
            case _, "/mcp" | "/sse" | "/messages":
                allowed = {"/mcp": "GET, POST, DELETE", "/sse": "GET", "/messages": "POST"}[path]
                client.say(405, headers=[("Allow", allowed)])
            case _:
                client.say(404)

    def _post(self, client: Client, request: Request) -> None:
        read = parse_message(request.body)
        message = read if isinstance(read, Message) else None
        requests = requests_in(message)
        named = request.headers.get(_SESSION)
        headers: Headers = ()
        session: DoorSession | None
        channel: Channel | None = None
        if named is not None:
            session = self._sessions.find(named)
        elif message is not None and message.method == "initialize":
            name, session = self._sessions.open()
            headers = ((SESSION_HEADER, name),)
        elif _needs_none(request, message):
            odd = any(modern_version(each) is None for each in requests)
            session, channel = self._sessions.without(requests, odd=odd, about=_cancelled(message))
        else:
            client.say(400, b"a session is needed", _TEXT)
            return
        if session is None:
            client.say(404, _UNKNOWN, _TEXT)
        elif not requests:
            if (given_up := _cancelled(message)) is not None:
                session.give_up(given_up)
            session.write(request.body)
            client.say(202)
        else:
            channel = channel or session.ask(requests)
            session.write(request.body)
            accepted = request.headers.get("accept") or _STREAM
            carry = _stream if _STREAM in accepted or "*/*" in accepted else _whole
            if not carry(client, Reader(channel), headers):
                _give_up(session, channel, requests)

    def _listen(self, client: Client, request: Request) -> None:
        """The stream for what nobody asked for, or one that is taken up after its last event."""
        named = request.headers.get(_SESSION)
        session = self._sessions.find(named or "")
        if session is None:
            client.say(404 if named else 405, headers=[] if named else [("Allow", "POST, DELETE")])
            return
        reader = session.resume(request.headers.get("last-event-id"))
        if reader is None:
            client.say(409, b"there is such a stream already", _TEXT)
            return
        _stream(client, reader)
        if reader.channel is session.own:
            session.own.is_listened = False

    def _older_stream(self, client: Client) -> None:
        name, session = self._sessions.open()
        _stream(client, Reader(session.own), first=b"event: endpoint\ndata: /messages?%s\n\n" % name.encode())
        self._sessions.take(name)
        session.end()

    def _older_post(self, client: Client, session: DoorSession | None, body: bytes) -> None:
        if session is None:
            client.say(404, _UNKNOWN, _TEXT)
            return
        session.write(body)
        client.say(202)


def _stream(client: Client, reader: Reader, headers: Headers = (), first: bytes = b"") -> bool:
    """Write what comes until it ends; False when the client went before that."""
    try:
        client.begin((*headers, ("Content-Type", _STREAM), ("Cache-Control", "no-store")), first)
        while (line := _next(client, reader)) is not None:
            client.piece(reader.event(line))
            reader.sent()
        client.finish()
    except OSError:
        return False
    return True


def _whole(client: Client, reader: Reader, headers: Headers) -> bool:
    """Write the answers as one body, for a client that takes no stream; False when it went before that."""
    lines: list[bytes] = []
    try:
        while (line := _next(client, reader)) is not None:
            lines.append(line)
            reader.sent()
        body = lines[0] if len(lines) == 1 else b"[" + b",".join(lines) + b"]"
        client.say(200, body, (*headers, ("Content-Type", "application/json")))
    except OSError:
        return False
    return True


def _next(client: Client, reader: Reader) -> bytes | None:
    """Wait for the next line. Raises: ConnectionResetError when the client went."""
    while True:
        try:
            return reader.next(_POLL_S)
        except queue.Empty:
            if client.has_left():
                raise ConnectionResetError from None


def _needs_none(request: Request, message: Message | None) -> bool:
    """Whether it is of the era without sessions: by its header, or by what it says itself."""
    by_header = request.headers.get(_VERSION, "")
    return by_header >= _FIRST_WITHOUT or (message is not None and modern_version(message) is not None)


def _cancelled(message: Message | None) -> JsonValue:
    """Return the id of the request that a message gives up, None where it gives up none; it is passed on as it is."""
    gives_up = message is not None and message.method == "notifications/cancelled"
    params = message.params if message is not None and gives_up else None
    return params.get("requestId") if isinstance(params, dict) else None


def _give_up(session: DoorSession, channel: Channel, requests: list[Message]) -> None:
    """Say in words that requests are given up: in the era without sessions that is what a closed stream means.

    In the older one it means nothing: the stream may be taken up again.
    """
    for request in requests:
        params = request.params
        if request.id_key in channel.waits and isinstance(params, dict) and modern_version(request) is not None:
            told = {"requestId": request.id, "_meta": params["_meta"]}
            session.write(encode_message({"method": "notifications/cancelled", "params": told}))


def main(argv: list[str]) -> NoReturn:
    """Serve until standard input ends or a server does."""
    max_bytes, port, command = int(argv[1]), int(argv[2]), argv[3:]
    sessions = Sessions(command, max_bytes, _end)
    threading.Thread(target=listen, args=(port, Door(sessions, f"127.0.0.1:{port}").serve, _end), daemon=True).start()
    while os.read(0, 4096):
        pass
    code = sessions.end()
    os._exit(code if code >= 0 else 128 - code)


def _end(why: str, *, is_servers: bool = True) -> NoReturn:
    """End this process: what its clients would need to know cannot be said over HTTP."""
    note(why)
    os._exit(1 if is_servers else UNDECIDED_EXIT)


if __name__ == "__main__":
    main(sys.argv)
