"""Which part of a series a path is. The layout is closed: what has no place in it is named, never skipped.

Owns the reading of paths. Must never open one. Source: the design's evidence page, "Store on disk".
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from oyer.evidence import PLAN_SIGNATURE, attempt_dir, blob_path, is_stored_path, packed_path

__all__ = ["Part", "PartKind", "part_of"]

PartKind = Literal[
    "manifest",
    "plan",
    "plan_signature",
    "ledger",
    "pin",
    "seal",
    "packed",
    "journal",
    "blob",
    "outcome",
    "comparison",
    "judgement",
    "set",
    "later",
    "index",
    "temporary",
    "unknown",
]

_WHOLE: dict[str, PartKind] = {
    "series.json": "manifest",
    "plan.json": "plan",
    PLAN_SIGNATURE: "plan_signature",
    "ledger.jsonl": "ledger",
}
_INDEX = frozenset({"index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"})
_LATER = frozenset({"facts", "qualification", "interpretations", "reports"})
_PIN = re.compile(r"^pins/([0-9a-f]{64})\.json\Z")
_SEAL = re.compile(r"^seals/([0-9]{3,9})\.json\Z")
_BLOB = re.compile(r"^blobs/[0-9a-f]{2}/([0-9a-f]{64})\.zst\Z")
_PACKED = re.compile(r"^trials/[0-9a-f]{2}/([^/]+)/([1-9][0-9]{0,8})\.tar\.zst\Z")
_JOURNAL = re.compile(r"^trials/[0-9a-f]{2}/([^/]+)/([1-9][0-9]{0,8})/([^/]+)\Z")
_OUTCOME = re.compile(r"^outcomes/([^/]+)\.json\Z")
_COMPARISON = re.compile(r"^comparisons/([^/]+)\.json\Z")
_SET = re.compile(r"^sets/([^/]+)\.json\Z")
_JUDGEMENT = re.compile(r"^judgements/[0-9a-f]{64}/[0-9a-f]{64}/([^/]+)\.json\Z")


class Part(NamedTuple):
    """What a path stands for. `name` is a digest, a trial, or a comparison's or set's name; `attempt` is a trial's."""

    kind: PartKind
    name: str = ""
    attempt: int = 0


_UNKNOWN = Part("unknown")


def part_of(path: str) -> Part:
    """Return what a path is; `unknown` for what no part of a series is called."""
    if path in _INDEX:
        return Part("index")
    if path.startswith(".tmp/"):
        return Part("temporary")
    if not is_stored_path(path):
        return _UNKNOWN
    if path in _WHOLE:
        return Part(_WHOLE[path])
    head = path.partition("/")[0]
    if head == "trials":
        return _trial_part(path)
    if head in _LATER:
        return Part("later")
    return _named_part(path)


def _trial_part(path: str) -> Part:
    packed, journal = _PACKED.match(path), _JOURNAL.match(path)
    if packed is not None and path == packed_path(packed[1], int(packed[2])):
        return Part("packed", packed[1], int(packed[2]))
    if journal is not None and path.rpartition("/")[0] == attempt_dir(journal[1], int(journal[2])):
        return Part("journal", journal[1], int(journal[2]))
    return _UNKNOWN


def _named_part(path: str) -> Part:
    forms: tuple[tuple[PartKind, re.Pattern[str]], ...] = (
        ("pin", _PIN),
        ("seal", _SEAL),
        ("blob", _BLOB),
        ("outcome", _OUTCOME),
        ("comparison", _COMPARISON),
        ("set", _SET),
        ("judgement", _JUDGEMENT),
    )
    for kind, form in forms:
        found = form.match(path)
        if found is None:
            continue
        name = f"sha256:{found[1]}" if kind in {"pin", "blob"} else found[1]
        return _UNKNOWN if kind == "blob" and path != blob_path(name) else Part(kind, name)
    return _UNKNOWN
