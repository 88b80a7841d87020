"""What a subject needs and what it offers: the ports of this room.

Owns the `Subject` and `Recorder` protocols and the values that cross them. Must never hold a mechanism.
The engine satisfies `Recorder` with the harness writer of the trial; every driver of this room satisfies `Subject`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

__all__ = [
    "NO_STOPS",
    "EndedBy",
    "Given",
    "ModelAccess",
    "Recorder",
    "ServerCommand",
    "StopLimits",
    "Subject",
    "SubjectIdentity",
    "TurnEnd",
]

EndedBy = Literal["subject", "stop", "budget", "crash", "protocol", "harness"]


class Recorder(Protocol):
    """Where evidence goes: one writer of one trial's journal."""

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] = ...,
        session: str | None = ...,
        because: Sequence[str] = ...,
        sync: bool = ...,
    ) -> str:
        """Append one event and return its reference, `writer:seq`. `payloads` fills keys of `body` by name."""
        ...


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How the subject reaches one server: a command with what it adds to the environment, or an address.

    With a `url` the command is for a subject that can only start one: it is a bridge to that address. `transport` says
    what is spoken there: `http`, `sse`, or `auto` where that shows only when it is asked.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    transport: Literal["auto", "http", "sse"] = "auto"


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Where the subject reaches a model: the gateway's address and the run's dummy key, never the real one."""

    base_url: str
    key: str


@dataclass(frozen=True, slots=True)
class Given:
    """Everything that a subject gets for one session, and nothing else.

    `turns` is how many turns the session has; `env` is the whole environment apart from what the driver needs to
    start its own program.
    """

    servers: Mapping[str, ServerCommand]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    world: str | None = None
    model: ModelAccess | None = None
    turns: int = 1


@dataclass(frozen=True, slots=True)
class StopLimits:
    """Declared stops over the whole attempt; None: no such stop."""

    model_calls: int | None = None
    tool_calls: int | None = None


NO_STOPS: Final = StopLimits()


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended.

    `ended_by`: `subject` it answered by itself; `stop` a declared stop; `budget` the caller's deadline passed;
    `crash` the process ended; `protocol` it broke the driver's protocol; `harness` a dependency of the subject
    failed (a fault event says which). `calls` counts tool calls that went to a server. `detail` is for people; for a
    stop it names the limit, `model_calls` or `tool_calls`.
    `fault` is the reference of the fault event that the driver recorded, None when it recorded none.
    """

    text: str
    ended_by: EndedBy
    calls: int = 0
    detail: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class SubjectIdentity:
    """Who the subject is: its driver and a digest of its program sources and parameters.

    `revision` is `unidentified` where a subject cannot state one; no driver of this room needs that.
    """

    name: str
    driver: str
    revision: str
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Subject(Protocol):
    """One agent under test during one attempt: sessions in order, turns in order, then closed.

    No method raises for what the subject does: whatever it does is evidence and a `TurnEnd`.
    """

    @property
    def identity(self) -> SubjectIdentity:
        """Who this is; the same value before, during and after the attempt."""
        ...

    async def open_session(self, session: str, given: Given) -> None:
        """Start the subject for one session. Raises: HarnessError or Blocked when it cannot be started."""
        ...

    async def turn(self, text: str, *, timeout_s: float) -> TurnEnd:
        """Send one turn and wait for its end, at most `timeout_s` seconds.

        On the deadline the subject is ended and `ended_by` is `budget`; the caller, who set the deadline, records
        which of its limits that was.
        """
        ...

    async def close_session(self) -> None:
        """End the session: everything the subject started is gone when this returns, on every path."""
        ...
