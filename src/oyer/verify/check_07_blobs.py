"""Check 7: every blob is present and right, and none is there for nothing.

Proves that each blob unfolds to the content its name and the events that cite it say, in digest and size, and that
every blob is cited by an event of some attempt. What a crash tore off a journal may have cited a blob that nothing
cites now: where an attempt is unfinished such a blob is named and is no defect. Source: the design, "Raw bytes".
"""

from __future__ import annotations

from collections.abc import Sequence

from oyer.errors import EvidenceError, Problem
from oyer.evidence import blob_path, measure_blob_pieces
from oyer.verify.attempts import AttemptReading, BlobUse
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Phase, Survey, read_part

__all__ = ["check_blobs"]

ADVICE = "the bytes that an event cites are not retained: restore the blob from a copy"


def check_blobs(survey: Survey, attempts: Sequence[AttemptReading]) -> Check:
    """Check every blob on disk, one at a time, and every reference to one."""
    found = Findings(7, "blobs", ADVICE)
    cited: dict[str, BlobUse] = {}
    for attempt in attempts:
        for use in attempt.blobs:
            first = cited.setdefault(use.digest, use)
            if first.size != use.size:
                found.failed("E-BLOB-SIZE", f"two events state other sizes of one blob: {first.where}", use.where)
    present = {survey.parts[path].name for path in survey.of("blob")}
    for path in survey.of("blob"):
        _one(survey, path, cited.get(survey.parts[path].name), found)
    for digest in sorted(set(cited) - present):
        found.failed("E-BLOB-MISSING", f"the blob cited by {cited[digest].where} is not there", blob_path(digest))
    _unreferenced(survey, attempts, sorted(present - set(cited)), found)
    if survey.phase is Phase.UNOPENED:
        found.open("E-SERIES-NONE", "the series was never opened: nothing was retained", "ledger.jsonl")
    return found.close(f"{len(present)} blobs unfold to what their names and events say; each is cited")


def _one(survey: Survey, path: str, use: BlobUse | None, found: Findings) -> None:
    problems: dict[str, tuple[Problem, ...]] = {}
    pieces = read_part(survey.reader.pieces, path, problems)
    if pieces is None:
        found.failed(problems[path][0].code, problems[path][0].message, path)
        return
    try:
        digest, size = measure_blob_pieces(pieces)
    except EvidenceError as error:
        found.failed(error.code, error.problems[0].message, path)
        return
    if digest != survey.parts[path].name:
        found.failed("E-BLOB-DIGEST", "the content is not the one that its name says", path)
    elif use is not None and use.size != size:
        found.failed("E-BLOB-SIZE", f"it holds {size} bytes and {use.where} states {use.size}", path)


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
