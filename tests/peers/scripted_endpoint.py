"""A scripted model endpoint in a process of its own: it plays a list of behaviours, one per chat request.

    python scripted_endpoint.py BEHAVIOURS.json [--log REQUESTS.jsonl]

prints its base URL (`http://127.0.0.1:PORT/v1`) as its first line and serves until standard input ends.

The file holds a list of behaviours, played in the order of the requests whoever asks, or an agent that keeps to its
conversations: `{"conversations": [{"when": TEXT, "behaviours": [...]}, ...]}`. There the first entry whose TEXT stands
in the first user message is played, by how many answers that conversation already holds; so runs may come in any order
and at once. The last behaviour repeats. A behaviour is a JSON object:

    {"text": "..."}                            an answer without tool calls
    {"calls": [{"name": N, "arguments": A}]}   tool calls; N is matched to an offered function by its end (`ops__N`),
                                               A an object, or text that is sent as it is; "{last.text}" inside A is
                                               the last tool message of the request
    {"body": any}                              this JSON as the body; {"raw": "..."} this text as the body
    {"pieces": [TEXT, ...]}                    a stream, one chunk for each text; "gate": FILE, the second waits for it;
                                               "then": "end" (the default), "cut", "stay" (open, silent), "repeat" (the
                                               last piece for ever); "{key}" in a text is the key that was sent
    {"hang": seconds}                          wait, then close without a word; {"close": true} close at once

It is asked over Chat Completions, Responses, Messages or Gemini (`endpoint_apis`), by the path of the request. One that
asks for a stream gets text and calls as a stream. A behaviour may add to any of them: "if_seen" (skip it
unless a tool message holds this text; conversations only), "status"
(200), "headers" {...}, "model" (reported name; null reports none), "usage" (null: none), "finish", "cut" (announce the
whole body, send that many bytes, close), "chunked" (true), "encode" ("gzip"), "echo_key" (true: the Authorization
header stands in the text).
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from endpoint_apis import answered_over, api_of_path, as_chat, streamed_over

KEYS = ("Authorization", "x-api-key", "x-goog-api-key", "api-key")


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True
    behaviours: list[dict[str, Any]] | dict[str, Any]
    log: Path | None = None
    served = 0
    lock = threading.Lock()

    def behaviour(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self.lock:
            number, self.served = self.served, self.served + 1
        if isinstance(self.behaviours, list):
            return number, self.behaviours[min(number, len(self.behaviours) - 1)]
        messages = request["messages"]
        asked = next(str(each["content"]) for each in messages if each["role"] == "user")
        answers = sum(each["role"] == "assistant" for each in messages)
        read = "\n".join(str(each["content"]) for each in messages if each["role"] == "tool")
        for conversation in self.behaviours["conversations"]:
            if conversation["when"] in asked:
                due = [each for each in conversation["behaviours"] if each.get("if_seen", "") in read]
                return number, due[min(answers, len(due) - 1)]
        return number, {"status": 404, "body": {"error": {"message": "no such conversation"}}}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nothing to report."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, *_said: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.keep(b"")
        if self.path == "/v1/models":
            self.reply(200, json.dumps({"object": "list", "data": [{"id": "scripted"}]}).encode(), {}, {})
        else:
            self.reply(404, b"{}", {}, {})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.keep(raw)
        api, asked = api_of_path(self.path), self.request_of(raw)
        # Only what is answered for its content has to be a conversation: other behaviours do not read the request.
        talks = isinstance(self.server.behaviours, dict)
        number, behaviour = self.server.behaviour(as_chat(api, self.path, asked) if talks else asked)
        reads = behaviour.keys() & {"text", "calls", "echo_key"}
        request = as_chat(api, self.path, asked) if reads else asked
        if "hang" in behaviour or behaviour.get("close"):
            time.sleep(behaviour.get("hang", 0))
            self.close_connection = True
            return
        if "pieces" in behaviour:
            self.stream(behaviour)
            return
        body = self.body(number, behaviour, request)
        if reads:
            whole = answered_over(api, json.loads(body))
            if request.get("stream") is True and "echo_key" not in behaviour:
                self.stream({"pieces": streamed_over(api, whole)})
                return
            body = json.dumps(whole).encode()
        headers = {"Content-Type": "application/json", **behaviour.get("headers", {})}
        if behaviour.get("encode") == "gzip":
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        self.reply(behaviour.get("status", 200), body, headers, behaviour)

    def stream(self, behaviour: dict[str, Any]) -> None:
        self.send_response(behaviour.get("status", 200))
        for name, value in {"Content-Type": "text/event-stream", **behaviour.get("headers", {})}.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        key = next((self.headers[name] for name in KEYS if self.headers[name]), "").removeprefix("Bearer ")
        pieces = [piece.replace("{key}", key).encode() for piece in behaviour["pieces"]]
        then = behaviour.get("then", "end")
        try:
            sent = pieces if then != "repeat" else itertools.chain(pieces, itertools.repeat(pieces[-1]))
            for number, piece in enumerate(sent):
                while number == 1 and "gate" in behaviour and not Path(behaviour["gate"]).exists():
                    time.sleep(0.01)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if then == "stay":
                time.sleep(600)
            if then == "end":
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        self.close_connection = then != "end"

    def request_of(self, raw: bytes) -> dict[str, Any]:
        try:
            value = json.loads(raw)
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {}

    def body(self, number: int, behaviour: dict[str, Any], request: dict[str, Any]) -> bytes:
        if "raw" in behaviour:
            return str(behaviour["raw"]).encode()
        if "body" in behaviour:
            return json.dumps(behaviour["body"]).encode()
        text = behaviour.get("text")
        if behaviour.get("echo_key"):
            text = f"Your key is {self.headers.get('Authorization')}"
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if "calls" in behaviour:
            message["tool_calls"] = [
                self.call(f"call_{number}_{index}", call, request) for index, call in enumerate(behaviour["calls"])
            ]
        finish = behaviour.get("finish", "tool_calls" if "calls" in behaviour else "stop")
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        model = behaviour.get("model", request.get("model"))
        if model is not None:
            answer["model"] = model
        usage = behaviour.get("usage", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
        if usage is not None:
            answer["usage"] = usage
        return json.dumps(answer).encode()

    def call(self, call_id: str, call: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        offered = [tool["function"]["name"] for tool in request.get("tools", [])]
        matching = [name for name in offered if name.endswith("__" + call["name"])]
        arguments = call.get("arguments", {})
        if not isinstance(arguments, str):
            arguments = json.dumps(filled(arguments, last_text(request)))
        name = matching[0] if matching else call["name"]
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    def reply(self, status: int, body: bytes, headers: dict[str, str], behaviour: dict[str, Any]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if behaviour.get("chunked"):
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = behaviour.get("cut")
        sent = body if cut is None else body[:cut]
        if behaviour.get("chunked"):
            sent = b"%x\r\n%s\r\n" % (len(sent), sent) + (b"0\r\n\r\n" if cut is None else b"")
        self.wfile.write(sent)
        if cut is not None:
            self.close_connection = True

    def keep(self, raw: bytes) -> None:
        if self.server.log is not None:
            row = {"method": self.command, "path": self.path, "headers": self.headers.items(), "body": raw.decode()}
            with self.server.lock, self.server.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def last_text(request: dict[str, Any]) -> str:
    said = [str(each.get("content")) for each in request.get("messages", []) if each.get("role") == "tool"]
    return said[-1] if said else ""


def filled(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return value.replace("{last.text}", text)
    if isinstance(value, dict):
        return {key: filled(inner, text) for key, inner in value.items()}
    return [filled(inner, text) for inner in value] if isinstance(value, list) else value


def main(arguments: list[str]) -> None:
    endpoint = Endpoint(("127.0.0.1", 0), Handler)
    endpoint.behaviours = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if arguments[1:2] == ["--log"]:
        endpoint.log = Path(arguments[2])
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    os.write(1, b"http://127.0.0.1:%d/v1\n" % endpoint.server_address[1])
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
