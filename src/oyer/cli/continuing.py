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

__all__ = ["CONTINUES", "cited", "continues_value", "continues_words"]

CONTINUES = "continues"
"""The extension of a manifest that names the old series."""


def cited(path: Path) -> dict[str, Any]:
    """Return what a new series says of an old one. Raises: EvidenceError `E-CONTINUES`; UsageError where none is."""
    found = verify_path(path)
    problems = [
        Problem("E-CONTINUES", f"check {check.number} ({check.name}) failed: {check.detail}", str(path),
                "see `oyer verify`; what does not hold is not continued")
        for check in found.checks
        if check.status == "failed"
    ]  # fmt: skip
    if not problems and (found.head is None or found.series is None):
        problems = [Problem("E-CONTINUES", "it was never sealed, so there is nothing to cite", str(path))]
    if problems:
        raise EvidenceError.of(problems)
    return {"series": found.series, "seal": found.head}


def continues_value(extensions: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a manifest says it continues, None where it says nothing that can be read."""
    said = extensions.get(CONTINUES)
    if not isinstance(said, Mapping) or not all(isinstance(said.get(name), str) for name in ("series", "seal")):
        return None
    return {"series": said["series"], "seal": said["seal"]}


def continues_words(said: Mapping[str, Any]) -> str:
    """Say it, and what it does not mean."""
    return f"It continues series {said['series']} (last seal {said['seal']}): nothing of that is counted here."
