"""What a tap writes into its journal about one connection.

Owns the bodies of the events. Must never decide anything: it is told what happened and writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oyer.host import Child, TreeEnd
from oyer.instruments.ports import Recorder
from oyer.protocol import Answer, Cancel, JsonValue, Notification, Request, Seen

__all__ = ["ConnectionRecord"]

_MAX_SAFE_INT = 2**53 - 1
_MAX_TEXT = 1000
_MESSAGES = (Request, Answer, Notification, Cancel)


class ConnectionRecord:
    """Writes the events of one connection; each is stamped with the session that runs when it happens."""

    __slots__ = ("_connection", "_recorder", "_server", "_session")

    def __init__(self, recorder: Recorder, server: str, connection: int, session: Callable[[], str | None]) -> None:
        self._recorder = recorder
        self._server = server
        self._connection = connection
        self._session = session

    @property
    def session(self) -> str | None:
        """The session that runs now."""
        return self._session()

    @property
    def where(self) -> str:
        """How faults name this place."""
        return f"tap:{self._server}"

    def event(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        """Record one event; those about messages and connections name server and connection."""
        if kind[0] in "mc":  # mcp.* and connection.*
            body = {"server": self._server, "connection": self._connection, **body}
        return self._recorder.record(
            kind, body, payloads=payloads or {}, session=self._session(), because=because, sync=sync
        )

    def digest(self, data: bytes) -> str:
        """Return the digest under which these bytes are kept as a payload."""
        return self._recorder.kept(data)[0]

    def sent(self, frame: bytes, seen: tuple[Seen, ...]) -> str:
        """A frame of the subject, as it was received."""
        body = _identity(seen)
        if len(seen) == 1 and isinstance(seen[0], Request) and _is_plain_text(seen[0].tool):
            body["tool"] = seen[0].tool
        return self.event("mcp.sent", body, payloads={"payload": frame})

    def received(self, frame: bytes, seen: tuple[Seen, ...], calls: Sequence[str], *, sync: bool) -> str:
        """A frame of the server, as it was received: the original, on disk before it may be changed."""
        return self.event("mcp.received", _identity(seen), payloads={"payload": frame}, because=calls, sync=sync)

    def noise(self, side: str, frame: bytes, *, truncated: bool = False) -> str:
        """A line that is no message."""
        body: dict[str, Any] = {"side": side}
        if truncated:
            body["truncated"] = True
        return self.event("mcp.noise", body, payloads={"payload": frame})

    def delivered(self, of: str, direction: str, data: bytes) -> None:
        """The last byte of a frame was handed over."""
        sha256, size = self._recorder.kept(data)
        body = {"of": of, "direction": direction, "sha256": sha256, "size": size}
        self.event("mcp.delivered", body, because=(of,))

    def refused(self, policy: str, of: str, call: bytes, refusal: bytes) -> None:
        """A call was refused by the declared policy; on disk before the refusal leaves."""
        body = {"policy": policy, "did": "refused", "of": of, "original": self.digest(call), "modified": None}
        self.event("mcp.policy", body, payloads={"delivered": refusal}, because=(of,), sync=True)

    def exited(self, role: str, child: Child, end: TreeEnd, stderr: bytes) -> None:
        """A process ended, with what outlived it."""
        self.event(
            "process.exited",
            {
                "role": role,
                "pid": child.pid,
                "code": end.exit.code if end.exit else None,
                "signal": end.exit.signal if end.exit else None,
                "survivors": [{"pid": one.pid, "name": one.name} for one in end.survivors],
            },
            payloads={"stderr": stderr},
        )


def _identity(seen: tuple[Seen, ...]) -> dict[str, Any]:
    """Return id and method of a frame that holds one message; a batch has neither."""
    if len(seen) != 1 or not isinstance(seen[0], _MESSAGES):
        return {}
    message = seen[0].message
    body: dict[str, Any] = {}
    if message.has_id and _is_plain_id(message.id):
        body["id"] = message.id
    if _is_plain_text(message.method):
        body["method"] = message.method
    return body


def _is_plain_id(value: JsonValue) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= _MAX_SAFE_INT
    return value is None or _is_plain_text(value)


def _is_plain_text(value: JsonValue) -> bool:
    """Say whether a text of foreign origin may stand in a body; if not it is only in the payload."""
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return False
    return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)
