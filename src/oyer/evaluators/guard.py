"""Foreign code held to its bounds: whatever a plug-in raises, prints or waits for, the command goes on.

Owns what surrounds every call into a plug-in: everything it raises is its own failure (`SystemExit` and a
`KeyboardInterrupt` of its own making too), what it prints goes to standard error, and its time is bounded. Must never
swallow the operator's interrupt. It is no sandbox: code that ends the process, or that catches everything for ever, is
not stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

__all__ = ["PATIENCE_S", "Failure", "guarded", "plain_text", "told_of"]

PATIENCE_S = 60.0
"""Seconds that a plug-in has to load, and for each trial that it judges."""
_AGAIN_S = 1.0
_TOLD_LIMIT = 500
T = TypeVar("T")


class Failure(Exception):
    """What a plug-in came to instead of an answer: a sentence, and whether its time was up."""

    def __init__(self, told: str, *, late: bool = False) -> None:
        self.told = told
        self.late = late
        super().__init__(told)


class _TimeUp(BaseException):
    """Raised inside a plug-in whose time is up; no `except Exception` of its own holds it."""


class _Watch:
    """What the signal handlers note while foreign code runs."""

    def __init__(self) -> None:
        self.running = True
        self.interrupted = False
        self.late = False


def guarded(act: Callable[[], T], patience_s: float = PATIENCE_S) -> T:
    """Run foreign code. `act` must return plain values: what it returns is used outside of the guard.

    Raises: Failure for whatever it raises; KeyboardInterrupt only where the operator sent one.
    """
    watch = _Watch()
    try:
        with _signals(watch, patience_s), _aside():
            value = act()
    except BaseException as failure:  # noqa: BLE001 - foreign code: whatever it raises is its own
        watch.running = False
        if watch.interrupted:
            raise KeyboardInterrupt from None
        if watch.late:
            raise Failure(f"it took longer than {patience_s:g} seconds", late=True) from None
        raise Failure(told_of(failure)) from None
    if watch.interrupted:
        raise KeyboardInterrupt
    if watch.late:
        raise Failure(f"it took longer than {patience_s:g} seconds", late=True)
    return value


def told_of(failure: BaseException) -> str:
    """Return `Type: message` of a foreign exception; the type alone where its message cannot be had."""
    name = str.__str__(type.__dict__["__name__"].__get__(type(failure)))
    try:
        return f"{name}: {plain_text(failure)}"[:_TOLD_LIMIT]
    except BaseException:  # noqa: BLE001 - foreign code again
        return name


def plain_text(value: object) -> str:
    """Return a foreign value as a text that is nothing but a text. Raises whatever its `__str__` raises."""
    return str.__str__(value if isinstance(value, str) else str(value))


@contextlib.contextmanager
def _signals(watch: _Watch, patience_s: float) -> Iterator[None]:
    """Note an interrupt and bound the time; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: FrameType | None) -> None:
        watch.interrupted = True
        if callable(before):
            before(number, frame)
        if watch.running:
            raise KeyboardInterrupt

    def late(_number: int, _frame: FrameType | None) -> None:
        if watch.running:
            watch.late = True
            raise _TimeUp

    alarm = signal.signal(signal.SIGALRM, late)
    if callable(before):  # else it is ignored, or somebody else's
        signal.signal(signal.SIGINT, interrupted)
    # Again every second: the first may end in a handler of the plug-in's own.
    signal.setitimer(signal.ITIMER_REAL, patience_s, _AGAIN_S)
    try:
        yield
    finally:
        watch.running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if alarm is None else alarm)


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """Send to standard error what is written to standard output, by Python or by number: that is the command's own."""
    kept = None
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)
