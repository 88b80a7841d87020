"""Check 3: who signed the bundle, who signed the plan, and what that proves about the order of the two.

Proves that the envelope over a bundle is by the given key and about exactly this manifest, plan, pins, series and last
seal; that the envelope over a plan is by the given key and about exactly the plan that the ledger was opened with, and
that it does not claim to be younger than the series. It does not prove when the plan was signed: a key can sign at any
time, so that the plan came before the results is what its signer says, and worth as much as that signer is independent
of whoever ran the series. Source: the design's evidence page, "Bundle" and check 3.
"""

from __future__ import annotations

from datetime import datetime

from oyer.errors import OyerError, Problem
from oyer.evidence import (
    PLAN_SIGNATURE,
    SIGNATURE_NAME,
    PlanStatement,
    Signed,
    compare_statements,
    digest_of,
    make_bundle_statement,
    parse_plan_statement,
    parse_signed,
)
from oyer.verify.check_02_seals import last_seal
from oyer.verify.reading import Bundled, Key, Keys
from oyer.verify.result import Check, Findings, Signatures
from oyer.verify.survey import Survey, read_part

__all__ = ["check_signature"]

ADVICE = "it is not what was signed: ask whoever signed it for a copy"


def check_signature(survey: Survey, bundle: Bundled | None, keys: Keys) -> tuple[Check, Signatures]:
    """Check both envelopes, where they are there, against the keys that were given."""
    found = Findings(3, "signature", ADVICE)
    members = () if bundle is None else bundle.archive.members
    is_signed = any(member.path == SIGNATURE_NAME for member in members)
    plan_is_signed = PLAN_SIGNATURE in survey.parts
    by_bundle = by_plan = signed_at = None
    if is_signed and bundle is not None:
        by_bundle = _bundle(survey, bundle, keys.bundle, found)
    elif keys.bundle is not None and not (bundle is None and plan_is_signed):
        found.failed("E-SIGN-NONE", f"it is not signed; a signature by {keys.bundle.name} was asked for", "")
    if plan_is_signed:
        by_plan, signed_at = _plan(survey, keys, found, alone=not is_signed)
    elif keys.plan is not None:
        found.failed("E-SIGN-NONE", f"the plan is not signed; a signature by {keys.plan.name} was asked for", "")
    held = Signatures(by_bundle, by_plan, signed_at if by_plan is not None else None)
    if not is_signed and not plan_is_signed and keys == Keys():
        return Check(3, "signature", "not_applicable", detail="nothing here is signed: who ran it is not proven"), held
    if by_plan is not None:
        found.note(f"the plan's signer says it was signed at {signed_at}; that it was before the run is their word")
    return found.close(_told(held)), held


def _told(held: Signatures) -> str:
    parts = []
    if held.bundle is not None:
        parts.append(f"the bundle is signed by key {held.bundle}")
    if held.plan is not None:
        parts.append(f"the plan that the ledger was opened with is signed by key {held.plan}")
    return "; ".join(parts)


def _bundle(survey: Survey, bundle: Bundled, key: Key | None, found: Findings) -> str | None:
    """Check the envelope over the bundle; return the id of its key where everything holds."""
    try:
        data = bundle.signature()
        signed = parse_signed(data or b"")
    except OyerError as error:
        found.failed(error.code, error.problems[0].message, SIGNATURE_NAME)
        return None
    try:
        manifest = bundle.bundle_manifest()
    except OyerError:
        found.open("E-VERIFY-UNREAD", "what was signed cannot be read", SIGNATURE_NAME, "see check 2")
        return None
    series = survey.manifest.series if survey.manifest is not None else None
    expected = make_bundle_statement(manifest, series, last_seal(survey))
    differences = tuple(compare_statements(signed.payload, expected))
    for problem in differences:
        found.failed(problem.code, problem.message, problem.where or SIGNATURE_NAME)
    holds = _by(key, signed, SIGNATURE_NAME, "--key", found)
    return signed.keyid if holds and not differences else None


def _plan(survey: Survey, keys: Keys, found: Findings, *, alone: bool) -> tuple[str | None, str | None]:
    """Check the envelope over the plan; return the id of its key where everything holds, and the time it states.

    `alone` says that no other envelope is here, so that a key given for the whole is asked of this one.
    """
    problems: dict[str, tuple[Problem, ...]] = {}
    data = read_part(survey.reader.read, PLAN_SIGNATURE, problems)
    if data is None:
        found.failed(problems[PLAN_SIGNATURE][0].code, problems[PLAN_SIGNATURE][0].message, PLAN_SIGNATURE)
        return None, None
    try:
        signed = parse_signed(data)
        said = parse_plan_statement(signed.payload)
    except OyerError as error:
        found.failed(error.code, error.problems[0].message, PLAN_SIGNATURE)
        return None, None
    holds = _is_this_plan(survey, said, found)
    key = keys.plan
    if key is None and keys.bundle is not None and (alone or keys.bundle.keyid == signed.keyid):
        key = keys.bundle
    holds = _by(key, signed, PLAN_SIGNATURE, "--plan-key", found) and holds
    return (signed.keyid if holds else None), said.signed


def _is_this_plan(survey: Survey, said: PlanStatement, found: Findings) -> bool:
    """Compare what was signed with the plan that is here, the one the ledger was opened with, and when it was."""
    plan = read_part(survey.reader.read, "plan.json")
    holds = True
    if plan is None or digest_of(plan) != said.plan:
        found.failed("E-SIGN-PLAN", "the plan is not the one that was signed", "plan.json")
        holds = False
    if survey.ledger.plan is not None and survey.ledger.plan != said.plan:
        found.failed("E-SIGN-PLAN", "the ledger was opened with another plan than was signed", "ledger.jsonl")
        holds = False
    if survey.manifest is not None and _later(said.signed, survey.manifest.opened):
        message = f"its signer says {said.signed}, which is after the series was opened ({survey.manifest.opened})"
        found.failed("E-SIGN-LATE", message, PLAN_SIGNATURE)
        holds = False
    return holds


def _later(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (TypeError, ValueError):
        return True  # a time that cannot be read is not before anything


def _by(key: Key | None, signed: Signed, where: str, flag: str, found: Findings) -> bool:
    """Whether a key made a signature. Without a key nothing is known of it."""
    if key is None:
        message = f"signed by key {signed.keyid}, and no such key was given"
        found.open("E-SIGN-NO-KEY", message, where, f"get the key from its owner, then verify with {flag} FILE")
        return False
    if key.keyid != signed.keyid:
        found.failed("E-SIGN-KEY", f"signed by key {signed.keyid}, not by {key.name} ({key.keyid})", where)
        return False
    try:
        holds = key.verifies(signed)
    except OyerError as error:
        found.open(error.code, error.problems[0].message, where, error.hint)
        return False
    if not holds:
        found.failed("E-SIGN-BAD", f"the signature is not by {key.name} over these bytes", where)
    return holds
