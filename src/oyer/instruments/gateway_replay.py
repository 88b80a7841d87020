"""Answers from a recording in place of a model endpoint: nothing is asked, and nothing costs anything.

Owns which recorded answer a request gets: the first one not yet given whose request is the same, byte for byte, once
the tokens of that run are replaced by those of this one. Must never open a connection, give an answer twice, or answer
what is not in the recording: that is a fault of the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from oyer.errors import ProtocolError
from oyer.instruments.gateway_answer import Asking, Failure, Headers, Passing, Progress, UpstreamAnswer
from oyer.observe import RecordedExchange, printable, renamed
from oyer.protocol import loads

__all__ = ["ReplaySource"]

_FAILURES: Final[tuple[tuple[str, Failure], ...]] = (
    ("the answer broke off", "cut"),
    ("no whole answer within", "timeout"),
    ("the answer is larger", "too_large"),
    ("the endpoint repeated the key", "leak"),
    ("no answer from the model endpoint", "unreachable"),
)
"""What the gateway says of each failure of an endpoint; others it finds again in the bytes themselves."""

_MOST_NAMED: Final = 8


class ReplaySource:
    """The recorded exchanges of one trial, and the run tokens of both runs.

    `ours` is asked for at each request: what a run draws is not all known when its gateway opens.
    """

    kind: Final = "replay"

    def __init__(
        self, recorded: Sequence[RecordedExchange], theirs: Mapping[str, str], ours: Callable[[], Mapping[str, str]]
    ) -> None:
        self._left = list(recorded)
        self._given: list[RecordedExchange] = []
        self._asked = 0
        self._theirs = theirs
        self._ours = ours

    async def open(self) -> None:
        """Make ready: there is nothing to be made ready."""

    async def close(self) -> None:
        """Release everything: there is nothing."""

    async def exchange(self, asking: Asking, progress: Progress, passing: Passing) -> UpstreamAnswer:
        """Give the recorded answer to a request, or say that there is none."""
        ours, path = dict(self._ours()), printable(asking.target)
        self._asked += 1
        for place, one in enumerate(self._left):
            if one.path == path and renamed(one.request, self._theirs, ours) == asking.body:
                self._given.append(self._left.pop(place))
                return await self._again(one, ours, progress, passing)
        told = "this request is not in the recording, or no answer to it is left"
        told += f": {asking.method} {asking.target}, number {self._asked} of the trial"
        return progress.answer("unrecorded", told + self._beside(asking.body, ours))

    def _beside(self, asked: bytes, ours: Mapping[str, str]) -> str:
        """Say in which members a request differs from the one that was recorded next."""
        given = sum(renamed(one.request, self._theirs, ours) == asked for one in self._given)
        if given:
            return f"; answers to it that were given already: {given}, and there is no further one"
        if not self._left:
            return "; the recording holds no further one"
        try:
            one, other = loads(renamed(self._left[0].request, self._theirs, ours)), loads(asked)
        except (ProtocolError, RecursionError):
            return ""
        if not isinstance(one, dict) or not isinstance(other, dict):
            return ""
        names = sorted(
            name for name in {*one, *other} if name not in one or name not in other or one[name] != other[name]
        )
        return (
            f"; the next one recorded differs in {', '.join(name[:40] for name in names[:_MOST_NAMED])}"
            if names
            else ""
        )

    async def _again(
        self, one: RecordedExchange, ours: Mapping[str, str], progress: Progress, passing: Passing
    ) -> UpstreamAnswer:
        headers: Headers = tuple(
            (name, value)
            for name, value in (("Content-Type", one.content_type), ("Content-Encoding", one.content_encoding))
            if value is not None
        )
        body = renamed(one.body, self._theirs, ours) if one.content_encoding is None else one.body
        progress.begin(one.status, "", headers, None)
        progress.add(body)
        failure, message = _failure_of(one)
        streams = (one.content_type or "").partition(";")[0].strip() == "text/event-stream"
        if streams and 200 <= one.status < 300 and one.content_encoding is None:
            await passing.begin(progress)
        return progress.answer(failure, message)


def _failure_of(one: RecordedExchange) -> tuple[Failure | None, str]:
    for words, failure in _FAILURES:
        if one.fault is not None and one.fault.startswith(words):
            return failure, one.fault
    if 300 <= one.status < 400 and one.fault is not None:
        return "redirect", one.fault
    if not one.complete and one.fault is None:
        return "unrecorded", "the recorded answer was given up before it had come: what it would have been is not known"
    return None, ""
