"""An MCP server over HTTP with SSE as of 2024-11-05 for tests: any server over standard streams, one for each stream.

python sse_peer.py PORT STYLE COMMAND ...

Styles: `plain` names a relative address, `absolute` a whole one, `pieces` sends three bytes at a time with comments,
ids and CRLF, `holds` answers a POST only when what was asked is answered. The others misbehave: `elsewhere` names an
address of another origin, `never` ends its stream before it names one, and once a tool is called `ends` ends its
stream, `refuses` answers 500 in words, `silent` sends nothing. With HTTP_PEER_LOG every request is written there.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PORT, STYLE, COMMAND = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
END = b"\r\n" if STYLE == "pieces" else b"\n"


class Stream:
    """One process behind one stream."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.answered: dict[str, threading.Event] = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def write(self, body: bytes) -> None:
        with self.lock:
            assert self.process.stdin is not None
            self.process.stdin.write(body.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
            self.process.stdin.flush()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith((b"{", b"[")):  # noise of the process has no place on this wire
                self.lines.put(line.rstrip(b"\n"))
        self.lines.put(None)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(5)


streams: dict[str, Stream] = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def log_request_raw(self, body: bytes) -> None:
        place = os.environ.get("HTTP_PEER_LOG")
        if place:
            entry = {"method": self.command, "path": self.path, "headers": list(self.headers.items())}
            with Path(place).open("a", encoding="utf-8") as log:
                log.write(json.dumps({**entry, "body": base64.b64encode(body).decode()}) + "\n")

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def piece(self, data: bytes) -> None:
        step = 3 if STYLE == "pieces" and len(data) < 100_000 else len(data)
        for start in range(0, len(data), step or 1):
            self.wfile.write(data[start : start + step])
            self.wfile.flush()

    def do_GET(self) -> None:
        self.log_request_raw(b"")
        if self.path != "/sse":
            self.reply(404, b"not here")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if STYLE == "never":
            return
        session = uuid.uuid4().hex
        stream = streams[session] = Stream()
        origin = {"absolute": f"http://127.0.0.1:{PORT}", "elsewhere": "http://127.0.0.1:9"}.get(STYLE, "")
        try:
            if STYLE == "pieces":
                self.piece(b": welcome\r\n\r\n")
            self.piece(b"event: endpoint%sdata: %s/messages?session_id=%s%s%s" % (
                END, origin.encode(), session.encode(), END, END,
            ))  # fmt: skip
            number = 0
            while (line := stream.lines.get()) is not None:
                number += 1
                if STYLE == "pieces":
                    self.piece(b": \xc3\xa9\r\nid: %d\r\n" % number)
                self.piece(b"event: message%sdata: %s%s%s" % (END, line, END, END))
                message = json.loads(line)
                if isinstance(message, dict) and "method" not in message:
                    stream.answered.setdefault(json.dumps(message.get("id")), threading.Event()).set()
        except OSError:
            pass  # the client went
        finally:
            del streams[session]
            stream.end()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.log_request_raw(body)
        path, _, query = self.path.partition("?")
        if path == "/sse":
            self.reply(405, b"Method Not Allowed", Allow="GET")
            return
        stream = streams.get(query.removeprefix("session_id="))
        if path != "/messages" or stream is None:
            self.reply(404, b"no such session")
            return
        called = b'"tools/call"' in body
        if called and STYLE == "refuses":
            self.reply(500, b"out of order")
            return
        if called and STYLE == "ends":
            stream.lines.put(None)
        elif not (called and STYLE == "silent"):
            stream.write(body)
        message = json.loads(body)
        if STYLE == "holds" and isinstance(message, dict) and "id" in message and "method" in message:
            stream.answered.setdefault(json.dumps(message["id"]), threading.Event()).wait(30)
        self.reply(202, b"Accepted")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", PORT), Handler).serve_forever()
