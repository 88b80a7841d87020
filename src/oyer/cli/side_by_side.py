"""Work on several things at a time, each in a process of its own, and the results in the order of the things.

Owns the processes: they are forked, so that what was loaded once is there for all of them, and none outlives this one.
Must never swallow an error, or leave a process behind that still works.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from oyer.errors import HarnessError, OyerError, Problem
from oyer.host import end_with

__all__ = ["cores", "one_by_one", "side_by_side"]

T = TypeVar("T")
R = TypeVar("R")

_TOLD_EVERY_S = 1.0

_work: Callable[[int], object] | None = None
_stopped: Any = None
_parent = 0


def cores() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def one_by_one(things: Sequence[T], work: Callable[[T], R], told: Callable[[int], None]) -> list[R]:
    """Work on each thing in turn; `told` is called with how many are done."""
    found: list[R] = []
    for done, thing in enumerate(things):
        told(done)
        found.append(work(thing))
    return found


def side_by_side(things: Sequence[T], work: Callable[[T], R], told: Callable[[int], None], *, jobs: int) -> list[R]:
    """Work on `jobs` things at a time. Raises: what the first of them raised, once nothing works any more.

    What is worked with is that of this moment: nothing that a process changes is seen by another.
    """
    global _work, _stopped
    if jobs < 2 or len(things) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return one_by_one(things, work, told)
    _work = lambda index: work(things[index])  # noqa: E731 - what is forked finds it here, unpickled
    context = multiprocessing.get_context("fork")
    _stopped = context.Event()
    pool = ProcessPoolExecutor(min(jobs, len(things)), mp_context=context, initializer=_begin, initargs=(os.getpid(),))
    try:
        waiting = [pool.submit(_at, index) for index in range(len(things))]
        left = set(waiting)
        while left:
            told(len(things) - len(left))
            ended, left = wait(left, timeout=_TOLD_EVERY_S, return_when=FIRST_COMPLETED)
            for future in ended:
                _require(future.result())
        return [future.result() for future in waiting]
    except BrokenProcessPool:
        told_so = "a process that worked on a case was ended from outside"
        raise HarnessError(
            "E-WORKER-ENDED", told_so, hint="is there memory enough? with --jobs 1 there is one"
        ) from None
    finally:
        _stopped.set()  # a process may have been given its next thing already
        pool.shutdown(wait=True, cancel_futures=True)
        _work = None


def _begin(parent: int) -> None:
    global _parent
    _parent = parent
    end_with(parent)
    # Whoever stops the program stops it as a whole: the trials that run are sealed by those who run them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Failed:
    """An error on its way from one process to another: its class and what it says."""

    def __init__(self, kind: type[OyerError], problems: tuple[Problem, ...]) -> None:
        self.kind = kind
        self.problems = problems


def _at(index: int) -> Any:
    assert _work is not None
    if _stopped.is_set():
        return None
    try:
        return _work(index)
    except OyerError as error:
        return _Failed(type(error), error.problems)
    finally:
        if os.getppid() != _parent:
            os._exit(1)  # what runs was sealed, and nobody is there any more to be told


def _require(found: object) -> None:
    if isinstance(found, _Failed):
        raise found.kind.of(found.problems)
