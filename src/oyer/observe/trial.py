"""One trial's sealed journals, checked and indexed: the only way into evidence for everything above.

Pure: bytes in, values out. Must never raise on bad evidence, repair anything, or drop a defect; a caller that needs a
thing that is broken gets the defects and decides (fail closed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from types import MappingProxyType
from typing import Any

import msgspec

from oyer.errors import EvidenceError, Problem
from oyer.evidence import (
    AttemptCheck,
    Envelope,
    Event,
    body_payloads,
    check_attempt,
    inline_bytes,
    payload_bytes,
    split_ref,
)
from oyer.observe.costing import Prices
from oyer.records import Delimiters

__all__ = ["HARNESS", "Fetch", "TrialEvidence", "read_trial", "trial_of"]

Fetch = Callable[[str], bytes | None]
"""From a content digest to the blob's content, None where it is not retained."""

HARNESS = "harness"


class TrialEvidence:
    """The events of one attempt, by writer, with every defect found on the way.

    `opened` and `closed` are the bodies of `trial.opened` and `trial.closed`, None where they are missing. `envelope`
    names series, trial, run, condition and attempt.
    """

    def __init__(self, check: AttemptCheck, fetch: Fetch, defects: tuple[Problem, ...]) -> None:
        self.checks = check.journals
        self.opened = check.opened
        self.closed = check.closed
        self.envelope = check.envelope
        self.defects = defects
        self._fetch = fetch

    def apart(self) -> TrialEvidence:
        """Return the same evidence as values of their own, for code that might change what it is given."""
        other = copy(self)
        other.checks, other.opened, other.closed = deepcopy((self.checks, self.opened, self.closed))
        return other

    def until(self, t_ns: int) -> TrialEvidence:
        """Return the same evidence without the events of this moment and later ones.

        Whether it is whole, how it was opened and closed, and what its journals count stay those of all of it.
        """
        other = copy(self)
        other.checks = {
            writer: msgspec.structs.replace(check, events=tuple(e for e in check.events if e.t_mono_ns < t_ns))
            for writer, check in self.checks.items()
        }
        return other

    @property
    def run(self) -> str | None:
        """The opaque run id, None where there is no harness journal."""
        return self.envelope.run if self.envelope else None

    @property
    def status(self) -> str | None:
        """The sealed execution status, None where the trial was never closed."""
        return None if self.closed is None else str(self.closed["status"])

    @property
    def masks(self) -> Mapping[str, str]:
        """Run tokens to their placeholders, as recorded when the trial opened."""
        return {} if self.opened is None else self.opened["masks"]

    @property
    def reasoning_delimiters(self) -> Delimiters:
        """Between which texts the subject thinks in its own text, as recorded when the trial opened."""
        told = () if self.opened is None else self.opened.get("reasoning_delimiters", ())
        return tuple((opening, closing) for opening, closing in told)

    @property
    def model_faults(self) -> tuple[str, ...]:
        """The faults that were declared of the model's endpoint, as recorded when the trial opened."""
        return () if self.opened is None else tuple(self.opened.get("model_faults", ()))

    @property
    def model_source(self) -> str | None:
        """Who answered as the model, as recorded when the trial opened; None where that was not recorded."""
        return None if self.opened is None else self.opened.get("model_source")

    @property
    def prices(self) -> Prices:
        """What models cost, as recorded when the trial opened; empty where no prices were given."""
        return {} if self.opened is None else self.opened.get("prices", {})

    def events(self, writer: str, *kinds: str) -> tuple[Event, ...]:
        """Return the good events of one writer, in order, of these kinds (all without any)."""
        check = self.checks.get(writer)
        if check is None:
            return ()
        return tuple(event for event in check.events if not kinds or event.kind in kinds)

    def writers(self, prefix: str) -> tuple[str, ...]:
        """Return the names of the writers that begin with a prefix, sorted."""
        return tuple(sorted(name for name in self.checks if name.startswith(prefix)))

    def has(self, ref: str) -> bool:
        """Whether a reference names a good event of this attempt."""
        try:
            writer, seq = split_ref(ref)
        except EvidenceError:
            return False
        check = self.checks.get(writer)
        return check is not None and any(event.seq == seq for event in check.events)

    def everything(self) -> Iterator[Event]:
        """Yield every good event of every writer, writers in order of name."""
        for writer in sorted(self.checks):
            yield from self.checks[writer].events

    def payload(self, event: Event, key: str = "payload") -> bytes | None:
        """Return the content of one payload of an event, None where it is not retained or does not match its digest."""
        value = event.body.get(key)
        return None if value is None else self.payload_of(value)

    def payload_of(self, value: Mapping[str, Any]) -> bytes | None:
        """Return the content of one payload object, under the same rule as `payload`."""
        inline = inline_bytes(value)
        if inline is not None:
            return inline
        try:
            return payload_bytes(value, self._fetch)
        except EvidenceError:
            return None


def read_trial(
    journals: Mapping[str, bytes],
    fetch: Fetch,
    *,
    expect: Envelope | None = None,
    proven: Mapping[str, int] = MappingProxyType({}),
) -> TrialEvidence:
    """Check every journal of an attempt, that exactly the listed writers are there, and every blob they name.

    `proven` maps digests of blobs to their sizes where the caller has just measured them: these are not read again.
    `journals` maps file names (`tap.ops.jsonl`) to their bytes. Codes of defects are those of `check_attempt`,
    and `E-BLOB-MISSING` / `E-PAYLOAD-DIGEST` for payloads that are not retained as recorded.
    """
    return trial_of(check_attempt(journals, expect=expect), fetch, proven)


def trial_of(check: AttemptCheck, fetch: Fetch, proven: Mapping[str, int] = MappingProxyType({})) -> TrialEvidence:
    """Return the evidence of an attempt whose journals were checked already; as `read_trial` otherwise."""
    return TrialEvidence(check, fetch, (*check.defects, *_missing_payloads(check, fetch, proven)))


def _missing_payloads(check: AttemptCheck, fetch: Fetch, proven: Mapping[str, int]) -> Iterator[Problem]:
    for writer in sorted(check.journals):
        for event in check.journals[writer].events:
            if not event.blobs:
                continue
            for payload in body_payloads(event.kind, event.body):
                if not payload.get("blob") or proven.get(payload["sha256"]) == payload["size"]:
                    continue
                try:
                    payload_bytes(payload, fetch)
                except EvidenceError as error:
                    yield error.problems[0]._replace(where=event.ref)
