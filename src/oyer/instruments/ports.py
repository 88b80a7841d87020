"""What instruments need from whoever runs them.

Owns the Protocols of this room. Must never hold an implementation: the engine hands in a journal writer, the
other instruments and a function that hears of faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["CallWatcher", "DeferringRecorder", "OnFault", "Recorder"]

OnFault = Callable[[str, str, str], None]
"""Called with (where, class, message) after a fault was recorded, or when it could not be."""


class Recorder(Protocol):
    """One writer's journal. `store.JournalWriter` satisfies it."""

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] = ...,
        session: str | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        """Append one event, stamped now, and return its reference `writer:seq`.

        Each of `payloads` becomes the payload of that name in the body. With `sync` the event and its blobs are on
        the disk when this returns. Raises: OSError, EvidenceError; then nothing was appended.
        """
        ...

    def kept(self, raw: bytes) -> tuple[str, int]:
        """Return digest and size under which a payload of these bytes is kept (secrets in it are replaced)."""
        ...


class DeferringRecorder(Recorder, Protocol):
    """A journal to which an observer may owe what it has stamped already. `store.JournalWriter` satisfies it."""

    def now(self) -> tuple[int, str]:
        """Take a stamp for an event that is noted later."""
        ...

    def later(self, write: Callable[..., None], *arguments: Any) -> None:
        """Have `write` called by `settle`, and in any case before anything else is recorded or the journal sealed.

        What is owed is written in the order given. If it fails, the journal can never be sealed.
        """
        ...

    def note(
        self,
        kind: str,
        body: dict[str, Any],
        raw: bytes | None = None,
        *,
        stamp: tuple[int, str],
        session: str | None = None,
        because: Sequence[str] = (),
    ) -> tuple[str, str, int]:
        """Append one event of an earlier moment; `raw` becomes its payload, and the body is taken over.

        Returns its reference, and digest and size under which the payload is kept, "" and 0 without one. Only for what
        is called by way of `later`. Raises: OSError, EvidenceError.
        """
        ...

    def settle(self) -> None:
        """Do what is owed now, and write it out. Raises: OSError, OyerError."""
        ...

    def sync(self) -> None:
        """Wait until everything appended so far is on the disk. Raises: OSError."""
        ...


class CallWatcher(Protocol):
    """Looks at the world just before a call goes to its server and just before its answer goes to the subject."""

    async def before_forward(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        """Called before the call is forwarded; `in_flight` are the calls under way without it."""
        ...

    async def before_answer(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        """Called before the answer is forwarded; `in_flight` are the calls under way, this one included."""
        ...
