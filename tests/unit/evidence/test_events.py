"""One byte form per event."""

from __future__ import annotations

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import Chain, Envelope, encode_event, make_ref, parse_event, split_ref

WALL = "2026-01-01T00:00:00Z"


def line() -> bytes:
    chain = Chain("harness", Envelope("series", "trial", "run", "baseline", 1, "boot"))
    body = {"what": "tokens", "limit": 2**53 - 1, "seen": 1}
    return chain.append("budget.exceeded", body, t_mono_ns=0, t_wall=WALL)[1][:-1]


def test_round_trip() -> None:
    assert encode_event(parse_event(line())) == line()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'"seen":1', b'"seen":2,"seen":1', "E-EVENT-CANONICAL"),
        (b'"seen":1', b'"s\\u0065en":2,"seen":1', "E-EVENT-CANONICAL"),
        (b'"seen":1', b'"seen": 1', "E-EVENT-CANONICAL"),
        (b'"seen":1', b'"seen":1.0', "E-EVENT-BODY"),
        (b'"seen":1', b'"seen":1e0', "E-EVENT-CANONICAL"),
        (b'"seen":1', b'"seen":9007199254740993', "E-EVENT-BODY"),
        (b'"seen":1', b'"seen":true', "E-EVENT-BODY"),
        (b'"seen":1', b'"seen":1,"surprise":1', "E-EVENT-BODY"),
        (b'"seen":1,', b"", "E-EVENT-BODY"),
        (b'"tokens"', b'"to\\u006bens"', "E-EVENT-CANONICAL"),
        (b'"session":null', b'"session":null,"surprise":1', "E-EVENT-FORM"),
        (b'"budget.exceeded"', b'"budget.burst"', "E-EVENT-KIND"),
        (b'"writer":"harness"', b'"writer":"sink:a"', "ok"),
        (b'"writer":"harness"', b'"writer":"who"', "E-EVENT-FORM"),
        (WALL.encode(), b"2026-01-01T00:00:00", "E-EVENT-FORM"),
    ],
)
def test_one_byte_form(old: bytes, new: bytes, code: str) -> None:
    changed = line().replace(old, new)
    assert changed != line()
    if code == "ok":
        assert parse_event(changed).ref == "sink:a:0"
        return
    with pytest.raises(EvidenceError) as caught:
        parse_event(changed)
    assert caught.value.code == code


def test_a_duplicate_key_is_named() -> None:
    with pytest.raises(EvidenceError, match="duplicate key 'seen'"):
        parse_event(line().replace(b'"seen":1', b'"s\\u0065en":2,"seen":1'))


def test_refs_hold_writers_with_colons() -> None:
    assert split_ref(make_ref("tap:mail", 12)) == ("tap:mail", 12)
    for wrong in ("tap:mail", "tap:mail:01", "tap:mail:-1", "nobody:1", "harness:1\n"):
        with pytest.raises(EvidenceError, match="E-EVENT-REF"):
            split_ref(wrong)
