"""What is said on one connection: which frame is what, what is declared about it, and when it may go on.

Owns correlation, the plan for each request, and the calls in flight. A frame is stamped on receipt. One that no
declared change and no watcher can concern goes on at once, and is understood and recorded afterwards; so does a request
where nothing but answers is changed in any arm, which is understood before its answer can come; any other is
understood first. Must never forward a changed frame before its original is on the disk, nor let a watcher look before
the call is on record.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from oyer.errors import HarnessError
from oyer.instruments.tap_changes import AnswerChanger
from oyer.instruments.tap_deadlines import Deadlines, Waiting
from oyer.instruments.tap_interest import Interest
from oyer.instruments.tap_opening import Opening
from oyer.instruments.tap_record import ConnectionRecord, Crossing
from oyer.instruments.tap_rules import RequestPlan
from oyer.instruments.tap_settings import TapSettings
from oyer.protocol import Answer, Cancel, Correlator, NoiseLine, Overlong, Request, Seen, refuse

__all__ = ["Exchange", "Outlet"]


class Outlet(Protocol):
    """What an exchange needs from its connection."""

    def forward(self, crossing: Crossing, data: bytes, *, to_server: bool, changed: bool = False) -> None:
        """Pass a frame on, as it came or as it was changed, and record the delivery."""
        ...

    def late(self, waiting: Waiting) -> None:
        """Hear of a request that waited too long."""
        ...

    def too_long(self, side: str, size_bytes: int) -> None:
        """Hear of a frame beyond the bound; nothing more can be understood of this stream."""
        ...

    def reused(self, identifier: object) -> None:
        """Hear that the subject used an id again while a request with it waited. Must not record at once."""
        ...

    def fail(self, cls: str, message: str) -> None:
        """End the connection with a fault."""
        ...

    def settle(self) -> None:
        """Record all that is owed; a failure ends the connection."""
        ...


class _Call(NamedTuple):
    """A request of the subject: how it crossed, and what is declared about it."""

    crossing: Crossing
    plan: RequestPlan
    method: str | None

    @property
    def is_tool_call(self) -> bool:
        """Whether watchers look around it."""
        return self.method == "tools/call"


class Exchange:
    """The two streams of frames of one connection."""

    __slots__ = ("_calls", "_changer", "_correlator", "_frames", "_holds_requests", "_in_flight", "_interest",
                 "_number", "_outlet", "_record", "_settings", "_unread",
                 "deadlines", "opening", "server_answered")  # fmt: skip

    def __init__(self, number: int, settings: TapSettings, record: ConnectionRecord, outlet: Outlet) -> None:
        self._number = number
        self._settings = settings
        self._interest = Interest((settings.declared, settings.rules.rules), calls=bool(settings.watchers))
        self._record = record
        self._outlet = outlet
        self._changer = AnswerChanger(record, settings.rules.rules)
        self._holds_requests = bool(settings.watchers) or any(
            rules.refusing is not None for rules in (settings.declared, settings.rules.rules)
        )
        self._correlator = Correlator()
        self._calls: dict[str, _Call] = {}
        self._in_flight: set[str] = set()
        self._frames = 0
        self._unread: deque[Crossing] = deque()
        self.deadlines = Deadlines(settings.limits.answer_timeout_s, outlet.late, before_look=outlet.settle)
        self.opening = Opening()
        self.server_answered = False

    def close(self) -> None:
        """Forget what was under way."""
        self.deadlines.close()
        self._settings.calls.remove(self._in_flight)

    def gave_up(self, crossing: Crossing) -> None:
        """The subject waits no more for answers to what crossed here."""
        for key, call in self._calls.items():
            if call.crossing is crossing:
                self.deadlines.end(key)

    def from_subject(self, frame: bytes | Overlong, is_whole: bool) -> Coroutine[Any, Any, None] | None:
        """Take a frame of the subject; what is returned must be awaited before the next one is taken."""
        if isinstance(frame, Overlong):
            self._too_long(frame, "subject")
            return None
        crossing = self._record.receive(frame, is_whole, from_subject=True)
        if not self._interest.in_sent(frame):
            self._unread.append(crossing)
            self._record.later(self._note, crossing)
            self._outlet.forward(crossing, frame, to_server=True)
            return None
        self._catch_up()
        if not self._holds_requests:
            # No arm changes anything but answers: it goes on as it is, and is understood before its answer can come.
            self._record.later(self._note_sent, crossing)
            self._outlet.forward(crossing, frame, to_server=True)
            self._expect_answers_to(crossing)
            return None
        calls = self._understand_sent(crossing)
        for request, _ in calls:
            self._interest.expect(request.message.id)
        asked = next((call.plan.asked for _, call in calls if call.plan.asked is not None), None)
        if asked is not None:
            self._ask(asked, crossing, frame)
        refused = next((request for request, call in calls if call.plan.refuse), None)
        if refused is not None:
            self._refuse(refused, crossing, frame)
            return None
        if self._settings.watchers and any(call.is_tool_call for _, call in calls):
            ref = self._record.now(crossing) if asked is None else crossing.ref
            before = self._settings.calls.refs()
            self._in_flight.add(ref)
            self._settings.calls.add([ref])
            return self._look_and_forward(crossing, frame, before)
        if asked is None:
            self._record.later(self._record.note, crossing)
        self._outlet.forward(crossing, frame, to_server=True)
        return None

    def from_server(self, frame: bytes | Overlong, is_whole: bool) -> Coroutine[Any, Any, None] | None:
        """Take a frame of the server; what is returned must be awaited before the next one is taken."""
        if isinstance(frame, Overlong):
            self._too_long(frame, "server")
            return None
        crossing = self._record.receive(frame, is_whole, from_subject=False)
        if not self._interest.in_received(frame):
            self._unread.append(crossing)
            self._record.later(self._note, crossing)
            self._outlet.forward(crossing, frame, to_server=False)
            return None
        self._catch_up()
        asked = self._understand_received(crossing)
        outgoing = frame
        if any(call.plan.changes_answer for call in asked):
            outgoing = self._change(crossing, frame, asked)
        if self._settings.watchers and any(call.is_tool_call for call in asked):
            if not crossing.ref:
                self._record.now(crossing)
            answered = [call.crossing.ref for call in asked if call.is_tool_call]
            return self._look_and_answer(crossing, outgoing, answered, changed=outgoing is not frame)
        if not crossing.ref:
            self._record.later(self._record.note, crossing)
        self._outlet.forward(crossing, outgoing, to_server=False, changed=outgoing is not frame)
        return None

    # -- what a frame is ----------------------------------------------------------------------------------

    def _note(self, crossing: Crossing) -> None:
        """Write down a frame that went on before it was understood."""
        if self._unread:
            self._catch_up()
        self._record.note(crossing)

    def _note_sent(self, crossing: Crossing) -> None:
        """Write down a frame that goes on as it is, whatever is declared about its answer."""
        self._expect_answers_to(crossing)
        self._record.note(crossing)

    def _expect_answers_to(self, crossing: Crossing) -> None:
        if crossing.seen is None:
            for request, _ in self._understand_sent(crossing):
                self._interest.expect(request.message.id)

    def _catch_up(self) -> None:
        """Understand, in order, what went on before it was understood. Raises: HarnessError `E-TAP-MISSED`."""
        watched = bool(self._settings.watchers)
        while self._unread:
            crossing = self._unread.popleft()
            if crossing.from_subject:
                calls = [call for _, call in self._understand_sent(crossing)]
                missed = any(call.plan.refuse or (watched and call.is_tool_call) for call in calls)
            else:
                calls = self._understand_received(crossing)
                missed = False
            if missed or any(call.plan.changes_answer for call in calls):
                raise HarnessError("E-TAP-MISSED", "a frame went on that a declared change or a watcher concerns")

    def _understand_sent(self, crossing: Crossing) -> list[tuple[Request, _Call]]:
        """Say what a frame of the subject is; return its requests, with what is declared about each."""
        calls: list[tuple[Request, _Call]] = []
        for one in self._see(crossing):
            if isinstance(one, Request):
                if any(self._waited(ref, crossing) for ref in one.reuses):
                    self._outlet.reused(one.message.id)
                calls.append((one, self._new_call(one, crossing)))
            elif isinstance(one, Cancel) and one.of is not None and not one.late:
                self.deadlines.end(one.of)
        if not any(call.plan.refuse for _, call in calls):
            for request, _ in calls:
                waits = request.transmission_of or request.ref
                self.deadlines.start(waits, request.method or "", request.message.id)
        return calls

    def _waited(self, ref: str, later: Crossing) -> bool:
        """Whether a request waited for its answer when a later frame came, however late either is understood."""
        if ref not in self.deadlines:
            return False
        done_ns = self._calls[ref].crossing.done_ns
        return done_ns is None or done_ns > later.stamp[0]

    def _understand_received(self, crossing: Crossing) -> list[_Call]:
        """Say what a frame of the server is; return the requests of the subject it may answer, each once."""
        asked: dict[str, _Call] = {}
        for one in self._see(crossing):
            if isinstance(one, Answer):
                self.server_answered = True
                if one.to is not None:
                    self.deadlines.end(one.to)
                    if one.to in self._calls:
                        self.opening.answered(self._calls[one.to].method, one.message)
                for candidate in one.candidates:
                    if candidate in self._calls:
                        asked[candidate] = self._calls[candidate]
        crossing.answers = tuple([call.crossing for call in asked.values()])
        return list(asked.values())

    def _notice(self, frame: bytes, seen: Sequence[Seen]) -> None:
        """Keep what a client should not send: a server that fails after it may have failed over it."""
        odd = [one.noise.why for one in seen if isinstance(one, NoiseLine) and one.noise.why != "blank"]
        odd += [defect for one in seen if not isinstance(one, NoiseLine) for defect in one.message.defects]
        if frame.lstrip()[:1] == b"[":
            odd.append("batch")  # which most revisions of the protocol do not have
        if odd:
            self._settings.oddities.note(f"it sent what no server need understand ({', '.join(odd[:3])})")

    def _see(self, crossing: Crossing) -> tuple[Seen, ...]:
        """Correlate a frame; nothing for what is no message. An unterminated rest is none, whatever it holds."""
        self._frames += 1
        crossing.seen = ()
        if not crossing.is_whole:
            if crossing.from_subject and crossing.frame.strip():
                self._settings.oddities.note("it sent what no server need understand (cut)")
            return ()
        take = self._correlator.sent if crossing.from_subject else self._correlator.received
        seen = take(crossing.frame, f"{self._number}.{self._frames}")
        if crossing.from_subject:
            self._notice(crossing.frame, seen)
            for one in seen:
                self.opening.asked(None if isinstance(one, NoiseLine) else one.message.method)
        elif isinstance(seen[0], NoiseLine):
            self.opening.read_noise(crossing.frame)
        if isinstance(seen[0], NoiseLine) and all(isinstance(one, NoiseLine) for one in seen):
            return ()
        crossing.seen = seen
        return seen

    def _new_call(self, request: Request, crossing: Crossing) -> _Call:
        plan = self._settings.rules.plan(request, crossing.session)
        call = _Call(crossing, plan, request.method)
        self._settings.calls.any_made = self._settings.calls.any_made or call.is_tool_call
        # A retransmission belongs to the call that stands: its answer is the answer to both.
        key = request.transmission_of or request.ref
        standing = self._calls.get(key)
        if standing is None or (standing.crossing is crossing and plan.changes_answer):
            self._calls[key] = call
            return call
        return standing._replace(plan=plan)

    # -- what is declared about it ------------------------------------------------------------------------

    def _change(self, crossing: Crossing, frame: bytes, asked: Sequence[_Call]) -> bytes:
        """Change a frame as declared, and put both on the disk: nothing goes on before they are there."""
        is_single = len(crossing.seen or ()) == 1
        ref = self._record.now(crossing)
        plans = {call.crossing.ref: call.plan for call in asked}
        outgoing = self._changer.change(frame, ref, plans, is_single=is_single)
        self._record.sync()
        return outgoing

    async def _look_and_forward(self, crossing: Crossing, frame: bytes, before: tuple[str, ...]) -> None:
        try:
            for watcher in self._settings.watchers:
                await watcher.before_forward(crossing.ref, before)
        except asyncio.CancelledError:  # the subject left: the server never hears of it, and owes no answer
            self.gave_up(crossing)
            self._settings.calls.remove([crossing.ref])
            self._in_flight.discard(crossing.ref)
            raise
        self._outlet.forward(crossing, frame, to_server=True)

    async def _look_and_answer(
        self, crossing: Crossing, outgoing: bytes, answered: Sequence[str], *, changed: bool
    ) -> None:
        for call_ref in answered:
            for watcher in self._settings.watchers:
                await watcher.before_answer(call_ref, self._settings.calls.refs())
        self._settings.calls.remove(answered)
        self._in_flight.difference_update(answered)
        self._outlet.forward(crossing, outgoing, to_server=False, changed=changed)

    def _ask(self, answer: Literal["granted", "refused"], crossing: Crossing, frame: bytes) -> None:
        """Put the question and, where the approver grants it, the answer on the disk before the call goes on."""
        policy = self._settings.rules.rules.approval
        if policy is None:
            return
        ref = self._record.now(crossing)
        self._record.approval(policy.id, ref, frame, "asked")
        if answer == "granted":
            self._record.approval(policy.id, ref, frame, "granted")
        self._record.sync()

    def _refuse(self, request: Request, crossing: Crossing, frame: bytes) -> None:
        """Answer a call that the declared policy denies; nothing of it reaches the server."""
        parts = len(crossing.seen or ())
        # A call that the approver was asked about is on record already.
        ref = crossing.ref or self._record.now(crossing)
        policy = self._settings.rules.rules.refusing
        if policy is None or parts > 1:
            self._outlet.fail("harness", "a batch holds a call that the policy denies; a batch cannot be taken apart")
            return
        refusal = refuse(request.message, policy.text)
        self._record.refused(policy.id, ref, frame, refusal)
        self._outlet.forward(crossing, refusal, to_server=False, changed=True)

    def _too_long(self, frame: Overlong, side: str) -> None:
        self._record.truncated(side, frame.prefix)
        self._outlet.too_long(side, frame.size_bytes)
