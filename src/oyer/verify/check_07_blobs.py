"""Check 7: every blob is present and right, and none is there for nothing.

Proves that each blob unfolds to the content its name and the events that cite it say, in digest and size, and that
every blob is cited by an event of some attempt. What a crash tore off a journal may have cited a blob that nothing
cites now: where an attempt is unfinished such a blob is named and is no defect. Source: the design, "Raw bytes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.evidence import blob_path
from oyer.verify.attempts import AttemptReading, BlobUse
from oyer.verify.measuring import Measured
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Phase, Survey

__all__ = ["check_blobs"]

ADVICE = "the bytes that an event cites are not retained: restore the blob from a copy"


def check_blobs(survey: Survey, attempts: Sequence[AttemptReading], measured: Mapping[str, Measured]) -> Check:
    """Check every blob as it was measured, and every reference to one."""
    found = Findings(7, "blobs", ADVICE)
    cited: dict[str, BlobUse] = {}
    for attempt in attempts:
        for use in attempt.blobs:
            first = cited.setdefault(use.digest, use)
            if first.size != use.size:
                found.failed("E-BLOB-SIZE", f"two events state other sizes of one blob: {first.where}", use.where)
    present = {survey.parts[path].name for path in survey.of("blob")}
    for path in survey.of("blob"):
        _one(survey, path, measured[path], cited.get(survey.parts[path].name), found)
    for digest in sorted(set(cited) - present):
        found.failed("E-BLOB-MISSING", f"the blob cited by {cited[digest].where} is not there", blob_path(digest))
    _unreferenced(survey, attempts, sorted(present - set(cited)), found)
    if survey.phase is Phase.UNOPENED:
        found.open("E-SERIES-NONE", "the series was never opened: nothing was retained", "ledger.jsonl")
    return found.close(f"{len(present)} blobs unfold to what their names and events say; each is cited")


def _one(survey: Survey, path: str, one: Measured, use: BlobUse | None, found: Findings) -> None:
    if one.problem is not None:
        found.failed(one.problem.code, one.problem.message, path)
    elif one.digest != survey.parts[path].name:
        found.failed("E-BLOB-DIGEST", "the content is not the one that its name says", path)
    elif use is not None and use.size != one.size:
        found.failed("E-BLOB-SIZE", f"it holds {one.size} bytes and {use.where} states {use.size}", path)


def _unreferenced(survey: Survey, attempts: Sequence[AttemptReading], digests: list[str], found: Findings) -> None:
    """A blob that nothing cites: a defect, unless a journal that may have cited it could not be read to its end."""
    unread = [attempt for attempt in attempts if not attempt.read_to_the_end]
    broken = [attempt for attempt in unread if attempt.must_be_whole or attempt.missing or attempt.unreadable]
    for digest in digests:
        path = blob_path(digest)
        if broken:
            found.open("E-BLOB-UNCITED", f"whether {broken[0].name} cites it cannot be read", path, "see check 5")
        elif unread or survey.phase is Phase.OPEN:
            found.note(f"{path} is cited by nothing that was kept: an unfinished attempt may have written it")
        else:
            found.failed("E-BLOB-UNCITED", "no event cites it", path, "remove it")
