"""The recipe: what verifying a series does, in order.

Owns the order of the steps and the last line. Every check is always evaluated and none can hide another; what cannot
be read is a finding of the check in charge of it. Nothing is run, opened on a network or executed, and no recorded
result is believed. Source: the design's evidence page, "Verify".
"""

from __future__ import annotations

from oyer.verify.attempts import read_attempts
from oyer.verify.check_02_seals import check_seals_exact, last_seal
from oyer.verify.check_04_records import check_records
from oyer.verify.check_05_chains import check_chains
from oyer.verify.check_06_trials import check_trials
from oyer.verify.check_07_blobs import check_blobs
from oyer.verify.check_08_facts import check_facts
from oyer.verify.check_10_comparisons import check_comparisons
from oyer.verify.not_here import check_archive, check_judgements, check_report, check_signature
from oyer.verify.reading import Reader
from oyer.verify.rederive import derive_again
from oyer.verify.result import Check, Verification
from oyer.verify.survey import Survey, take_survey

__all__ = ["verify_series"]

LIMITS = (
    "Not proven: that whoever ran the series did not make all of it up before sealing it; whether other series of the "
    "same plan exist; who ran it (nothing here is signed)"
)


def verify_series(reader: Reader) -> Verification:
    """Verify a stored series; never raises for what is stored there.

    A file is read at most a few times, an attempt is held one at a time, a blob is unfolded in pieces.
    """
    # Read, without judging: what is there, the records, the ledger and the seals; then every attempt, one by one.
    survey = take_survey(reader)
    attempts = tuple(read_attempts(survey))
    # Derive everything again from pins and journals, before any check looks at what was recorded.
    derivation = derive_again(survey, attempts)

    checks = (
        check_archive(),  # (1): a directory was given: nothing was unpacked.
        check_seals_exact(survey, derivation),  # (2): exactly these files with exactly these stored bytes.
        check_signature(),  # (3): nothing here is signed.
        check_records(survey),  # (4): every record parses; digests match the pins and the ledger.
        check_chains(survey, attempts),  # (5): every chain intact, sealed, heads agree.
        check_trials(survey, attempts),  # (6): every planned trial accounted for, no unplanned one.
        check_blobs(survey, attempts),  # (7): every blob present and right, none for nothing.
        check_facts(survey, derivation),  # (8): the facts are those of the evidence.
        check_judgements(survey),  # (9): no judgement is recorded yet.
        check_comparisons(survey, derivation),  # (10): the comparisons are those of the evidence.
        check_report(),  # (11): no report is stored with the series.
    )
    series = survey.manifest.series if survey.manifest is not None else None
    return Verification(checks, series, last_seal(survey), _words(survey, checks))


def _words(survey: Survey, checks: tuple[Check, ...]) -> str:
    """Say in words what is proven, and what is not."""
    failed = [check for check in checks if check.status == "failed"]
    undone = [check for check in checks if check.status == "not_run"]
    if failed:
        return f"Nothing is proven: {_named(failed)} failed. {LIMITS}."
    if undone:
        return f"Intact as far as it goes, and not complete: {_named(undone)} could not be completed. {LIMITS}."
    trials = f"all {len(survey.planned)} planned trials are accounted for"
    return (
        f"Proven: since the last seal ({last_seal(survey)}) no byte was changed, added or removed; every chain is "
        f"whole; {trials}; every outcome and comparison follows from the retained evidence. {LIMITS}."
    )


def _named(checks: list[Check]) -> str:
    return ", ".join(f"check {check.number} ({check.name})" for check in checks)
