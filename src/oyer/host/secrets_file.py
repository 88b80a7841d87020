"""Reading a key from where an operator keeps it: an environment variable or a file of mode 0600.

Owns the check that nobody else can read the file. Must never log, store or repeat the value; an error names
the place, not the content.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Collection, Mapping, MutableMapping
from pathlib import Path

from oyer.errors import UsageError

__all__ = ["hide_secrets", "read_private_bytes", "read_secret", "read_secret_env", "read_secret_file"]

_MAX_SECRET_BYTES = 16 * 1024
_PR_SET_DUMPABLE = 4


def hide_secrets(values: Collection[str], environ: MutableMapping[str, str]) -> bool:
    """Take secrets out of an environment, and the memory of this process out of the reach of its user (Linux).

    A child with the environment of ours cannot inherit them then, and one of the same user cannot read them in /proc.
    Whoever started this process still has them. Returns False where the system cannot protect the memory.
    """
    for name in [name for name, value in environ.items() if value.strip() in values]:
        del environ[name]
    if not values or sys.platform != "linux":
        return not values
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def read_secret_env(name: str, environ: Mapping[str, str]) -> str:
    """Return the value of an environment variable. Raises: UsageError when it is unset or empty."""
    value = environ.get(name, "")
    if not value.strip():
        raise UsageError("E-SECRET-UNSET", f"environment variable {name} is not set", where=name, hint=f"export {name}")
    return _checked(value, name)


def read_secret_file(path: Path) -> str:
    """Return the content of a file that only its owner can read, without the last line end.

    Raises: UsageError when it is missing, no regular file, readable by others, owned by someone else, or empty.
    """
    raw = read_private_bytes(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("E-SECRET-FILE", "the key file is not UTF-8 text", where=str(path)) from error
    return _checked(text, str(path))


def read_private_bytes(path: Path) -> bytes:
    """Return the bytes of a file that only its owner can read, at most 16 KiB.

    Raises: UsageError when it is missing, no regular file, readable by others, or owned by someone else.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError("E-SECRET-FILE", f"cannot open the key file: {error.strerror}", where=str(path)) from error
    try:
        _require_private(os.fstat(descriptor), path)
        return os.read(descriptor, _MAX_SECRET_BYTES + 1)
    finally:
        os.close(descriptor)


def read_secret(*, env: str | None, file: Path | None, environ: Mapping[str, str]) -> str:
    """Return the key from the file when one is named, else from the environment variable."""
    if file is not None:
        return read_secret_file(file)
    if env is None:
        raise UsageError("E-SECRET-UNSET", "no key was named", hint="name an environment variable or a 0600 file")
    return read_secret_env(env, environ)


def _require_private(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UsageError("E-SECRET-FILE", "the key file is not a regular file", where=str(path))
    if found.st_uid not in (os.geteuid(), 0):
        raise UsageError("E-SECRET-OWNER", "the key file belongs to another user", where=str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError(
            "E-SECRET-MODE", "others can read or write the key file", where=str(path), hint=f"chmod 600 {path}"
        )


def _checked(value: str, where: str) -> str:
    text = value.strip()
    if not text or len(text.encode("utf-8")) > _MAX_SECRET_BYTES:
        raise UsageError("E-SECRET-EMPTY", "the key is empty or too long", where=where)
    if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in text):
        raise UsageError("E-SECRET-FORM", "the key holds a control character", where=where, hint="one line, one key")
    return text
