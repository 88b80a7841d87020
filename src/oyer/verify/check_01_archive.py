"""Check 1: the archive is safe to read.

Proves, before anything in it is read, that a bundle is in the one form it can have: plain members only, no absolute
path, none that leads out, no link, no name twice or in two cases, nothing cut off, added at the end or hidden between
members, no header that says more than it must; that every name is one of a series; and that nothing unfolds to more
than an archive of its size may. A directory has no archive. Source: the design's evidence page, check 1; EVID-11.
"""

from __future__ import annotations

from oyer.evidence import MANIFEST_NAME, SERIES_PREFIX, SIGNATURE_NAME
from oyer.verify.layout import part_of
from oyer.verify.reading import Bundled
from oyer.verify.result import Check, Findings

__all__ = ["check_archive_safe"]

ADVICE = "do not unpack it: ask for another copy"
NOTHING_READ = "this may be no bundle at all: name the directory of a series, or a bundle"
FOREIGN = frozenset({"unknown", "index", "temporary"})


def check_archive_safe(bundle: Bundled | None) -> Check:
    """Check the archive of a bundle."""
    if bundle is None:
        return Check(1, "archive", "not_applicable", detail="a directory, not an archive")
    found = Findings(1, "archive", ADVICE if bundle.archive.members else NOTHING_READ)
    for defect in bundle.archive.defects:
        found.failed(defect.code, defect.message, defect.where)
    for member in bundle.archive.members:
        path = member.path.removeprefix(SERIES_PREFIX)
        if member.path in {MANIFEST_NAME, SIGNATURE_NAME}:
            continue
        if part_of(path).kind in FOREIGN:
            found.failed("E-ARCHIVE-NAME", "no part of a series has this name", member.path)
    if not any(member.path == MANIFEST_NAME for member in bundle.archive.members) and bundle.archive.intact:
        found.failed("E-MANIFEST-MISSING", "it is no bundle: it has no manifest", MANIFEST_NAME)
    return found.close(f"{len(bundle.archive.members)} plain members, each in its one form and under a name of its own")
