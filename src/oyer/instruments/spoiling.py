"""Whose fault it is that a world cannot be looked at any more.

Owns the one rule: a world that opened as it was pinned, and then is too large, too deep, unreadable or gone, was spoilt
by whoever worked in it, and that is the subject. What no content of a world brings about (descriptors, memory) is ours.
Must never be put around a look at the opening.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from oyer.errors import HarnessError, SubjectError

__all__ = ["blame_subject"]

OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EROFS, errno.EINTR})
"""What no content of a world brings about."""


@contextmanager
def blame_subject() -> Iterator[None]:
    """Raise what keeps a look at a used world from succeeding as the subject's fault. Raises: SubjectError."""
    try:
        yield
    except HarnessError as error:
        if not error.code.startswith("E-WORLD-") or _is_ours(error.__cause__):
            raise
        raise SubjectError(error.code, error.problems[0].message, where=error.where, hint=error.hint) from error
    except OSError as error:
        if _is_ours(error):
            raise
        raise SubjectError("E-WORLD-SPOILT", f"the world cannot be read: {str(error)[:500]}") from error
    except RecursionError as error:
        raise SubjectError("E-WORLD-DEPTH", "directories are nested too deeply") from error


def _is_ours(error: BaseException | None) -> bool:
    if isinstance(error, shutil.Error):
        # A copy of a tree goes on after a failure and tells each as (source, destination, text).
        return any(f"[Errno {number}]" in str(error) for number in OURS)
    return isinstance(error, OSError) and error.errno in OURS
