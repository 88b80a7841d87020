"""Price tables: from a file that is named, else from the project file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from oyer.errors import RecordError, UsageError
from oyer.records import Price, PriceTable, parse_documents, validate

if TYPE_CHECKING:
    from oyer.cli.project import PlacedProject

__all__ = ["read_prices"]

_LARGEST_BYTES = 1 << 20


def read_prices(file: Path | None, project: PlacedProject | None) -> Mapping[str, Price]:
    """Return what models cost, by name; nothing where nobody says it. Raises: UsageError, RecordError."""
    if file is None:
        return {} if project is None else project.project.prices
    try:
        with file.open("rb") as source:
            data = source.read(_LARGEST_BYTES)
    except OSError as error:
        raise UsageError("E-PATH", f"cannot be read: {error.strerror or error}", where=str(file)) from error
    documents = parse_documents(data, name=str(file))
    if len(documents) != 1:
        raise RecordError("E-RECORD-TYPE", f"{len(documents)} documents, not one price table", where=str(file))
    table = validate(documents[0], {"PriceTable@1": PriceTable})
    if not isinstance(table, PriceTable):
        raise RecordError("E-RECORD-KIND", "not a price table", where=str(file), hint="oyer: PriceTable@1")
    return table.prices
