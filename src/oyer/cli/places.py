"""Series directories: opening one to read, and choosing where a new one goes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from oyer.errors import UsageError

if TYPE_CHECKING:
    from oyer.store import SeriesReader

__all__ = ["new_series_path", "open_series_reader"]

RUNS = Path("runs")


def open_series_reader(path: Path) -> SeriesReader:
    """Open a series directory to read it.

    Raises: UsageError E-PATH for what is no directory, E-SERIES-NONE for a directory that holds no series at all.
    """
    from oyer.store import SeriesReader

    try:
        names = sorted(os.listdir(path))  # noqa: PTH208
    except OSError as error:
        told = "there is no such directory" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise UsageError("E-PATH", told, where=str(path), hint="name the directory of a series") from error
    parts = {"series.json", "plan.json", "ledger.jsonl", "trials", "seals", "pins"}
    if not parts & set(names):
        what = "an empty directory" if not names else "nothing in this directory belongs to a series"
        raise UsageError("E-SERIES-NONE", what, where=str(path), hint="name the directory of a series")
    return SeriesReader(path)


def new_series_path(out: Path | None) -> Path:
    """Return where a new series goes: `out`, or a fresh name under `runs/`. Nothing is written.

    Raises: UsageError E-OUT-NOT-DIR, E-OUT-NOT-EMPTY where something is there already.
    """
    if out is None:
        from oyer.host import stamp

        day, moment = stamp().t_wall.split("T", 1)
        clock = "".join(letter for letter in moment[:8] if letter.isdigit())
        return RUNS / f"{day.replace('-', '')}-{clock}-{secrets.token_hex(3)}"
    hint = "a series never overwrites: name a new directory"
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UsageError(
                "E-OUT-NOT-DIR", "something that is no directory is there already", where=str(out), hint=hint
            )
        if out.exists() and any(out.iterdir()):
            raise UsageError("E-OUT-NOT-EMPTY", "the directory is not empty", where=str(out), hint=hint)
    except OSError as error:
        raise UsageError("E-PATH", error.strerror or str(error), where=str(out)) from error
    return out
