"""A server over standard streams, as a server over HTTP: one process for one session.

Owns the address, the processes behind it and their end. Which message goes where is in `oyer.programs.door_session`.
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
import select
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NoReturn

from oyer.programs.door_session import Channel, DoorSession, Sessions
from oyer.programs.wire import note, requests_in
from oyer.protocol import SESSION_HEADER, Message, encode_message, modern_version, parse_message

__all__ = ["main"]

_POLL_S: Final = 0.05
_STREAM: Final = "text/event-stream"


class _Door(ThreadingHTTPServer):
    """What listens; each request has a thread."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, max_bytes: int, sessions: Sessions) -> None:
        self.max_bytes = max_bytes
        self.sessions = sessions
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes is none; whatever else fails here is ours, and must not pass for silence."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            _end(f"the door failed: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Door

    def log_message(self, *_: Any) -> None:
        """Say nothing: standard error is for what goes wrong."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        sessions = self.server.sessions
        if path == "/messages":
            session = sessions.find(query)
            if session is None:
                self._say(404, b"there is no such session")
                return
            session.write(body)
            self._say(202, b"Accepted")
        elif path != "/mcp":
            self._say(405 if path == "/sse" else 404)
        else:
            self._post(body)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/sse":
            self._older_stream()
            return
        session = self.server.sessions.find(self.headers.get(SESSION_HEADER) or "")
        if path != "/mcp" or session is None:
            self._say(404 if path != "/mcp" or SESSION_HEADER in self.headers else 405)
            return
        channel = session.resume(self.headers.get("Last-Event-ID"))
        if channel is None:
            self._say(409, b"there is such a stream already")
            return
        self._stream(channel, {})
        if channel is session.own:
            channel.is_listened = False

    def do_DELETE(self) -> None:
        session = self.server.sessions.take(self.headers.get(SESSION_HEADER) or "")
        self._say(404 if session is None else 200)
        if session is not None:
            session.end()

    def _post(self, body: bytes) -> None:
        read = parse_message(body)
        message = read if isinstance(read, Message) else None
        requests = requests_in(message)
        named, sessions = self.headers.get(SESSION_HEADER), self.server.sessions
        headers: dict[str, str] = {}
        session: DoorSession | None
        channel: Channel | None = None
        if named is not None:
            session = sessions.find(named)
        elif message is not None and message.method == "initialize":
            headers[SESSION_HEADER], session = sessions.open()
        else:
            session, channel = sessions.without(requests)
        if session is None:
            self._say(404, b"there is no such session")
        elif not requests:
            session.write(body)
            self._say(202)
        else:
            channel = channel or session.ask(requests)
            session.write(body)
            accepted = self.headers.get("Accept") or _STREAM
            carry = self._stream if _STREAM in accepted or "*/*" in accepted else self._body
            if not carry(channel, headers):
                _give_up(session, channel, requests)

    def _older_stream(self) -> None:
        name, session = self.server.sessions.open()
        self._stream(session.own, {}, b"event: endpoint\ndata: /messages?%s\n\n" % name.encode())
        self.server.sessions.take(name)
        session.end()

    # -- what is written -----------------------------------------------------------------------------------

    def _say(self, status: int, body: bytes = b"", kind: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status == 405:
            self.send_header("Allow", "GET" if self.path.startswith("/sse") else "POST, DELETE")
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, channel: Channel, headers: dict[str, str], first: bytes = b"") -> bool:
        """Write what comes on a channel until it ends; False when the client went before that."""
        try:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", _STREAM)
            self.send_header("Cache-Control", "no-store")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if first:
                self._chunk(first)
            while (line := self._next(channel)) is not None:
                self._chunk(channel.event(line))
                channel.sent()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            return False
        return True

    def _body(self, channel: Channel, headers: dict[str, str]) -> bool:
        """Write the answers as one body, for a client that takes no stream; False when it went before that."""
        lines: list[bytes] = []
        try:
            while (line := self._next(channel)) is not None:
                lines.append(line)
                channel.sent()
            body = lines[0] if len(lines) == 1 else b"[" + b",".join(lines) + b"]"
            self._say(200, body, "application/json", **headers)
        except OSError:
            self.close_connection = True
            return False
        return True

    def _next(self, channel: Channel) -> bytes | None:
        """Wait for the next line. Raises: ConnectionResetError when the client went."""
        while True:
            try:
                return channel.next(_POLL_S)
            except queue.Empty:
                if self._client_left():
                    raise ConnectionResetError from None

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")

    def _client_left(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True


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
    door = _Door(port, max_bytes, sessions)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    while os.read(0, 4096):
        pass
    code = sessions.end()
    os._exit(code if code >= 0 else 128 - code)


def _end(why: str) -> NoReturn:
    """End this process: what its clients would need to know cannot be said over HTTP."""
    note(why)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv)
