"""What is signed: an in-toto Statement about a bundle or a plan, in a DSSE envelope.

Owns both forms and the bytes that a signature covers. Must never sign or verify anything (that takes a key), and never
accept a second form of the same envelope: nothing but the envelope itself lists its bytes.

Source: in-toto Attestation Framework, Statement v1; DSSE v1.0 (protocol and envelope); `docs/spec/bundle.md`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from oyer.errors import EvidenceError, Problem
from oyer.evidence.archive import MANIFEST_NAME, SERIES_PREFIX
from oyer.evidence.canonical import digest_of, encode_canonical, explain_form
from oyer.evidence.events import WALL_TIME_PATTERN
from oyer.evidence.manifest import BUNDLE_VERSION, Manifest, encode_manifest

__all__ = [
    "BUNDLE_PREDICATE",
    "KEY_BYTES",
    "PAYLOAD_TYPE",
    "PLAN_PREDICATE",
    "PLAN_SIGNATURE",
    "PlanStatement",
    "Signed",
    "compare_statements",
    "encode_signed",
    "keyid_of",
    "make_bundle_statement",
    "make_plan_statement",
    "parse_plan_statement",
    "parse_signed",
    "signed_bytes",
]

STATEMENT = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
# RFC 2606 keeps .invalid free for ever: a name that nobody can own, and nothing to fetch.
BUNDLE_PREDICATE = "https://oyer.invalid/predicate/bundle/v1"
PLAN_PREDICATE = "https://oyer.invalid/predicate/plan/v1"
PLAN_SIGNATURE = "plan.dsse.json"
"""Where the signature over a plan stands in a series."""

KEY_BYTES = 32
_SIGNATURE_BYTES = 64
_KEYID = re.compile(r"^[0-9a-f]{64}\Z")
_HEX = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Signed(NamedTuple):
    """A payload, the id of the key that is said to have signed it, and the signature."""

    payload: bytes
    keyid: str
    signature: bytes


class PlanStatement(NamedTuple):
    """What a signed plan says: the digest of its canonical bytes, and when its signer says it was signed."""

    plan: str
    signed: str


class _Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    keyid: str
    sig: str


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    payload: str
    payload_type: str = msgspec.field(name="payloadType")
    signatures: tuple[_Signature, ...]


class _Digests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sha256: _HEX


class _Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    digest: _Digests
    name: str


class _PlanPredicate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    signed: Annotated[str, Meta(pattern=WALL_TIME_PATTERN)]


class _PlanStatement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    predicate: _PlanPredicate
    predicate_type: Literal["https://oyer.invalid/predicate/plan/v1"] = msgspec.field(name="predicateType")
    subject: Annotated[tuple[_Subject, ...], Meta(min_length=1, max_length=1)]


_ENVELOPES = msgspec.json.Decoder(_Envelope)
_PLANS = msgspec.json.Decoder(_PlanStatement)


def keyid_of(public: bytes) -> str:
    """Return the id of an ed25519 public key: the sha256 of its 32 bytes, in hexadecimal."""
    return hashlib.sha256(public).hexdigest()


def signed_bytes(payload: bytes) -> bytes:
    """Return the bytes a signature covers. Source: DSSE v1.0, PAE."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def encode_signed(signed: Signed) -> bytes:
    """Return the one form of an envelope: canonical JSON, one signature."""
    return encode_canonical(
        {
            "payload": base64.b64encode(signed.payload).decode("ascii"),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": signed.keyid, "sig": base64.b64encode(signed.signature).decode("ascii")}],
        }
    )


def parse_signed(data: bytes) -> Signed:
    """Parse an envelope; whether the signature holds is another question. Raises: EvidenceError `E-SIGN-FORM`."""
    try:
        envelope = _ENVELOPES.decode(data)
        if len(envelope.signatures) != 1:
            raise ValueError(f"{len(envelope.signatures)} signatures, not one")
        (only,) = envelope.signatures
        signed = Signed(
            base64.b64decode(envelope.payload, validate=True), only.keyid, base64.b64decode(only.sig, validate=True)
        )
        if _KEYID.match(signed.keyid) is None or len(signed.signature) != _SIGNATURE_BYTES:
            raise ValueError("no ed25519 signature by a key of ours")
    except (msgspec.MsgspecError, binascii.Error, ValueError, RecursionError) as error:
        raise EvidenceError("E-SIGN-FORM", f"not a DSSE envelope: {error}") from error
    if encode_signed(signed) != data:
        raise EvidenceError("E-SIGN-FORM", explain_form(data))
    return signed


def make_bundle_statement(manifest: Manifest, series: str | None, head: str | None) -> bytes:
    """Return the statement about a bundle: its manifest, plan and pins, and what its signer holds to be in it.

    `series` is the series' id, `head` the digest of its last seal.
    """
    listed = (*manifest.files, *manifest.withheld)
    pins = f"{SERIES_PREFIX}pins/"
    named = {file.path: file.sha256 for file in listed if file.path.startswith(pins)}
    named |= {file.path: file.sha256 for file in listed if file.path == f"{SERIES_PREFIX}plan.json"}
    named[MANIFEST_NAME] = digest_of(encode_manifest(manifest))
    predicate = {
        "bundle": BUNDLE_VERSION,
        "head": head,
        "series": series,
        "withheld": [file.path for file in manifest.withheld],
    }
    return _statement(sorted(named.items()), BUNDLE_PREDICATE, predicate)


def make_plan_statement(plan: bytes, signed: str) -> bytes:
    """Return the statement about a plan: its canonical bytes, and the time its signer says it is (UTC, RFC 3339)."""
    return _statement([("plan.json", digest_of(plan))], PLAN_PREDICATE, {"signed": signed})


def _statement(subjects: Sequence[tuple[str, str]], predicate_type: str, predicate: dict[str, Any]) -> bytes:
    return encode_canonical(
        {
            "_type": STATEMENT,
            "predicate": predicate,
            "predicateType": predicate_type,
            "subject": [
                {"digest": {"sha256": digest.removeprefix("sha256:")}, "name": name} for name, digest in subjects
            ],
        }
    )


def parse_plan_statement(payload: bytes) -> PlanStatement:
    """Parse the statement about a plan. Raises: EvidenceError `E-SIGN-STATEMENT`."""
    try:
        said = _PLANS.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError("E-SIGN-STATEMENT", f"not a statement about a plan: {error}") from error
    (subject,) = said.subject
    statement = PlanStatement(f"sha256:{subject.digest.sha256}", said.predicate.signed)
    if subject.name != "plan.json" or encode_canonical(said) != payload:
        raise EvidenceError("E-SIGN-STATEMENT", "not a statement about a plan in the one form it has")
    return statement


def compare_statements(signed: bytes, expected: bytes) -> Iterator[Problem]:
    """Yield what a signed statement about a bundle says that the bundle in hand does not. Codes `E-SIGN-STATEMENT`,
    `E-SIGN-OTHER`.
    """
    if signed == expected:
        return
    try:
        said, wanted = msgspec.json.decode(signed), msgspec.json.decode(expected)
        kind = said["predicateType"]
        told = {item["name"]: item["digest"]["sha256"] for item in said["subject"]}
        predicate = dict(said["predicate"])
    except (msgspec.MsgspecError, ValueError, RecursionError, LookupError, TypeError):
        yield Problem("E-SIGN-STATEMENT", "what is signed is no statement about a bundle")
        return
    if kind != wanted["predicateType"]:
        yield Problem("E-SIGN-STATEMENT", f"what is signed is of the type {kind!r}, not {wanted['predicateType']!r}")
        return
    here = {item["name"]: item["digest"]["sha256"] for item in wanted["subject"]}
    for name in sorted({*told, *here}, key=str):
        if told.get(name) != here.get(name):
            yield Problem("E-SIGN-OTHER", "the signature is over another one", str(name))
    for name in sorted({*predicate, *wanted["predicate"]}, key=str):
        if predicate.get(name, ...) != wanted["predicate"].get(name, ...):
            yield Problem("E-SIGN-OTHER", f"the signature states another {name}", MANIFEST_NAME)
    yield Problem("E-SIGN-OTHER", "the signature is not over this bundle", MANIFEST_NAME)
