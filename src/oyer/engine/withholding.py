"""Which secrets a series has, who wants them, and what is observed of a server without them.

Owns the names. Must never write a value anywhere: replacing is `oyer.evidence`'s, where it goes is `engine.place`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.engine.place import secrets_in
from oyer.engine.request import CaseSource, RunRequest
from oyer.errors import Problem, UsageError
from oyer.evidence import Redactor
from oyer.records import ToolPin

__all__ = ["require_secrets", "secrets_of", "without_secrets"]


def require_secrets(sources: Sequence[CaseSource], given: Mapping[str, str]) -> None:
    """Refuse every case that wants a secret which nobody gave. Raises: UsageError with all of them."""
    problems = [
        Problem("E-SECRET-UNSET", f"case {source.case.id} wants {{secret.{name}}}, and nobody gave it", "--secret",
                f"--secret {name} takes it from the environment, --secret {name}=FILE from a file of mode 0600")
        for source in sources
        for name in secrets_in(source.case)
        if name not in given
    ]  # fmt: skip
    if problems:
        raise UsageError.of(problems)


def secrets_of(request: RunRequest) -> dict[str, bytes]:
    """Return what may stand nowhere in a series, by name. Two keys of one name are two secrets."""
    secrets = {name: value.encode() for name, value in request.secrets.items()}
    for spec in request.subjects:
        if not spec.key or spec.key.encode() in secrets.values():
            continue
        name, number = spec.key_name, 1
        while name in secrets:
            number += 1
            name = f"{spec.key_name}-{number}"
        secrets[name] = spec.key.encode()
    return secrets


def without_secrets(pin: ToolPin, redactor: Redactor) -> ToolPin:
    """Return a pin in which no secret stands, though the server said one. Names and problems are what it can say."""
    if not redactor.active:
        return pin
    return pin.model_copy(
        update={
            "problem": redactor.apply_value(pin.problem),
            "tools": tuple(redactor.apply_value(pin.tools)),
        }
    )
