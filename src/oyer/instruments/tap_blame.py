"""Whose doing it may be that a server failed its client.

Owns what a tap has seen of a subject that could have brought a failure about, and the class of fault that follows. A
failure is the server's only where nothing on record could have been the subject's doing: else it could buy itself a
trial that counts for nothing, or another attempt. Must never decide that the subject did it.
"""

from __future__ import annotations

import signal
from typing import Final

from oyer.host import Exit
from oyer.protocol import UNDECIDED_EXIT

__all__ = ["NOT_EXCLUDED", "SERVERS", "Oddities", "ended_by_somebody", "late_for"]

SERVERS: Final = "dependency_unavailable"
NOT_EXCLUDED: Final = "subject_not_excluded"
"""The class of a fault that the subject may have brought about, where nothing shows that somebody else did."""

_MANY: Final = 32
"""So many requests at once no agent needs, and a server may take its time over."""
_SIGNALS: Final = frozenset(signal.valid_signals())
_OF_A_SHELL: Final = 128
"""What a shell adds to the number of the signal that ended what it ran."""


class Oddities:
    """What the subject did on one tap that no client should, in the order it was noticed; only the first is told."""

    __slots__ = ("first",)

    def __init__(self) -> None:
        self.first: str | None = None

    def note(self, what: str) -> None:
        """The subject did this."""
        if self.first is None:
            self.first = what

    def class_of(self, message: str, suspicion: str | None = None) -> tuple[str, str]:
        """Return the class of the fault that a server failed its client, and the message with what speaks for that.

        `suspicion` says what of this failure itself may be the subject's doing.
        """
        why = suspicion or self.first
        if why is None:
            return SERVERS, message
        return NOT_EXCLUDED, f"{message} (the subject may have brought this about: {why})"


def late_for(others: int, *, is_unread: bool) -> str | None:
    """Say what of an answer that did not come in time may be the subject's doing, None where nothing is.

    `others` counts the requests that wait beside it; `is_unread` says that the subject did not read what came for it.
    """
    if is_unread:
        return "it did not read what it was sent"
    return f"it had {others + 1} requests under way" if others >= _MANY else None


def ended_by_somebody(end: Exit | None, *, is_bridged: bool = False) -> str | None:
    """Say what of the end of a server's process may be the subject's doing, None where nothing is.

    `is_bridged`: the process is one of ours between transports, which says by its code that a server refused what was
    sent to it.
    """
    if end is None:
        return None
    if is_bridged and end.code == UNDECIDED_EXIT:
        return "the server refused what was sent to it"
    number = end.signal if end.signal is not None else (end.code or 0) - _OF_A_SHELL
    if number in _SIGNALS:  # a server also ends by one on its own, which nobody can see
        return f"signal {number} may have been sent by anybody"
    return None
