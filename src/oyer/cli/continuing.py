"""`--continues`: a new series that cites an old one, by the digest of its last seal. Nothing is pooled.

Owns what may be cited: a series in which nothing fails and which was sealed at least once. Must never extend the old
series, nor count anything of it in the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oyer.cli.verify import verify_path
from oyer.errors import EvidenceError, Problem

__all__ = [
    "CONTINUES",
    "REPLAYS",
    "cited",
    "cited_by",
    "continues_value",
    "continues_words",
    "replays_words",
    "words_of",
]

CONTINUES = "continues"
"""The extension of a manifest that names the old series."""
REPLAYS = "replays"
"""The extension that names the series whose recorded answers stood in for model endpoints."""


def cited(path: Path, code: str = "E-CONTINUES") -> dict[str, Any]:
    """Return what a new series says of an old one.

    Raises: EvidenceError `E-CONTINUES` (or another `code`); UsageError where there is none.
    """
    found = verify_path(path)
    problems = [
        Problem(code, f"check {check.number} ({check.name}) failed: {check.detail}", str(path),
                "see `oyer verify`; what does not hold is not built upon")
        for check in found.checks
        if check.status == "failed"
    ]  # fmt: skip
    if not problems and (found.head is None or found.series is None):
        problems = [Problem(code, "it was never sealed, so there is nothing to cite", str(path))]
    if problems:
        raise EvidenceError.of(problems)
    return {"series": found.series, "seal": found.head}


def continues_value(extensions: Mapping[str, Any], name: str = CONTINUES) -> dict[str, Any] | None:
    """Return what a manifest says it continues (or replays), None where it says nothing that can be read."""
    said = extensions.get(name)
    if not isinstance(said, Mapping) or not all(isinstance(said.get(name), str) for name in ("series", "seal")):
        return None
    return {"series": said["series"], "seal": said["seal"]}


def continues_words(said: Mapping[str, Any]) -> str:
    """Say it, and what it does not mean."""
    return f"It continues series {said['series']} (last seal {said['seal']}): nothing of that is counted here."


def replays_words(said: Mapping[str, Any]) -> str:
    """Say that no model was asked, and where the answers came from."""
    told = f"It replays series {said['series']} (last seal {said['seal']})"
    return f"{told}: every answer of a model is from there, and none was asked."


def cited_by(options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a new series says of the old ones that the flags name, by extension. Raises: as `cited`."""
    named = ((CONTINUES, options["continues"], "E-CONTINUES"), (REPLAYS, options["replay"], "E-REPLAY"))
    return {name: cited(path, code) for name, path, code in named if path is not None}


def words_of(said: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Say all of it."""
    words = {CONTINUES: continues_words, REPLAYS: replays_words}
    return tuple(words[name](value) for name, value in said.items())
