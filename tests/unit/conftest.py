"""A journal in memory for tests of whatever records: the store's own, with a view of what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from oyer.evidence import Chain, Envelope, Event, check_journal, parse_event, payload_bytes
from oyer.host import boot_id, stamp
from oyer.store import MemoryJournal


class SeenJournal:
    """Satisfies the `Recorder` ports by the store's journal in memory, and shows what it holds."""

    def __init__(self, writer: str) -> None:
        self.journal = MemoryJournal(Chain(writer, Envelope("s0", "t0", "r0", "baseline", 1, boot_id())), stamp)

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] | None = None,
        session: str | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        return self.journal.record(kind, body, payloads=payloads or {}, session=session, because=because, sync=sync)

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        return [parse_event(line) for line in self.journal.data.split(b"\n")[:-1]]

    def of(self, kind: str) -> list[Event]:
        """All events of one kind, in order."""
        return [event for event in self.events if event.kind == kind]

    def raw(self, event: Event, key: str = "payload") -> bytes:
        """The bytes of one payload, proven."""
        return payload_bytes(event.body[key], self.journal.contents.get)

    def faults(self) -> list[tuple[str, str, str]]:
        """Where, class and message of every fault."""
        return [(event.body["where"], event.body["class"], event.body["message"]) for event in self.of("fault")]

    def everything(self) -> bytes:
        """All bytes that would be on disk."""
        return b"".join([self.journal.data, *self.journal.contents.values()])

    def require_whole(self) -> None:
        """Seal the journal and have the real check pass it."""
        self.journal.seal()
        checked = check_journal(self.journal.data, writer=self.journal.writer)
        assert not checked.defects, checked.defects


@pytest.fixture
def open_journal() -> Callable[[str], SeenJournal]:
    """Make a journal in memory for one writer."""
    return SeenJournal
