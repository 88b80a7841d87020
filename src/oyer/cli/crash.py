"""The note that is left when Oyer itself is at fault: enough to report a bug, nothing secret.

Owns its file. It holds the traceback (source lines, no values of variables), versions and the command's name; never
arguments or environment, which may hold what is nobody's business.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback

from oyer import __version__
from oyer.cli.streams import without_hidden

__all__ = ["write_crash_note"]


def write_crash_note(error: Exception) -> str | None:
    """Write the note to a new private file and return its path; None where that is impossible."""
    told = [
        f"oyer {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"command: {next((word for word in sys.argv[1:] if not word.startswith('-')), '(none)')}",
        "",
        *(line.rstrip("\n") for line in traceback.format_exception(error)),
        "",
    ]
    try:
        number, path = tempfile.mkstemp(prefix="oyer-crash-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as note:
            note.write(without_hidden("\n".join(told)))
    except OSError:
        return None
    return path
