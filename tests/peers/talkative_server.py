"""An MCP server over stdio that talks: it asks, tells of progress, sends news and hears of cancellations.

python talkative_server.py LOG

Every line that reaches it is written to LOG. Tools: `progress` tells of three steps, `ask` asks the client for a
message and returns the answer, `wait` never answers until it is cancelled, which it then says, `talk` logs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
VERSION = "io.modelcontextprotocol/protocolVersion"
LOG = Path(sys.argv[1])
asking: list[Any] = []
waiting: list[Any] = []


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def result(identifier: Any, text: str) -> dict[str, Any]:
    answer = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": identifier, "result": answer}


def notify(method: str, params: dict[str, Any]) -> None:
    say({"jsonrpc": "2.0", "method": method, "params": params})


def call(identifier: Any, params: dict[str, Any]) -> dict[str, Any] | None:
    name = params["name"]
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for step in range(3):
            notify("notifications/progress", {"progressToken": token, "progress": step})
    elif name == "ask":
        asking.append(identifier)
        say({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {"messages": []}})
        return None
    elif name == "wait":
        waiting.append(identifier)
        return None
    elif name == "talk":
        notify("notifications/message", {"level": "info", "data": "talking"})
    return result(identifier, name)


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    method, identifier, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        return result(asking.pop(), json.dumps(message.get("result")))
    if method == "initialize":
        info = {"name": "talkative", "version": "1"}
        granted = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        return {"jsonrpc": "2.0", "id": identifier, "result": granted}
    if method == "ping":
        return {"jsonrpc": "2.0", "id": identifier, "result": {}}
    if method == "tools/call":
        return call(identifier, params)
    if method == "notifications/cancelled" and params["requestId"] in waiting:
        waiting.remove(params["requestId"])
        if VERSION not in params.get("_meta", {}):
            notify("notifications/message", {"level": "info", "data": f"cancelled {params['requestId']}"})
    if method == "subscriptions/listen":
        meta = {"_meta": {SUBSCRIPTION: identifier}}
        waiting.append(identifier)
        notify("notifications/subscriptions/acknowledged", {**meta, "notifications": {}})
        notify("notifications/tools/list_changed", meta)
    return None


for line in sys.stdin.buffer:
    with LOG.open("ab") as log:
        log.write(line)
    read = json.loads(line)
    if isinstance(read, list):
        say([said for each in read if (said := answer(each)) is not None])
    elif (said := answer(read)) is not None:
        say(said)
