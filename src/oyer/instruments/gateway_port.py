"""The gateway as its user sees it, without the HTTP library behind it.

Owns the values that go in and out, and the making of a gateway, which alone loads what it runs on: nothing but a
model subject needs it, and nothing else should pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from oyer.errors import UsageError
from oyer.instruments.gateway_changes import GatewayRules
from oyer.instruments.ports import OnFault, Recorder
from oyer.observe import RecordedExchange
from oyer.records import ModelFault

__all__ = ["Gateway", "GatewayDoor", "GatewayLimits", "Replay", "ScriptedModel", "Upstream", "make_gateway"]


@dataclass(frozen=True, slots=True)
class Upstream:
    """A declared model endpoint: `base_url` ends in the API's version (`/v1`); `key` never leaves this object.

    `answer_s` bounds a whole answer, `idle_s` the silence inside of one that has begun; `max_bytes` bounds an answer
    that comes in one piece, `stream_bytes` one that comes as a stream.
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    answer_s: float = 120.0
    max_bytes: int = 16 * 1024 * 1024
    stream_bytes: int = 64 * 1024 * 1024
    idle_s: float | None = None

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError("E-BASE-URL", f"{self.base_url!r} is no http or https address", where="--base-url")
        if "@" in self.base_url.partition("://")[2].partition("/")[0]:
            raise UsageError(
                "E-BASE-URL", "the address holds a name or a password", where="--base-url", hint="--key-env NAME"
            )


class Replay(NamedTuple):
    """The recorded exchanges of one trial, its run tokens, and a look at those of the run under way."""

    recorded: Sequence[RecordedExchange]
    theirs: Mapping[str, str]
    ours: Callable[[], Mapping[str, str]]


class ScriptedModel(NamedTuple):
    """A model that plays a double: its behaviour in each session, and the tools of the case as `server.tool`.

    A behaviour is what `oyer.subjects.derive` gives, with its `turns`.
    """

    behaviours: Mapping[str, Mapping[str, Any]]
    tools: tuple[str, ...]


class GatewayLimits(NamedTuple):
    """Bounds of one gateway: the bytes of one request, the bytes in each direction in all, and how many requests.

    A request beyond one of them is the subject's fault, an answer beyond the total the endpoint's.
    """

    request_bytes: int = 16 * 1024 * 1024
    total_bytes: int = 1024 * 1024 * 1024
    requests: int = 50_000


DEFAULT_LIMITS = GatewayLimits()


class GatewayDoor(NamedTuple):
    """What the subject is given: where to ask, and with which key. Both are drawn anew for every attempt."""

    base_url: str
    key: str


class Gateway(Protocol):
    """One gateway for one attempt.

    `session` is set when a session opens, and stamps what is recorded from then on.
    """

    session: str | None

    @property
    def owes(self) -> bool:
        """Whether an error stands that no whole answer followed, with nothing under way: a fault in the end."""
        ...

    async def start(self) -> GatewayDoor:
        """Open the door. Raises: HarnessError when no port can be bound."""
        ...

    async def stop(self) -> None:
        """Close the door; what is under way is recorded as broken off.

        Raises: what kept the gateway from recording, if anything did.
        """
        ...


def make_gateway(
    recorder: Recorder,
    upstream: Upstream | ScriptedModel,
    *,
    replay: Replay | None = None,
    faults: Sequence[ModelFault] = (),
    rules: GatewayRules | None = None,
    limits: GatewayLimits = DEFAULT_LIMITS,
    on_fault: OnFault | None = None,
) -> Gateway:
    """Make the gateway of one attempt; `on_fault` hears of every fault after it was recorded.

    `rules` say which tool results are changed in requests.
    `faults` are declared of the endpoint, and acted whatever stands in for it. With `replay` every answer comes from
    there, and no endpoint is ever asked. Every gateway records what passes: there is no other way to pass.
    """
    from oyer.instruments.gateway import RecordingGateway  # noqa: PLC0415 - loads the HTTP library

    more: dict[str, Any] = {"on_fault": on_fault, "faults": faults, "rules": rules, "limits": limits}
    if replay is not None:
        from oyer.instruments.gateway_replay import ReplaySource  # noqa: PLC0415 - the same

        return RecordingGateway(recorder, ReplaySource(*replay), **more)
    if isinstance(upstream, ScriptedModel):
        from oyer.instruments.gateway_scripted import ScriptedSource  # noqa: PLC0415 - the same

        return RecordingGateway(recorder, ScriptedSource(upstream), **more)
    return RecordingGateway(recorder, upstream, **more)
