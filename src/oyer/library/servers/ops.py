"""A small operations desk over MCP: an inbox, one memo, and actions that another service carries out.

Owns four tools over the directory OPS_HOME (`inbox.json` or `inbox.txt`, `memo.txt`). An action is a POST of
`{"action", "requested_at"}` to OPS_SINK with the bearer token OPS_TOKEN, and the answer says what came of it: done only
after a 2xx. OPS_TICKET, where given, stands for `{ticket}` in the inbox. OPS_ACTIONS names other actions, by commas.

Must never decide who may ask for what, say that something was done (or not done) without knowing it, or touch any other
file than these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from oyer.library.servers._loop import Answer, TextTool, serve
from oyer.library.servers._place import Place, PlaceError

__all__ = ["Desk", "desk_from", "main", "tools"]

ACTIONS = "rotate_credentials,restart_gateway,extend_certificate,clear_queue"
MEMO = "memo.txt"
TIMEOUT_S = 20

_MESSAGE_FIELDS = ("from", "subject", "text")
# The structured copy is the text itself, so that a label put before the one can stand before the other as well: some
# clients show their model only the structured copy.
_INBOX_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"inbox": {"type": "string"}},
    "required": ["inbox"],
    "additionalProperties": False,
}


class Desk(NamedTuple):
    """Where a desk keeps its files and who carries out its actions."""

    home: Place
    url: str
    token: str
    ticket: str
    actions: tuple[str, ...]


def desk_from(environment: Mapping[str, str]) -> Desk:
    """Set up a desk from its environment. Raises: OSError when OPS_HOME is no directory."""
    named = environment.get("OPS_ACTIONS", ACTIONS).split(",")
    return Desk(
        home=Place(environment.get("OPS_HOME", "ops")),
        url=environment.get("OPS_SINK", ""),
        token=environment.get("OPS_TOKEN", ""),
        ticket=environment.get("OPS_TICKET", ""),
        actions=tuple(name.strip() for name in named if name.strip()),
    )


def tools(desk: Desk) -> tuple[TextTool, ...]:
    """Return the tools of one desk."""
    action = {"action": "One of: " + ", ".join(desk.actions)}
    memo = {"text": "The whole new memo"}

    def write(given: Mapping[str, str]) -> Answer:
        return write_memo(desk, given["text"])

    def act(given: Mapping[str, str]) -> Answer:
        return run_action(desk, given["action"])

    return (
        TextTool(
            "read_inbox",
            "Read the messages in the inbox.",
            lambda _: read_inbox(desk),
            output_schema=_INBOX_SCHEMA,
        ),
        TextTool("write_memo", "Write the memo, in place of the old one.", write, memo),
        TextTool("read_memo", "Read the memo.", lambda _: read_memo(desk)),
        TextTool("run_action", "Have one of the desk's actions carried out.", act, action),
    )


def read_inbox(desk: Desk) -> Answer:
    """Answer with every message: as a text block, and the same text as structured content."""
    names = [name for _, name in desk.home.listing()]
    if "inbox.json" in names:
        messages = _messages(desk.home.read_text("inbox.json"))
    elif "inbox.txt" in names:
        messages = [{"from": "desk", "subject": "Inbox", "text": desk.home.read_text("inbox.txt").rstrip("\n")}]
    else:
        messages = []
    messages = [{key: text.replace("{ticket}", desk.ticket) for key, text in message.items()} for message in messages]
    parts = [f"From: {each['from']}\nSubject: {each['subject']}\n\n{each['text']}" for each in messages]
    text = "\n\n----\n\n".join(parts) if parts else "The inbox is empty."
    return Answer(text, {"inbox": text})


def _messages(text: str) -> list[dict[str, str]]:
    try:
        found = json.loads(text)["messages"]
        return [{field: str(message[field]) for field in _MESSAGE_FIELDS} for message in found]
    except (ValueError, KeyError, TypeError):
        raise PlaceError("the inbox cannot be read: inbox.json is malformed") from None


def write_memo(desk: Desk, text: str) -> Answer:
    """Replace the memo."""
    desk.home.write_text(MEMO, text)
    return Answer("The memo is written.")


def read_memo(desk: Desk) -> Answer:
    """Answer with the memo exactly as it was written; empty where there is none yet."""
    if MEMO not in [name for _, name in desk.home.listing()]:
        return Answer("")
    return Answer(desk.home.read_text(MEMO))


def run_action(desk: Desk, action: str) -> Answer:
    """Have an action carried out and say honestly what came of it."""
    if action not in desk.actions:
        return Answer(f"failed: there is no action {action}", is_error=True)
    if not desk.url:
        return Answer(f"failed: {action} was not carried out, no service is set up for it", is_error=True)
    try:
        status = _post(desk, action)
    except _Unreachable:
        return Answer(f"failed: {action} was not carried out, the service is unreachable", is_error=True)
    except (OSError, ValueError):
        return Answer(f"failed: no proper answer about {action}; it is not known what happened", is_error=True)
    if 200 <= status < 300:
        return Answer(f"ok: {action} was carried out")
    return Answer(f"failed: the service answered {status} to {action}", is_error=True)


class _Unreachable(Exception):
    """Nothing was sent. Neither this nor any answer names the address: the caller has no use for it."""


def _post(desk: Desk, action: str) -> int:
    # Loaded at the first action only: it costs more than all the rest of the start.
    import http.client
    import time
    from urllib.parse import urlsplit

    where = urlsplit(desk.url)
    kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
    connection = kind(where.hostname or "", where.port, timeout=TIMEOUT_S)
    requested_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    body = json.dumps({"action": action, "requested_at": requested_at}).encode()
    headers = {"Authorization": f"Bearer {desk.token}", "Content-Type": "application/json"}
    try:
        try:
            connection.connect()
        except OSError as error:
            raise _Unreachable from error
        connection.request("POST", (where.path or "/") + (f"?{where.query}" if where.query else ""), body, headers)
        answer = connection.getresponse()
        answer.read()
    except http.client.HTTPException as error:
        raise ValueError(str(error)) from error
    finally:
        connection.close()
    return answer.status


def main() -> None:
    """Serve one desk until the input ends."""
    serve("ops", tools(desk_from(os.environ)), refusal=PlaceError)


if __name__ == "__main__":
    main()
