"""Envelopes and statements: one form each, told apart, and differences named."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import (
    Signed,
    StoredFile,
    compare_statements,
    digest_of,
    encode_canonical,
    encode_signed,
    keyid_of,
    make_bundle_statement,
    make_manifest,
    make_plan_statement,
    parse_plan_statement,
    parse_signed,
    signed_bytes,
)

PLAN = make_plan_statement(b"{}", "2026-01-01T00:00:00Z")
SIGNED = Signed(PLAN, keyid_of(bytes(32)), bytes(range(64)))
HEAD = digest_of(b"head")


def bundle(plan: bytes = b"plan", pin: bytes = b"pin", series: str = "s", head: str = HEAD) -> bytes:
    files = [
        StoredFile(path=path, sha256=digest_of(data), size=len(data))
        for path, data in (("series/plan.json", plan), ("series/pins/a.json", pin), ("series/ledger.jsonl", b""))
    ]
    return make_bundle_statement(make_manifest(files), series, head)


def test_an_envelope_reads_back() -> None:
    assert parse_signed(encode_signed(SIGNED)) == SIGNED


def test_the_signed_bytes_are_those_of_the_specification() -> None:
    from securesystemslib.dsse import Envelope

    assert signed_bytes(PLAN) == Envelope(PLAN, "application/vnd.in-toto+json", {}).pae()
    assert signed_bytes(b"") == b"DSSEv1 28 application/vnd.in-toto+json 0 "


def envelope(**more: Any) -> bytes:
    return encode_canonical({**json.loads(encode_signed(SIGNED)), **more})


ONE = {"keyid": SIGNED.keyid, "sig": base64.b64encode(SIGNED.signature).decode()}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b"[" * 100_000,
        envelope(more=1),
        envelope(signatures=[]),
        envelope(signatures=[ONE, ONE]),
        envelope(signatures=[{**ONE, "keyid": ""}]),
        envelope(signatures=[{**ONE, "keyid": SIGNED.keyid.upper()}]),
        envelope(signatures=[{**ONE, "cert": "x"}]),
        envelope(signatures=[{"sig": ONE["sig"]}]),
        envelope(signatures=[{**ONE, "sig": "AAAA"}]),
        envelope(signatures=[{**ONE, "sig": "not base64"}]),
        envelope(payload="****"),
        envelope(payload="eA"),
        envelope(payload=base64.urlsafe_b64encode(b"\xff\xff\xff").decode()),
        envelope(payloadType="text/plain"),
        encode_signed(SIGNED) + b"\n",
        encode_signed(SIGNED).replace(b'"payload":', b'"payload":"","payload":', 1),
    ],
)
def test_a_second_form_of_an_envelope_is_refused(data: bytes) -> None:
    with pytest.raises(EvidenceError, match="E-SIGN-FORM"):
        parse_signed(data)


def test_bits_that_base64_does_not_use_are_refused() -> None:
    data = json.loads(encode_signed(Signed(b"x", SIGNED.keyid, SIGNED.signature)))
    assert data["payload"] == "eA=="
    with pytest.raises(EvidenceError, match="E-SIGN-FORM"):
        parse_signed(encode_canonical({**data, "payload": "eB=="}))


def test_a_plan_statement_reads_back() -> None:
    said = parse_plan_statement(PLAN)
    assert (said.plan, said.signed) == (digest_of(b"{}"), "2026-01-01T00:00:00Z")


def statement(**more: Any) -> bytes:
    return encode_canonical({**json.loads(PLAN), **more})


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        bundle(),
        PLAN + b" ",
        statement(more=1),
        statement(predicate={}),
        statement(predicate={"signed": "yesterday"}),
        statement(predicateType="https://in-toto.io/attestation/test-result/v0.1"),
        statement(_type="https://in-toto.io/Statement/v0.1"),
        statement(subject=[]),
        statement(subject=[*json.loads(PLAN)["subject"]] * 2),
        statement(subject=[{"digest": {"sha256": "0" * 64}, "name": "series.json"}]),
        statement(subject=[{"digest": {"sha1": "0" * 40}, "name": "plan.json"}]),
        PLAN.replace(b'"signed":', b'"signed":"2025-01-01T00:00:00Z","signed":'),
    ],
)
def test_what_is_no_statement_about_a_plan_is_refused(payload: bytes) -> None:
    with pytest.raises(EvidenceError, match="E-SIGN-STATEMENT"):
        parse_plan_statement(payload)


def told(signed: bytes) -> set[tuple[str, str]]:
    return {(problem.code, problem.where) for problem in compare_statements(signed, bundle())}


def test_equal_statements_do_not_differ() -> None:
    assert told(bundle()) == set()


def test_what_differs_is_named() -> None:
    assert told(bundle(plan=b"other")) >= {("E-SIGN-OTHER", "series/plan.json"), ("E-SIGN-OTHER", "manifest.json")}
    assert told(bundle(pin=b"other")) >= {("E-SIGN-OTHER", "series/pins/a.json"), ("E-SIGN-OTHER", "manifest.json")}
    messages = [problem.message for problem in compare_statements(bundle(series="t", head=digest_of(b"")), bundle())]
    assert any("series" in text for text in messages) and any("head" in text for text in messages)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", PLAN, b'{"predicateType":1,"subject":1}', b"1"])
def test_what_is_no_statement_about_a_bundle_is_named(data: bytes) -> None:
    assert {code for code, _ in told(data)} == {"E-SIGN-STATEMENT"}


def test_a_statement_with_more_in_it_is_not_this_one() -> None:
    value = json.loads(bundle())
    assert told(encode_canonical({**value, "more": 1})) == {("E-SIGN-OTHER", "manifest.json")}
    assert told(json.dumps(value).encode()) == {("E-SIGN-OTHER", "manifest.json")}
