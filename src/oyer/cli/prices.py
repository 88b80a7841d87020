"""Price tables: from a file that is named, else from the project file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from oyer.cli.one_record import read_one_record
from oyer.records import Price, PriceTable

if TYPE_CHECKING:
    from oyer.cli.project import PlacedProject

__all__ = ["read_prices"]

_LARGEST_BYTES = 1 << 20


def read_prices(file: Path | None, project: PlacedProject | None) -> Mapping[str, Price]:
    """Return what models cost, by name; nothing where nobody says it. Raises: UsageError, RecordError."""
    if file is None:
        return {} if project is None else project.project.prices
    told = ("price table", "a price table")
    form = "PriceTable@1"
    return read_one_record(
        file, form, PriceTable, largest_bytes=_LARGEST_BYTES, called=told, hint=f"oyer: {form}"
    ).prices
