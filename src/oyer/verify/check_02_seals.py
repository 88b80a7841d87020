"""Check 2: exactly these files, with exactly these stored bytes.

Proves that every seal is whole and follows the one before, that every file it lists is there unchanged (size and
digest of the bytes on the disk), and that nothing else is there: no file outside the seals, no link, no name that no
part of a series has. Of a bundle it proves first that its members are exactly those of its manifest. Apart from that
stand `index.sqlite`, which is derived and never trusted, and what a crash left in `.tmp`, which nothing ever reads.
Source: the design's evidence page, "Store on disk" and check 2.
"""

from __future__ import annotations

from oyer.errors import OyerError
from oyer.evidence import ANNOUNCED, StoredFile, check_seals, is_sealable, seal_path
from oyer.verify.comparing import Derivation
from oyer.verify.manifest import compare_manifest
from oyer.verify.reading import Bundled
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Phase, Survey, shown

__all__ = ["check_seals_exact", "last_seal"]

ADVICE = "compare with a copy that was made when the series was sealed; a changed series proves nothing"
TAKEN_BACK = "`oyer judge` takes back what an interrupted act left, and judges again"
INTERRUPTED = "the act that wrote it was interrupted before its seal; deriving again gives the same bytes"


def check_seals_exact(survey: Survey, derivation: Derivation, bundle: Bundled | None = None) -> Check:
    """Check the manifest of a bundle, and the seals against each other and against every file that is there."""
    found = Findings(2, "seals", ADVICE)
    if bundle is not None:
        compare_manifest(bundle, found)
    for stray in survey.strays:
        found.failed(stray.code, stray.message, stray.where, "only plain files belong in a series: remove it")
    _names(survey, found)
    if survey.phase is Phase.UNOPENED:
        found.open("E-SERIES-NONE", "the series was never opened: nothing was sealed", "ledger.jsonl")
    elif survey.phase is Phase.OPEN and not survey.seals and not survey.of("seal"):
        found.open(
            "E-SERIES-OPEN",
            "the series was not closed: nothing was sealed",
            "ledger.jsonl",
            "run the plan again, in a new directory",
        )
    elif survey.phase is Phase.CLOSED and not survey.of("seal", "outcome", "comparison", "judgement", "set", "later"):
        # Nothing was derived and nothing claims to be sealed: the run ended between its last two steps.
        found.open(
            "E-SEAL-MISSING",
            "the series was closed and not sealed: nothing commits to its files",
            seal_path(1),
            "run the plan again, in a new directory",
        )
    else:
        _sealed(survey, derivation, found)
    return found.close(f"{_count(survey)} files are exactly those of {len(survey.seals)} seals")


def last_seal(survey: Survey) -> str | None:
    """Return the digest of the last seal, None where there is none or it does not hold."""
    seals = survey.parsed_seals
    return seals[-1].digest if seals and seals[-1] is not None else None


def _count(survey: Survey) -> int:
    return sum(part.kind not in {"index", "temporary", "seal"} for part in survey.parts.values())


def _names(survey: Survey, found: Findings) -> None:
    """What no part of a series is called, what a crash left, and what is derived."""
    for path, part in survey.parts.items():
        if part.kind == "unknown":
            found.failed("E-SEAL-PATH", "no part of a series has this name", shown(path), "remove it")
        elif part.kind == "temporary":
            hint = TAKEN_BACK if ANNOUNCED in survey.parts else "remove it"
            found.open("E-STORE-TEMP", "a write was interrupted: the file is no evidence", shown(path), hint)
        elif part.kind == "index":
            found.note(f"{path} is derived; it was not looked at")


def _sealed(survey: Survey, derivation: Derivation, found: Findings) -> None:
    if survey.phase is Phase.OPEN:
        found.failed("E-SEAL-OPEN", "there are seals, and the ledger does not say that it was closed", "ledger.jsonl")
    if not survey.seals:
        found.failed("E-SEAL-MISSING", "the ledger goes on to a seal, and there is none", seal_path(1))
    for path in survey.of("seal"):
        if path not in {seal_path(number) for number in range(1, len(survey.seals) + 1)}:
            found.failed("E-SEAL-NUMBER", "the seal stands apart: a seal before it is missing", path)
    for path, problems in survey.problems.items():
        if path.startswith("seals/"):
            found.failed(problems[0].code, problems[0].message, path)
    stored = _stored(survey, found)
    broken = _acts(survey, found)
    for problem in check_seals(survey.seals, stored):
        if problem.code != "E-SEAL-UNSEALED":
            found.failed(problem.code, problem.message, problem.where)
        elif broken:
            continue  # said once below: which files a broken seal lists is not known
        elif problem.where in derivation.equal and not survey.judged:
            found.open("E-SEAL-UNSEALED", "the file is in no seal yet", problem.where, INTERRUPTED)
        else:
            found.failed(problem.code, problem.message, problem.where)
    if broken:
        found.failed("E-SEAL-UNSEALED", "its files cannot be told from files that were added", seal_path(broken[0]))


def _stored(survey: Survey, found: Findings) -> dict[str, StoredFile]:
    """Measure every file that a seal can list, a piece at a time."""
    stored: dict[str, StoredFile] = {}
    for path, part in survey.parts.items():
        if part.kind in {"unknown", "temporary"} or not is_sealable(path):
            continue
        try:
            measured = survey.reader.file(path)
        except OyerError as error:
            found.failed(error.code, error.problems[0].message, path)
            continue
        if measured is not None:
            stored[path] = measured
    return stored


def _acts(survey: Survey, found: Findings) -> list[int]:
    """Return the numbers of broken seals; the first act of a series is the one that ran (or imported) it."""
    seals = survey.parsed_seals
    if seals and seals[0] is not None and seals[0].act not in {"run", "import"}:
        found.failed("E-SEAL-ACT", f"the first seal is of the act {seals[0].act!r}", seal_path(1))
    return [number for number, seal in enumerate(seals, start=1) if seal is None]
