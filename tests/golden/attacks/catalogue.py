"""The whole catalogue, and why some cells of mechanism x kind of file are empty."""

from __future__ import annotations

from attacks import on_bundle, on_journals, on_judging, on_pressure, on_records, on_sequences, on_stops, on_store
from attacks.kinds import JOURNALS, KINDS, MECHANISMS, Attack

__all__ = ["CANNOT_EXIST", "CATALOGUE", "reason_for"]

CATALOGUE: tuple[Attack, ...] = (
    *on_records.ROWS,
    *on_journals.ROWS,
    *on_store.ROWS,
    *on_judging.ROWS,
    *on_pressure.ROWS,
    *on_sequences.ROWS,
    *on_stops.ROWS,
    *on_bundle.ROWS,
)

_NO_TIME = "it holds no time, and a field put in is the cell 'add'"
_ONE = "there is one in a bundle, so nothing to change places with"
_DERIVED = "it follows from evidence: made anew from changed evidence it is the cell of that evidence, else 'edit'"
_NO_KEY = "no key signs it alone: signatures stand over plan and bundle"

_RESULTS = ("outcomes", "comparisons", "judgements", "sets")

CANNOT_EXIST: dict[tuple[str, str], str] = {
    **{("key", kind): _NO_KEY for kind in KINDS if kind not in {"plan signature", "signature"}},
    **{("recreate", kind): _DERIVED for kind in _RESULTS},
    **{("backdate", kind): _NO_TIME for kind in ("plan", "pins", *_RESULTS)},
    ("backdate", "blobs"): "a frame holds no time; whatever else is put into it is the cell 'form'",
    ("swap", "series.json"): _ONE,
    ("recreate", "plan signature"): "made anew it is signed by another key: the cell 'key'",
    ("recreate", "archive"): "it is written from its members in one form: made anew it is the same",
}


def reason_for(mechanism: str, kind: str) -> str | None:
    """Return why a cell cannot exist, None where it can."""
    return CANNOT_EXIST.get((mechanism, kind))


def empty_cells() -> list[tuple[str, str]]:
    """Return the cells with neither an attack nor a reason, and those with both."""
    attacked = {(attack.mechanism, attack.kind) for attack in CATALOGUE}
    every = {(mechanism, kind) for mechanism in MECHANISMS for kind in KINDS}
    return sorted((every - attacked - set(CANNOT_EXIST)) | (attacked & set(CANNOT_EXIST)) | (attacked - every))


assert set(JOURNALS) <= set(KINDS)
