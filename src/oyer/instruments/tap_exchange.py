"""What is said on one connection: which frame is what, what is declared about it, and when it may go on.

Owns correlation, recording on receipt, the plan for each request, and the calls in flight. Must never forward
a frame before its record is written, nor a changed frame before its original is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, Protocol

from oyer.instruments.tap_changes import AnswerChanger
from oyer.instruments.tap_deadlines import Deadlines, Waiting
from oyer.instruments.tap_record import ConnectionRecord
from oyer.instruments.tap_rules import RequestPlan
from oyer.instruments.tap_settings import TapSettings
from oyer.protocol import Answer, Cancel, Correlator, NoiseLine, Overlong, Request, Seen, refuse

__all__ = ["Exchange", "Outlet"]


class Outlet(Protocol):
    """What an exchange needs from its connection."""

    def forward(self, data: bytes, ref: str, *, to_server: bool) -> None:
        """Pass the bytes recorded as `ref` on, and record their delivery."""
        ...

    def late(self, waiting: Waiting) -> None:
        """Hear of a request that waited too long."""
        ...

    def too_long(self, side: str, size_bytes: int) -> None:
        """Hear of a frame beyond the bound; nothing more can be understood of this stream."""
        ...

    def fail(self, cls: str, message: str) -> None:
        """End the connection with a fault."""
        ...


class _Call(NamedTuple):
    """A request of the subject: the event it was recorded as, and what is declared about it."""

    ref: str
    plan: RequestPlan
    is_tool_call: bool


class Exchange:
    """The two streams of frames of one connection."""

    __slots__ = ("_calls", "_changer", "_correlator", "_frames", "_in_flight", "_number", "_outlet", "_record",
                 "_settings", "deadlines", "server_answered")  # fmt: skip

    def __init__(self, number: int, settings: TapSettings, record: ConnectionRecord, outlet: Outlet) -> None:
        self._number = number
        self._settings = settings
        self._record = record
        self._outlet = outlet
        self._changer = AnswerChanger(record, settings.rules.rules)
        self._correlator = Correlator()
        self._calls: dict[str, _Call] = {}
        self._in_flight: set[str] = set()
        self._frames = 0
        self.deadlines = Deadlines(settings.limits.answer_timeout_s, outlet.late)
        self.server_answered = False

    def close(self) -> None:
        """Forget what was under way."""
        self.deadlines.close()
        self._settings.calls.remove(self._in_flight)

    def from_subject(self, frame: bytes | Overlong, is_whole: bool) -> Coroutine[Any, Any, None] | None:
        """Take a frame of the subject; what is returned must be awaited before the next one is taken."""
        if isinstance(frame, Overlong):
            self._too_long(frame, "subject")
            return None
        seen, local = self._see(frame, is_whole, self._correlator.sent)
        if seen is None:
            self._outlet.forward(frame, self._record.noise("subject", frame), to_server=True)
            return None
        ref = self._record.sent(frame, seen)
        calls = [(one, self._new_call(one, ref)) for one in seen if isinstance(one, Request)]
        for one in seen:
            if isinstance(one, Cancel) and one.of is not None and not one.late:
                self.deadlines.end(one.of)
        refused = next((request for request, call in calls if call.plan.refuse), None)
        if refused is not None:
            self._refuse(refused, frame, ref, len(seen))
            return None
        for request, _ in calls:
            self.deadlines.start(request.transmission_of or local, request.method or "", repr(request.message.id))
        tool_calls = [call.ref for _, call in calls if call.is_tool_call]
        before = self._settings.calls.refs()
        self._in_flight.update(tool_calls)
        self._settings.calls.add(tool_calls)
        if tool_calls and self._settings.watchers:
            return self._look_and_forward(frame, ref, before)
        self._outlet.forward(frame, ref, to_server=True)
        return None

    def from_server(self, frame: bytes | Overlong, is_whole: bool) -> Coroutine[Any, Any, None] | None:
        """Take a frame of the server; what is returned must be awaited before the next one is taken."""
        if isinstance(frame, Overlong):
            self._too_long(frame, "server")
            return None
        seen, _ = self._see(frame, is_whole, self._correlator.received)
        if seen is None:
            self._outlet.forward(frame, self._record.noise("server", frame), to_server=False)
            return None
        answers = [one for one in seen if isinstance(one, Answer)]
        asked = {to: self._calls[to] for one in answers for to in one.candidates if to in self._calls}
        changed = any(call.plan.changes_answer for call in asked.values())
        ref = self._record.received(frame, seen, [call.ref for call in asked.values()], sync=changed)
        self.server_answered = self.server_answered or bool(answers)
        for one in answers:
            if one.to is not None:
                self.deadlines.end(one.to)
        outgoing = frame
        if changed:
            plans = {call.ref: call.plan for call in asked.values()}
            outgoing = self._changer.change(frame, ref, plans, is_single=len(seen) == 1)
        answered = [call.ref for call in asked.values() if call.is_tool_call]
        if answered and self._settings.watchers:
            return self._look_and_answer(outgoing, ref, answered)
        self._answered(outgoing, ref, answered)
        return None

    def _see(
        self, frame: bytes, is_whole: bool, take: Callable[[bytes, str], tuple[Seen, ...]]
    ) -> tuple[tuple[Seen, ...] | None, str]:
        """Correlate a frame; None for what is no message. An unterminated rest is none, whatever it holds."""
        self._frames += 1
        local = f"{self._number}.{self._frames}"
        seen = take(frame, local) if is_whole else ()
        return (None if all(isinstance(one, NoiseLine) for one in seen) else seen), local

    def _new_call(self, request: Request, ref: str) -> _Call:
        plan = self._settings.rules.plan(request, self._record.session)
        call = _Call(ref, plan, request.method == "tools/call")
        # A retransmission belongs to the call that stands: its answer is the answer to both.
        key = request.transmission_of or request.ref
        standing = self._calls.get(key)
        if standing is None or (standing.ref == ref and plan.changes_answer):
            self._calls[key] = call
            return call
        return standing._replace(plan=plan)

    async def _look_and_forward(self, frame: bytes, ref: str, before: tuple[str, ...]) -> None:
        for watcher in self._settings.watchers:
            await watcher.before_forward(ref, before)
        self._outlet.forward(frame, ref, to_server=True)

    async def _look_and_answer(self, outgoing: bytes, ref: str, answered: Sequence[str]) -> None:
        for call_ref in answered:
            for watcher in self._settings.watchers:
                await watcher.before_answer(call_ref, self._settings.calls.refs())
        self._answered(outgoing, ref, answered)

    def _answered(self, outgoing: bytes, ref: str, answered: Sequence[str]) -> None:
        self._settings.calls.remove(answered)
        self._in_flight.difference_update(answered)
        self._outlet.forward(outgoing, ref, to_server=False)

    def _refuse(self, request: Request, frame: bytes, ref: str, parts: int) -> None:
        """Answer a call that the declared policy denies; nothing of it reaches the server."""
        block = self._settings.rules.rules.block
        if block is None or parts > 1:
            self._outlet.fail("harness", "a batch holds a call that the policy denies; a batch cannot be taken apart")
            return
        refusal = refuse(request.message, block.text)
        self._record.refused(block.id, ref, frame, refusal)
        self._outlet.forward(refusal, ref, to_server=False)

    def _too_long(self, frame: Overlong, side: str) -> None:
        self._record.noise(side, frame.prefix, truncated=True)
        self._outlet.too_long(side, frame.size_bytes)
