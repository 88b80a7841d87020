"""The values that cross the gateway between its door and its source: what is asked, what comes, how it is handed on.

Owns the headers that are meant for the other end only. Must never hold a mechanism.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from oyer.protocol import ModelApi

__all__ = [
    "CUT",
    "Asking",
    "Failure",
    "Headers",
    "ModelSource",
    "Passing",
    "Progress",
    "SourceKind",
    "UpstreamAnswer",
    "content_encoding",
    "end_to_end",
    "header_of",
]

Headers = tuple[tuple[str, str], ...]
Failure = Literal["timeout", "unreachable", "cut", "redirect", "too_large", "leak", "unrecorded", "declared"]

CUT: Final = frozenset({"timeout", "cut", "too_large", "leak", "declared"})
"""Failures after which a stream that has begun to be handed on breaks off for the subject as well."""

# RFC 9110, 7.6.1: what belongs to one hop only. Content-Length is set anew by each hop from the same bytes.
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def end_to_end(headers: Iterable[tuple[str, str]], *, without: frozenset[str] = frozenset()) -> Headers:
    """Keep what is meant for the other end, in its order; drop hop-by-hop fields and those named, in lower case."""
    named = [(name.lower(), name, value) for name, value in headers]
    dropped = without
    for low, _, value in named:
        if low == "connection":
            dropped = dropped.union(token.strip().lower() for token in value.split(","))
    return tuple([(name, value) for low, name, value in named if low not in _HOP_BY_HOP and low not in dropped])


def header_of(headers: Headers, name: str) -> str | None:
    """Return the first header of a name in lower case."""
    return next((value for key, value in headers if key.lower() == name), None)


def content_encoding(headers: Headers) -> str | None:
    """Return the coding of a body, None where it has none."""
    coding = header_of(headers, "content-encoding")
    return None if coding is None or coding.strip().lower() == "identity" else coding


class Asking(NamedTuple):
    """One request: `target` is path and query without any key, `key_places` where the endpoint wants its own.

    `session` is the one under way when it came.
    """

    method: str
    target: str
    headers: Headers
    body: bytes
    key_places: tuple[str, ...]
    api: ModelApi | None
    stream: bool
    session: str | None = None


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """What came back. `status` 0: no answer at all. `declared` is the length that the endpoint announced.

    `passed` bytes of the body were handed on while it came; `begun`: a stream, which the subject sees already.
    """

    status: int
    reason: str
    headers: Headers
    body: bytes
    declared: int | None
    failure: Failure | None = None
    message: str = ""
    first_ns: int | None = None
    passed: int = 0
    begun: bool = False


class Progress:
    """What has come of one answer so far. `first_ns` is the monotonic moment of its first byte.

    `searched` bytes of it were looked through for the key as they came, and hold none.
    """

    def __init__(self) -> None:
        self.status = 0
        self.reason = ""
        self.headers: Headers = ()
        self.declared: int | None = None
        self.body = bytearray()
        self.first_ns: int | None = None
        self.passed = 0
        self.searched = 0
        self.begun = False

    def begin(self, status: int, reason: str, headers: Headers, declared: int | None) -> None:
        """Take the head of the answer."""
        self.status, self.reason, self.headers, self.declared = status, reason, headers, declared

    def add(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if self.first_ns is None and piece:
            self.first_ns = time.monotonic_ns()
        self.body += piece

    def answer(self, failure: Failure | None = None, message: str = "") -> UpstreamAnswer:
        """Return what came as it stands."""
        return UpstreamAnswer(
            self.status,
            self.reason,
            self.headers,
            bytes(self.body),
            self.declared,
            failure,
            message,
            self.first_ns,
            self.passed,
            self.begun,
        )


class Passing(Protocol):
    """Hands a stream on to the subject while it comes."""

    async def begin(self, progress: Progress) -> None:
        """Hand on the head."""
        ...

    async def piece(self, progress: Progress) -> None:
        """Hand on what has come and was not handed on before."""
        ...


SourceKind = Literal["endpoint", "replay", "scripted", "declared", "gateway"]


class ModelSource(Protocol):
    """Where answers come from: a declared endpoint, a recording of one, or a script."""

    @property
    def kind(self) -> SourceKind:
        """Which of these it is; recorded with every answer that no endpoint gave."""
        ...

    async def open(self) -> None:
        """Make ready; nothing is connected yet."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...

    async def exchange(self, asking: Asking, progress: Progress, passing: Passing) -> UpstreamAnswer:
        """Return the answer to one request; a failure of the source is a value."""
        ...
