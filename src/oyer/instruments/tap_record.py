"""What a tap writes into its journal about one connection.

Owns the bodies of the events, and the moment of each: a frame is stamped on receipt and again after its last byte
was delivered, and both are written down then or right afterwards, in that order. Must never decide anything: it is
told what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from oyer.errors import HarnessError, OyerError
from oyer.host import Child, TreeEnd
from oyer.instruments.ports import DeferringRecorder, OnFault
from oyer.instruments.tap_blame import NOT_EXCLUDED, SERVERS
from oyer.protocol import Answer, Cancel, JsonValue, Notification, Request, Seen

__all__ = ["ConnectionRecord", "Crossing"]

_MAX_SAFE_INT = 2**53 - 1
_MAX_TEXT = 1000
_MESSAGES = (Request, Answer, Notification, Cancel)


class Crossing:
    """One frame on its way, from receipt to delivery.

    `seen` is what it was understood as: None before that, empty for what is no message; `answers` are the requests it
    may answer. `ref` is the event it is recorded as, "" until then; what is large is let go when it is. `done_ns`:
    when the exchange that carried it over HTTP was over, after which its ids may be used again, answered or not.
    """

    __slots__ = (
        "answers",
        "done_ns",
        "frame",
        "from_subject",
        "is_whole",
        "ref",
        "seen",
        "session",
        "sha256",
        "size",
        "stamp",
    )

    def __init__(
        self, frame: bytes, is_whole: bool, from_subject: bool, stamp: tuple[int, str], session: str | None
    ) -> None:
        self.frame = frame
        self.done_ns: int | None = None
        self.is_whole = is_whole
        self.from_subject = from_subject
        self.stamp = stamp
        self.session = session
        self.seen: tuple[Seen, ...] | None = None
        self.answers: tuple[Crossing, ...] = ()
        self.ref = ""
        self.sha256 = ""
        self.size = 0


class ConnectionRecord:
    """Writes the events of one connection; each carries the session that runs when it happens."""

    __slots__ = ("_connection", "_on_owed", "_recorder", "_server", "_session")

    def __init__(
        self,
        recorder: DeferringRecorder,
        server: str,
        connection: int,
        session: Callable[[], str | None],
        on_owed: Callable[[int], None],
    ) -> None:
        self._recorder = recorder
        self._server = server
        self._connection = connection
        self._session = session
        self._on_owed = on_owed

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

    def fault(self, cls: str, message: str, on_fault: OnFault) -> None:
        """Record a fault of one side or of ours, then tell who listens; what cannot be recorded is told with that."""
        message = message.encode("utf-8", "backslashreplace").decode("utf-8")
        where = f"server:{self._server}" if cls in (SERVERS, NOT_EXCLUDED) else self.where
        try:
            self.event("fault", {"where": where, "class": cls, "message": message})
        except (OSError, OyerError) as error:
            message = f"{message} (and this could not be recorded: {error})"
        on_fault(where, cls, message)

    def digest(self, data: bytes) -> str:
        """Return the digest under which these bytes are kept as a payload."""
        return self._recorder.kept(data)[0]

    def receive(self, frame: bytes, is_whole: bool, *, from_subject: bool) -> Crossing:
        """A frame has come: stamp it. It is recorded by `later` or `now`."""
        return Crossing(frame, is_whole, from_subject, self._recorder.now(), self._session())

    def later(self, write: Callable[[Crossing], None], crossing: Crossing) -> None:
        """Have a frame noted by `write` after what is urgent, and before anything else is recorded."""
        self._recorder.later(write, crossing)
        self._on_owed(len(crossing.frame))

    def now(self, crossing: Crossing) -> str:
        """Record a frame before it goes on, after all that is owed."""
        self._recorder.later(self.note, crossing)
        self._recorder.settle()
        return crossing.ref

    def sync(self) -> None:
        """Wait until everything recorded so far is on the disk."""
        self._recorder.sync()

    def settle(self) -> None:
        """Record all that is owed."""
        self._recorder.settle()

    def note(self, crossing: Crossing) -> None:
        """Write a frame down as it was received and understood. Raises: HarnessError if it was not understood."""
        seen = crossing.seen
        if seen is None:
            raise HarnessError("E-TAP-STEP", "a frame was not understood before it was to be recorded")
        because: tuple[str, ...] = ()
        body: dict[str, Any] = {"server": self._server, "connection": self._connection}
        if not seen:
            kind = "mcp.noise"
            body["side"] = "subject" if crossing.from_subject else "server"
        else:
            kind = "mcp.sent" if crossing.from_subject else "mcp.received"
            if len(seen) == 1:
                _identify(seen[0], body, with_tool=crossing.from_subject)
            if crossing.answers:
                because = tuple([request.ref for request in crossing.answers])
        crossing.ref, crossing.sha256, crossing.size = self._recorder.note(
            kind, body, crossing.frame, stamp=crossing.stamp, session=crossing.session, because=because
        )
        crossing.frame, crossing.seen, crossing.answers = b"", (), ()

    def delivered(self, crossing: Crossing, to_server: bool, changed: bytes | None) -> None:
        """The last byte was handed over: of the frame as it came, or of what it was changed to."""
        self._recorder.later(self._note_delivered, crossing, to_server, changed, self._recorder.now(), self._session())
        self._on_owed(0)

    def _note_delivered(
        self, crossing: Crossing, to_server: bool, changed: bytes | None, stamp: tuple[int, str], session: str | None
    ) -> None:
        sha256, size = (crossing.sha256, crossing.size) if changed is None else self._recorder.kept(changed)
        body = {
            "server": self._server,
            "connection": self._connection,
            "of": crossing.ref,
            "direction": "to_server" if to_server else "to_subject",
            "sha256": sha256,
            "size": size,
        }
        self._recorder.note("mcp.delivered", body, stamp=stamp, session=session, because=(crossing.ref,))

    def truncated(self, side: str, prefix: bytes) -> None:
        """A frame beyond the bound, of which this much was kept."""
        self.event("mcp.noise", {"side": side, "truncated": True}, payloads={"payload": prefix})

    def refused(self, policy: str, of: str, call: bytes, refusal: bytes) -> None:
        """A call was refused by the declared policy; on disk before the refusal leaves."""
        body = {"policy": policy, "did": "refused", "of": of, "original": self.digest(call), "modified": None}
        self.event("mcp.policy", body, payloads={"delivered": refusal}, because=(of,), sync=True)

    def approval(self, policy: str, of: str, call: bytes, did: Literal["asked", "granted"]) -> None:
        """The declared approver was asked about a call, or granted it; `sync` before the call goes on."""
        body = {"policy": policy, "did": did, "of": of, "original": self.digest(call), "modified": None}
        self.event("mcp.policy", body, because=(of,))

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


def _identify(one: Seen, body: dict[str, Any], *, with_tool: bool) -> None:
    """Add id, method and tool of the one message a frame holds; a batch has none of them."""
    if not isinstance(one, _MESSAGES):
        return
    message = one.message
    if message.has_id and _is_plain_id(message.id):
        body["id"] = message.id
    method = message.method
    if method is not None and _is_plain_text(method):
        body["method"] = method
        if with_tool and message.has_id:
            tool = message.tool
            if tool is not None and _is_plain_text(tool):
                body["tool"] = tool


def _is_plain_id(value: JsonValue) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= _MAX_SAFE_INT
    return value is None or _is_plain_text(value)


def _is_plain_text(value: JsonValue) -> bool:
    """Say whether a text of foreign origin may stand in a body; if not it is only in the payload."""
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return False
    return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)
