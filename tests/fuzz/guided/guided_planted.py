"""Harnesses that are wrong on purpose: the machinery must report each of them."""

from __future__ import annotations

import time

from guided import named

from oyer.errors import EvidenceError, RecordError


def wrong_error(data: bytes) -> None:
    """Let an error escape that is an OyerError, but not the documented one."""

    def raise_it() -> None:
        if data[:1] == b"!":
            raise RecordError("E-PLANTED", "planted")

    named(EvidenceError, raise_it)


def hang(data: bytes) -> None:
    """Never come back from one input."""
    while data[:1] == b"!":
        pass


def growth(data: bytes) -> None:
    """Take more memory than any input is worth."""
    held = []
    while data[:1] == b"!" and len(held) < 64:
        held.append(b"x" * (64 << 20))
        time.sleep(0.1)  # memory is looked at once a second
