"""A journal in memory for tests of whatever records: the store's own, with a view of what was recorded."""

from __future__ import annotations

from oyer.evidence import Chain, Envelope, Event, check_journal, journal_name, parse_event, payload_bytes
from oyer.host import boot_id, stamp
from oyer.observe import read_trial, untrue_records
from oyer.store import MemoryJournal


class SeenJournal(MemoryJournal):
    """The store's journal in memory, for one writer, with a view of what it holds."""

    def __init__(self, writer: str) -> None:
        super().__init__(Chain(writer, Envelope("s0", "t0", "r0", "baseline", 1, boot_id())), stamp)
        self.synced: list[str] = []

    def sync(self) -> None:
        """Wait for the disk, and note which event was then the last."""
        super().sync()
        self.synced.append(self.events[-1].ref)

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        return [parse_event(line) for line in self.data.split(b"\n")[:-1]]

    def of(self, kind: str) -> list[Event]:
        """All events of one kind, in order."""
        return [event for event in self.events if event.kind == kind]

    def raw(self, event: Event, key: str = "payload") -> bytes:
        """The bytes of one payload, proven."""
        return payload_bytes(event.body[key], self.contents.get)

    def faults(self) -> list[tuple[str, str, str]]:
        """Where, class and message of every fault."""
        return [(event.body["where"], event.body["class"], event.body["message"]) for event in self.of("fault")]

    def everything(self) -> bytes:
        """All bytes that would be on disk."""
        return b"".join([self.data, *self.contents.values()])

    def require_whole(self) -> None:
        """Seal the journal and have the real check pass it, and what it says of a model pass beside the bytes of it."""
        self.seal()
        checked = check_journal(self.data, writer=self.writer)
        assert not checked.defects, checked.defects
        # What was declared stands in a journal that this one has not beside it.
        untrue = untrue_records(read_trial({journal_name(self.writer): self.data}, self.contents.get))
        assert not [one for one in untrue if "declared fault" not in one[0]]
