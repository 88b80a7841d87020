"""What a tap is told once, for all its connections.

Owns values only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from oyer.host import Patience
from oyer.instruments.in_flight import CallsInFlight
from oyer.instruments.ports import CallWatcher, DeferringRecorder, OnFault
from oyer.instruments.tap_blame import Oddities
from oyer.instruments.tap_rules import RuleBook, TapRules
from oyer.protocol import MAX_FRAME_BYTES

__all__ = ["TapLimits", "TapSettings", "TappedServer"]


class TappedServer(NamedTuple):
    """A server as the Case declares it, with everything filled in.

    `env` is its whole environment; `marker` a directory name that only processes of this server carry. `url` is where
    it is asked over HTTP; `port_mark` in it, in the command and in the environment is then drawn at each start.
    `ends_with_input` says of what serves an address that the end of its standard input ends it, `is_bridged` of the
    command that it is, or leads to, the program of ours that speaks HTTP with the server.
    """

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    marker: str | None = None
    url: str | None = None
    port_mark: str = "{port}"
    ends_with_input: bool = False
    is_bridged: bool = False


class TapLimits(NamedTuple):
    """Bounds of a tap; `flush_s` is how long a slow reader may take for what was written when all has ended.

    `max_frames` and `max_total_bytes` hold for each direction of one connection: what floods is ended, not recorded
    until the disk is full. `max_stream_bytes` holds for one answer over HTTP that comes as events, `idle_s` for the
    silence inside an answer over HTTP; a stream that is no answer may be silent and go on.
    """

    max_frame_bytes: int = MAX_FRAME_BYTES
    max_frames: int = 50_000
    max_total_bytes: int = 64 * MAX_FRAME_BYTES
    max_stream_bytes: int = 4 * MAX_FRAME_BYTES
    answer_timeout_s: float = 60.0
    idle_s: float | None = None
    flush_s: float = 1.0
    patience: Patience = Patience()


class TapSettings(NamedTuple):
    """What all connections of one tap share.

    `declared` is what some arm of the Case changes on this server, `rules` what this one does. `on_owed` is called
    with a size in bytes when the recorder is owed something and should be settled soon. `oddities` keeps what the
    subject did on this tap that no client should.
    """

    server: TappedServer
    recorder: DeferringRecorder
    rules: RuleBook
    limits: TapLimits
    watchers: tuple[CallWatcher, ...]
    calls: CallsInFlight
    on_fault: OnFault
    declared: TapRules
    on_owed: Callable[[int], None]
    oddities: Oddities
