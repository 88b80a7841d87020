"""A small MCP server over stdio whose manners are chosen by its first argument.

Every manner but the ones that cannot answers `initialize`, `tools/list` and `tools/call` (tool `echo`).
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

MANNER = sys.argv[1] if len(sys.argv) > 1 else "plain"
OUT = sys.stdout.buffer
AT_THE_END = []


def write(raw):
    OUT.write(raw)
    OUT.flush()


def encoded(message):
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def reply(identifier, result, end=b"\n"):
    write(encoded({"jsonrpc": "2.0", "id": identifier, "result": result}) + end)


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def listing(cursor):
    names = ["echo", *(f"tool{number}" for number in range(13))]
    if cursor == "8":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names[8:]]}
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names[:8]], "nextCursor": "8"}


def endless(cursor):
    return {"tools": [{"name": "same", "inputSchema": {"type": "object"}}], "nextCursor": "again"}


def call(identifier, params):  # noqa: PLR0915 - one branch per manner
    arguments = params.get("arguments") or {}
    if MANNER == "split":
        raw = encoded({"jsonrpc": "2.0", "id": identifier, "result": text("split")}) + b"\r\n"
        write(raw[:20])
        time.sleep(0.02)
        write(raw[20:])
    elif MANNER == "crlf":
        write(b"\r\n")
        reply(identifier, text("crlf"), end=b"\r\n")
    elif MANNER == "wrong_id":
        reply(identifier + 1000, text("not yours"))
    elif MANNER == "invalid_utf8":
        write(b'{"jsonrpc":"2.0","id":' + encoded(identifier) + b',"result":{"bad":"\xff\xfe"}}\n')
        reply(identifier, text("after"))
    elif MANNER == "separators":
        reply(identifier, text("left\u2028mid\u0085right\u2029"))
    elif MANNER == "numbers":
        inner = b'{"content":[],"structuredContent":{"id":1234567890123456789,"x":1.0,"y":1e2}}'
        write(b'{"jsonrpc":"2.0","id":' + encoded(identifier) + b',"result":' + inner + b"}\n")
    elif MANNER == "environment":
        reply(identifier, text("\n".join(sorted(os.environ))))
    elif MANNER == "elicits":
        write(encoded({"jsonrpc": "2.0", "id": identifier, "method": "elicitation/create", "params": {}}) + b"\n")
        reply(identifier, text("own result"))
    elif MANNER == "huge":
        size = int(arguments["size"])
        write(b'{"jsonrpc":"2.0","id":' + encoded(identifier) + b',"result":{"text":"')
        for _ in range(size // 1_000_000):
            write(b"x" * 1_000_000)
        write(b'"}}\n')
    elif MANNER == "endless_line":
        while True:
            write(b"x" * 65536)
    elif MANNER == "dies":
        sys.stderr.write("out of memory, more or less\n")
        sys.stderr.flush()
        os._exit(3)
    elif MANNER == "takes_sockets":
        for socket in Path("../s").iterdir():
            socket.unlink()
        reply(identifier, text(arguments.get("text", "")))
    elif MANNER == "endless_noise":
        while True:
            write(b"rubbish\n" * 100)
    elif MANNER == "answers_and_ends":
        reply(identifier, text(arguments.get("text", "")))
        os._exit(0)
    elif MANNER == "hangs":
        time.sleep(120)
    elif MANNER == "unterminated":
        write(b'{"jsonrpc":"2.0","id":' + encoded(identifier) + b',"result":{}}')
        os._exit(0)
    elif MANNER == "closes_stdout":
        os.close(1)
        time.sleep(120)
    elif MANNER == "twice":
        reply(identifier, text("status: pending review"))
        reply(identifier, text("status: pending review"))
    elif MANNER == "writes":
        descriptor = os.open(arguments["path"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(descriptor, arguments["text"].encode())
        os.close(descriptor)
        reply(identifier, text("written"))
    elif MANNER == "writes_late":
        reply(identifier, text("written"))
        AT_THE_END.append((arguments["path"], arguments["text"]))
    else:
        reply(identifier, text(arguments.get("text", "")))


def handle(line):
    message = json.loads(line)
    method, identifier = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize" and MANNER == "refuses":
        write(encoded({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32000, "message": "no licence"}}) + b"\n")
    elif method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        reply(identifier, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "peer"}})
    elif method == "tools/list" and MANNER == "lists_nothing":
        write(encoded({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32000, "message": "no quota"}}) + b"\n")
    elif method == "tools/list":
        reply(identifier, endless(params.get("cursor")) if MANNER == "endless_pages" else listing(params.get("cursor")))
    elif method == "tools/call":
        call(identifier, params)


def main():
    if MANNER == "exits":
        sys.stderr.write("API_KEY is required\n")
        sys.exit(1)
    if MANNER == "silent":
        time.sleep(120)
    if MANNER == "banner":
        write(b"Fake server version: 1.2.3\n")
    if MANNER == "deaf":
        os.close(0)
        time.sleep(120)
    if MANNER == "chatty_stderr":
        sys.stderr.write("e" * 1_000_000)
        sys.stderr.flush()
    if MANNER == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        if line.strip():
            handle(line)
    for path, content in AT_THE_END:
        Path(path).write_text(content)
    if MANNER == "stubborn":
        time.sleep(120)


main()
