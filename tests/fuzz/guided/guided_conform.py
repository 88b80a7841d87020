"""Vector files out of any bytes; whatever a vector describes can be scored."""

from __future__ import annotations

from guided import named, total

from oyer.conform import agree, parse_vectors
from oyer.errors import RecordError


def vectors(data: bytes) -> None:
    """Read a vector file and, if it is one, score its first vectors."""
    read = named(RecordError, lambda: parse_vectors(data, name="f.json"))
    if read is not None:
        total(lambda: agree(read[:2]))
