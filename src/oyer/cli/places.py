"""Series directories and bundles: opening one to read, and choosing where a new one goes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from oyer.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from oyer.store import BundleReader, SeriesReader

__all__ = ["bundle_path", "new_series_path", "open_bundle_reader", "open_series_reader"]

RUNS = Path("runs")


def open_series_reader(path: Path) -> SeriesReader:
    """Open a series directory to read it, or the series inside a bundle.

    Raises: UsageError E-PATH for what is neither, E-SERIES-NONE for a directory that holds no series at all;
    EvidenceError E-ARCHIVE-... for a bundle that is not safe to read.
    """
    if not path.is_dir() and path.exists():
        bundle = open_bundle_reader(path)
        if not bundle.archive.intact:
            hint = "" if bundle.archive.members else "this may be no bundle at all: name the directory of a series"
            raise EvidenceError.of(
                [
                    defect._replace(where=f"{path}: {defect.where}", hint=defect.hint or hint)
                    for defect in bundle.archive.defects
                ]
            )
        return bundle
    from oyer.store import SeriesReader

    try:
        names = sorted(os.listdir(path))  # noqa: PTH208
    except OSError as error:
        missing = "there is no such file" if path.suffix == ".oyer" else "there is no such file or directory"
        told = missing if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        hint = "name the directory of a series, or a bundle"
        raise UsageError("E-PATH", told, where=str(path), hint=hint) from error
    parts = {"series.json", "plan.json", "ledger.jsonl", "trials", "seals", "pins"}
    if not parts & set(names):
        what = "an empty directory" if not names else "nothing in this directory belongs to a series"
        raise UsageError("E-SERIES-NONE", what, where=str(path), hint="name the directory of a series")
    return SeriesReader(path)


def open_bundle_reader(path: Path) -> BundleReader:
    """Open a bundle; whether it is one is for its `archive` to say. Raises: UsageError E-PATH."""
    from oyer.store import BundleReader

    return BundleReader(path)


def new_series_path(out: Path | None, under: Path | None = None) -> Path:
    """Return where a new series goes: `out`, or a fresh name under `runs/` or another place. Nothing is written.

    Raises: UsageError E-OUT-NOT-DIR, E-OUT-NOT-EMPTY where something is there already.
    """
    if out is None:
        from oyer.host import stamp

        day, moment = stamp().t_wall.split("T", 1)
        clock = "".join(letter for letter in moment[:8] if letter.isdigit())
        return (under or RUNS) / f"{day.replace('-', '')}-{clock}-{secrets.token_hex(3)}"
    hint = "a series never overwrites: name a new directory"
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UsageError(
                "E-OUT-NOT-DIR", "something that is no directory is there already", where=str(out), hint=hint
            )
        if out.exists() and any(out.iterdir()):
            raise UsageError("E-OUT-NOT-EMPTY", "the directory is not empty", where=str(out), hint=hint)
        nearest = next((parent for parent in out.parents if parent.exists()), None)
        if nearest is not None and not nearest.is_dir():
            raise UsageError(
                "E-OUT-NOT-DIR", "it is a file: no directory can be made in it", where=str(nearest), hint=hint
            )
    except OSError as error:
        raise UsageError("E-PATH", error.strerror or str(error), where=str(out)) from error
    return out


def bundle_path(series: Path) -> Path:
    """Return where the bundle of a series goes by default: beside it."""
    place = series if series.name not in {"", ".", ".."} else series.resolve()
    return place.with_name(f"{place.name}.oyer")
