"""Randomness that must not be guessed: tokens, run ids, neutral names.

Owns the one place where unpredictable values are drawn. Seeded order is not random and does not live here
(it is a sort by digest, in `plan/`). A name drawn here never carries a case, arm or condition, and every
name of one kind has the same length, so that arms look alike once names are masked.
"""

from __future__ import annotations

import secrets
from typing import NewType

__all__ = ["RunId", "Token", "neutral_name", "new_run_id", "new_token"]

RunId = NewType("RunId", str)
Token = NewType("Token", str)

_NAME_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_NAME_LENGTH = 12


def new_token() -> Token:
    """Draw a token of 192 bits that is safe in a URL, a header and a file name."""
    return Token(secrets.token_urlsafe(24))


def new_run_id() -> RunId:
    """Draw a run id: `r` and 16 hexadecimal digits."""
    return RunId("r" + secrets.token_hex(8))


def neutral_name() -> str:
    """Draw a name of twelve letters and digits (60 bits) that begins with a letter and means nothing."""
    first = secrets.choice(_NAME_LETTERS[:24])
    return first + "".join(secrets.choice(_NAME_LETTERS) for _ in range(_NAME_LENGTH - 1))
