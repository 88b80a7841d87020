"""Writing to standard output and error: what cannot be shown is escaped, what cannot be written is no traceback.

Owns the last step before the operating system. A closed pipe is silence from then on; a full disk is an error; a
secret that was told to `hide` is its mark, whoever wrote the text.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any, TextIO

from oyer.errors import HarnessError

if TYPE_CHECKING:
    from oyer.evidence import Redactor

__all__ = ["can_encode", "hide", "holds_hidden", "without_hidden", "write_out"]


class _Hidden:
    """The secrets of this process: nothing of them is printed."""

    secrets: dict[str, bytes] = {}
    redactor: Redactor | None = None


def hide(name: str, value: str) -> None:
    """Keep a value out of everything that is printed from now on. Raises: UsageError `E-SECRET-*`."""
    from oyer.evidence import Redactor

    secrets = _Hidden.secrets
    if value.encode() not in secrets.values():
        while name in secrets:
            name += "-2"
        _Hidden.redactor = Redactor({**secrets, name: value.encode()})
        secrets[name] = value.encode()


def without_hidden(value: Any) -> Any:
    """Return a text, or a JSON value, with a mark in the place of each hidden value."""
    return value if _Hidden.redactor is None else _Hidden.redactor.apply_value(value)


def holds_hidden(text: str) -> bool:
    """Whether a hidden value stands in a text, in any form."""
    return _Hidden.redactor is not None and _Hidden.redactor.holds_secret(text.encode("utf-8", "surrogatepass"))


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
    text = without_hidden(text)
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
