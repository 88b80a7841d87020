"""Writing to standard output and error: what cannot be shown is escaped, what cannot be written is no traceback.

Owns the last step before the operating system. A closed pipe is silence from then on; a full disk is an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TextIO

from oyer.errors import HarnessError

__all__ = ["can_encode", "write_out"]


def can_encode(stream: TextIO, text: str) -> bool:
    """Tell whether a stream's encoding has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write_out(stream: TextIO, text: str) -> None:
    """Write and flush. Raises HarnessError E-OUTPUT where the output cannot be written though somebody is reading."""
    encoding = stream.encoding or "ascii"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        if error.errno in (errno.EPIPE, errno.EBADF):
            return
        raise HarnessError("E-OUTPUT", f"the output cannot be written: {error.strerror}") from error


def _silence(stream: TextIO) -> None:
    """Send what is buffered, and all that follows, nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
