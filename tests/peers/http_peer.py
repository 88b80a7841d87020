"""An MCP server over Streamable HTTP for tests: any server over standard streams, with one process for each session.

python http_peer.py PORT STYLE COMMAND ...

Styles: `json` and `pretty` answer with JSON (in one line, in many), `sse` with a stream whose bytes come three at a
time; the others misbehave once a tool is called: `forgets` loses the session, `cuts` ends a stream before the answer
and has it for who takes it up again, `breaks` ends it for good, `moved` redirects, `fails` answers 500 in words,
`endless` never stops sending, `silent` sends nothing. With HTTP_PEER_LOG every request is written there, a line each.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STYLE, COMMAND = sys.argv[2], sys.argv[3:]
MODERN = "2026-07-28"
kept: dict[str, bytes] = {}
forgotten: set[str] = set()


class Backend:
    """One process behind the address; what it says goes to who asked, or to the session's own stream."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waiting: dict[str, queue.Queue[bytes]] = {}
        self.own: queue.Queue[bytes] = queue.Queue()
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def write(self, body: bytes) -> None:
        with self.lock:
            assert self.process.stdin is not None
            self.process.stdin.write(body.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
            self.process.stdin.flush()

    def ask(self, body: bytes, identifier: object) -> bytes:
        answer = self.waiting[json.dumps(identifier)] = queue.Queue()
        self.write(body)
        return answer.get(timeout=60)

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.startswith(b"{"):
                continue  # noise of the process, which has no place on this wire
            message = json.loads(line)
            asked = None if "method" in message else self.waiting.pop(json.dumps(message.get("id")), None)
            (asked or self.own).put(line.rstrip(b"\n"))

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(5)


sessions: dict[str, Backend] = {}
modern: list[Backend] = []
making = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def log_request_raw(self, body: bytes) -> None:
        place = os.environ.get("HTTP_PEER_LOG")
        if place:
            headers = [[name, value] for name, value in self.headers.items()]
            entry = {"method": self.command, "path": self.path, "headers": headers}
            with Path(place).open("a", encoding="utf-8") as log:
                log.write(json.dumps({**entry, "body": base64.b64encode(body).decode()}) + "\n")

    def reply(self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, **headers: str) -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def piece(self, data: bytes, step: int = 0) -> None:
        if len(data) > 100_000:
            step = 0
        for start in range(0, len(data), step or len(data) or 1):
            part = data[start : start + (step or len(data))]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()

    def finish_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.log_request_raw(body)
        message = json.loads(body)
        session = self.headers.get("Mcp-Session-Id")
        extra: dict[str, str] = {}
        if self.headers.get("MCP-Protocol-Version") == MODERN:
            name = message.get("params", {}).get("name")
            told = (self.headers.get("Mcp-Method"), self.headers.get("Mcp-Name"))
            if told != (message["method"], name if message["method"] == "tools/call" else None):
                error = {"code": -32020, "message": f"the headers say {told}"}
                self.reply(400, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}).encode())
                return
            with making:
                if not modern:
                    modern.append(Backend())
            backend = modern[0]
        elif message.get("method") == "initialize":
            session = extra["Mcp_Session_Id"] = uuid.uuid4().hex
            backend = sessions[session] = Backend()
        elif session is None:
            self.reply(400, b"no session")
            return
        elif session in forgotten or session not in sessions:
            self.reply(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}')
            return
        else:
            backend = sessions[session]
        if "id" not in message or "method" not in message:
            backend.write(body)
            self.reply(202, **extra)
            return
        self.answer(message, body, backend, session or "", extra)

    def answer(self, message: Any, body: bytes, backend: Backend, session: str, extra: dict[str, str]) -> None:
        style = STYLE if message["method"] == "tools/call" or STYLE in ("json", "pretty", "sse") else "json"
        if style == "moved":
            self.reply(307, b"moved", "text/plain", Location="/elsewhere")
            return
        if style == "fails":
            self.reply(500, b"out of order", "text/plain")
            return
        if style == "silent":
            time.sleep(60)
        if style == "endless":
            self.stream()
            while True:
                self.piece(b"data: " + b"x" * 65536)
        answer = backend.ask(body, message["id"])
        if style == "forgets":
            forgotten.add(session)
        if style == "pretty":
            answer = json.dumps(json.loads(answer), indent=2, ensure_ascii=False).replace("\n", "\r\n").encode()
        if style in ("json", "pretty", "forgets"):
            self.reply(200, answer, "application/json; charset=utf-8", **extra)
            return
        self.stream(**extra)
        self.piece(b": a comment\r\nid: 1-0\r\nretry: 20\r\ndata:\r\n\r\n", 3)
        if style == "cuts":
            kept["1-0"] = answer
        elif style != "breaks":
            while not backend.own.empty():
                self.piece(b"event: message\ndata: " + backend.own.get() + b"\n\n", 3)
            self.piece(b"event: message\nid: 1-1\ndata: " + answer + b"\n\n", 3)
        self.finish_stream()

    def do_GET(self) -> None:
        self.log_request_raw(b"")
        session = self.headers.get("Mcp-Session-Id", "")
        last = self.headers.get("Last-Event-ID")
        if last in kept:
            self.stream()
            self.piece(b"id: 1-1\ndata: " + kept.pop(last) + b"\n\n")
            self.finish_stream()
            return
        if STYLE != "sse" or session not in sessions:
            self.reply(405, Allow="POST, DELETE")
            return
        self.stream()
        while session in sessions:
            try:
                self.piece(b"data: " + sessions[session].own.get(timeout=0.05) + b"\n\n", 3)
            except queue.Empty:
                continue
        self.finish_stream()

    def do_DELETE(self) -> None:
        self.log_request_raw(b"")
        session = self.headers.get("Mcp-Session-Id", "")
        backend = sessions.pop(session, None)
        self.reply(200 if backend else 404)
        if backend:
            backend.end()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
