"""The recipe: what verifying a series does, in order.

Owns the order of the steps and the last line. Every check is always evaluated and none can hide another; what cannot
be read is a finding of the check in charge of it. Nothing is run, opened on a network or executed, and no recorded
result is believed. Source: the design's evidence page, "Verify".
"""

from __future__ import annotations

from collections.abc import Sequence

from oyer.adjudicate import Judge
from oyer.errors import OyerError, Problem
from oyer.verify.check_01_archive import check_archive_safe
from oyer.verify.check_02_seals import check_seals_exact, last_seal
from oyer.verify.check_03_signature import check_signature
from oyer.verify.check_04_records import check_records
from oyer.verify.check_05_chains import check_chains
from oyer.verify.check_06_trials import check_trials
from oyer.verify.check_07_blobs import check_blobs
from oyer.verify.check_08_facts import check_facts
from oyer.verify.check_09_judgements import check_judgements
from oyer.verify.check_10_comparisons import check_comparisons
from oyer.verify.measuring import measure_blobs, proven_blobs
from oyer.verify.not_here import check_report
from oyer.verify.reading import Bundled, Keys, Reader
from oyer.verify.rederive import read_and_derive
from oyer.verify.result import Check, Signatures, Verification
from oyer.verify.survey import Survey, take_survey

__all__ = ["verify_bundle", "verify_series"]

NOBODY: Sequence[Judge] = ()
"""No evaluator besides the built-in one: plug-ins are code, and run only where somebody gives them."""
MADE_UP = "that whoever ran the series did not make all of it up before sealing it"
OTHERS = "whether other series of the same plan exist"
UNREAD = ("seals", "signature", "records", "chains", "trials", "blobs", "facts", "judgements", "comparisons", "report")


def verify_series(reader: Reader, keys: Keys | None = None, asked: Sequence[Judge] = NOBODY) -> Verification:
    """Verify a stored series, and that its plan is signed by a key where one is given; never raises for what is there.

    A file is read at most a few times, the attempts of one repetition are held at a time, a blob is unfolded in pieces.
    """
    return _verify(reader, None, keys or Keys(), asked)


def verify_bundle(bundle: Bundled, keys: Keys | None = None, asked: Sequence[Judge] = NOBODY) -> Verification:
    """Verify a bundle as a series, and that it is signed by a key where one is given; nothing is extracted.

    An archive that is not safe is not read, nor is a bundle of a version that is not known.
    """
    archive = check_archive_safe(bundle)
    if not bundle.archive.intact:
        return _refused(archive, Check(2, "seals", "not_run", (_unread("the archive is not safe to read", 1),)))
    try:
        bundle.bundle_manifest()
    except OyerError as error:
        if error.code == "E-MANIFEST-VERSION":
            return _refused(archive, Check(2, "seals", "failed", error.problems, error.problems[0].message))
    return _verify(bundle, bundle, keys or Keys(), asked)


def _verify(reader: Reader, bundle: Bundled | None, keys: Keys, asked: Sequence[Judge]) -> Verification:
    # Read, without judging: what is there, the records, the ledger and the seals; then every blob, once.
    survey = take_survey(reader)
    measured = measure_blobs(survey)
    # Read every attempt, repetition by repetition, and derive everything again from pins and journals, before any
    # check looks at what was recorded.
    attempts, derivation = read_and_derive(survey, proven_blobs(survey, measured), asked)

    signature, held = check_signature(survey, bundle, keys)
    checks = (
        check_archive_safe(bundle),  # (1): a bundle is in the one form it can have, and nothing in it leads outside.
        check_seals_exact(survey, derivation, bundle),  # (2): exactly these files with exactly these stored bytes.
        signature,  # (3): signed by the keys that were given; the plan is the one that was signed.
        check_records(survey, derivation),  # (4): every record parses; digests match the pins and the ledger.
        check_chains(survey, attempts),  # (5): every chain intact, sealed, heads agree.
        check_trials(survey, attempts),  # (6): every planned trial accounted for, no unplanned one.
        check_blobs(survey, attempts, measured),  # (7): every blob present and right, none for nothing.
        check_facts(survey, derivation),  # (8): the facts are those of the evidence.
        check_judgements(survey, derivation),  # (9): the judgements are those that their evaluators make.
        check_comparisons(survey, derivation, asked),  # (10): comparisons and matched sets are those of the evidence.
        check_report(),  # (11): no report is stored with the series.
    )
    series = survey.manifest.series if survey.manifest is not None else None
    return Verification(checks, series, last_seal(survey), _words(survey, checks, held), held)


def _unread(why: str, number: int) -> Problem:
    return Problem("E-VERIFY-UNREAD", why, "", f"see check {number}")


def _refused(archive: Check, second: Check) -> Verification:
    """Every further check exists and was not run: nothing is guessed about what cannot be read."""
    number = 1 if archive.status == "failed" else 2
    why = "the archive is not safe to read" if number == 1 else "the bundle is of a version that is not known"
    unread = (_unread(why, number),)
    rest = [Check(n, name, "not_run", unread, why) for n, name in enumerate(UNREAD, start=2) if n > 2]
    second = second if second.detail else second._replace(detail=why)
    checks = (archive, second, *rest)
    failed = [check for check in checks if check.status == "failed"]
    words = f"Nothing is proven: {_named(failed)} failed, and nothing else was read."
    return Verification(checks, None, None, words)


def _words(survey: Survey, checks: tuple[Check, ...], held: Signatures) -> str:
    """Say in words what is proven, by whose key, and what is not."""
    failed = [check for check in checks if check.status == "failed"]
    undone = [check for check in checks if check.status == "not_run"]
    limits = _limits(held)
    if failed:
        return f"Nothing is proven: {_named(failed)} failed. {limits}"
    if undone:
        return f"Intact as far as it goes, and not complete: {_named(undone)} could not be completed. {limits}"
    trials = f"all {len(survey.planned)} planned trials are accounted for"
    return (
        f"Proven: since the last seal ({last_seal(survey)}) no byte was changed, added or removed; every chain is "
        f"whole; {trials}; every outcome and comparison follows from the retained evidence{_signers(held)}. {limits}"
    )


def _signers(held: Signatures) -> str:
    told = f"; key {held.bundle} signed this bundle" if held.bundle is not None else ""
    if held.plan is not None:
        told += f"; key {held.plan} signed the plan that the series was opened with"
    return told


def _limits(held: Signatures) -> str:
    unknown = [MADE_UP, OTHERS]
    if held.plan is not None:
        unknown.append(
            f"that the plan was signed before the results existed (its signer says {held.plan_signed}: that is worth "
            "as much as the signer is independent of whoever ran the series)"
        )
    if held.bundle is None:
        unknown.append("who ran it" if held.plan is not None else "who ran it (nothing here is proven to be signed)")
    else:
        unknown.append("who holds the key that signed it")
    return f"Not proven: {'; '.join(unknown)}."


def _named(checks: list[Check]) -> str:
    return ", ".join(f"check {check.number} ({check.name})" for check in checks)
