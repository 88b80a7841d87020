"""A file that holds exactly one record of one form.

Owns the reading of it, up to a size, and the words for what it is not. Must never read a second document.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from oyer.errors import RecordError, UsageError
from oyer.records import Record, parse_documents, validate

__all__ = ["read_one_record"]

R = TypeVar("R", bound=Record)


def read_one_record(
    path: Path, form: str, kind: type[R], *, largest_bytes: int, called: tuple[str, str], hint: str
) -> R:
    """Return the one record of a file. `called`: what it is told to be not one of, and what it is told not to be.

    Raises: UsageError where it cannot be read; RecordError where it holds anything else.
    """
    one, itself = called
    try:
        with path.open("rb") as source:
            data = source.read(largest_bytes)
    except OSError as error:
        raise UsageError("E-PATH", f"cannot be read: {error.strerror or error}", where=str(path)) from error
    documents = parse_documents(data, name=str(path))
    if len(documents) != 1:
        raise RecordError("E-RECORD-TYPE", f"{len(documents)} documents, not one {one}", where=str(path))
    record = validate(documents[0], {form: kind})
    if not isinstance(record, kind):
        raise RecordError("E-RECORD-KIND", f"not {itself}", where=str(path), hint=hint)
    return record
