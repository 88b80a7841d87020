"""Where secrets are given to a command: read once, kept out of what is printed, never repeated.

Owns `--secret`. A value comes from the environment or from a file that nobody else can read, never from the words of
the command line, which every process of the machine can see.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from oyer.cli.streams import hide

__all__ = ["read_hidden", "read_secrets", "secret_option"]

secret_option = click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME[=FILE]",
    help="A secret of the environment, or of a file of mode 0600: cases name it {secret.NAME}, nothing kept holds it.",
)


def read_secrets(words: Sequence[str]) -> dict[str, str]:
    """Read what `--secret` names. Raises: UsageError `E-SECRET-*`, `E-USAGE` for a name given twice."""
    from oyer.errors import UsageError

    found: dict[str, str] = {}
    for word in words:
        name, equals, file = word.partition("=")
        if name in found:
            raise UsageError("E-USAGE", f"the secret {name} is given twice", where="--secret")
        found[name] = read_hidden(name, env=name, file=Path(file) if equals else None)
    return found


def read_hidden(name: str, *, env: str | None, file: Path | None) -> str:
    """Read one secret, and keep it out of whatever is printed from now on. Raises: UsageError `E-SECRET-*`."""
    from oyer.host import read_secret

    value = read_secret(env=env, file=file, environ=os.environ)
    hide(name, value)
    return value
