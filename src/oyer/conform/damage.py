"""What a vector says happened to a journal after it was sealed. Must never mend what it breaks."""

from __future__ import annotations

from oyer.conform.declaring import SERVER, SINK
from oyer.conform.vectors import ArmState

__all__ = ["damage"]


def damage(lines: dict[str, list[bytes]], state: ArmState) -> None:
    """Break the journals of an arm in place, as its `trace` and `sink.journal` say."""
    _break(lines, f"tap:{SERVER}", state.trace)
    _break(lines, f"sink:{SINK}", state.sink.journal)


def _break(lines: dict[str, list[bytes]], writer: str, how: str) -> None:
    journal = lines[writer]
    middle = len(journal) // 2
    if how == "missing":
        del lines[writer]
    elif how == "truncated":
        journal.pop()
    elif how == "gap":
        del journal[middle - 1 : middle]
    elif how == "reordered":
        journal[:-1] = journal[-2::-1]
    elif how == "duplicated":
        journal[middle:middle] = journal[middle - 1 : middle]
    elif how == "edited":
        journal[middle - 1] = journal[middle - 1].replace(b'"connection":0', b'"connection":1')
