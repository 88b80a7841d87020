"""Documents, canonical records and case files out of any bytes."""

from __future__ import annotations

from typing import Any

from guided import named

from oyer.errors import RecordError
from oyer.records import canonical_bytes, digest, parse_canonical, parse_cases, parse_documents


def documents(data: bytes) -> None:
    """Read bytes as YAML or JSON, and as a canonical record."""
    for name in ("f.yaml", "f.json"):
        read = named(RecordError, lambda name=name: parse_documents(data, name=name))
        assert read is None or all(_plain(document.value) for document in read)
    value = named(RecordError, lambda: (parse_canonical(data),))
    assert value is None or canonical_bytes(value[0]) == data


def cases(data: bytes) -> None:
    """Read a case file; a case that is read has a digest that reading it again gives, and no other."""
    read = named(RecordError, lambda: parse_cases(data, name="f"))
    for loaded in read or ():
        assert digest(loaded.case) == loaded.digest
        again = parse_cases(canonical_bytes(loaded.case), name="f.json")
        assert [item.digest for item in again] == [loaded.digest]


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_plain, value))
    return value is None or type(value) in (str, int, float, bool)
