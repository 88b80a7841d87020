"""A chain numbers, links and seals; it refuses what would make a lie."""

from __future__ import annotations

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import ABSENT_DIGEST, Chain, Envelope, check_journal, digest_of, encode_event, parse_event

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
WALL = "2026-01-01T00:00:00Z"


def fault(chain: Chain, t_mono_ns: int = 1, **more: object) -> bytes:
    body = {"where": "here", "class": "harness", "message": "m"}
    return chain.append("fault", body, t_mono_ns=t_mono_ns, t_wall=WALL, **more)[1]  # type: ignore[arg-type]


def test_lines_link_to_each_other() -> None:
    chain = Chain("harness", ENVELOPE)
    first, second = fault(chain), fault(chain)
    assert first.endswith(b"\n")
    assert parse_event(first[:-1]).prev == ABSENT_DIGEST
    assert parse_event(second[:-1]).prev == digest_of(first[:-1])
    assert parse_event(second[:-1]).seq == 1
    assert chain.head == (2, digest_of(second[:-1]))


def test_nothing_follows_the_seal() -> None:
    chain = Chain("harness", ENVELOPE)
    data = fault(chain) + chain.seal(t_mono_ns=2, t_wall=WALL)
    check = check_journal(data)
    assert check.intact and check.sealed
    assert (check.length, check.head) == chain.head
    with pytest.raises(EvidenceError, match="E-CHAIN-SEALED"):
        fault(chain, 3)
    with pytest.raises(EvidenceError, match="E-CHAIN-SEALED"):
        chain.seal(t_mono_ns=3, t_wall=WALL)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"t_mono_ns": 0}, "E-CHAIN-CLOCK"),
        ({"t_mono_ns": 2**63}, "E-CHAIN-CLOCK"),
        ({"because": ["harness:1"]}, "E-EVENT-CAUSE"),
        ({"because": ["stranger:1"]}, "E-EVENT-REF"),
    ],
)
def test_a_refused_event_leaves_the_chain_as_it_was(wrong: dict[str, object], code: str) -> None:
    chain = Chain("harness", ENVELOPE)
    fault(chain, 5)
    before = chain.head
    with pytest.raises(EvidenceError, match=code):
        fault(chain, **{"t_mono_ns": 5, **wrong})  # type: ignore[arg-type]
    assert chain.head == before


@pytest.mark.parametrize(
    "wall", ["2026-09-13T12:00:00", "2026-09-13T15:00:00+03:00", "2026-09-13 12:00:00Z", WALL + "\n"]
)
def test_wall_time_is_utc_with_z(wall: str) -> None:
    chain = Chain("harness", ENVELOPE)
    with pytest.raises(EvidenceError, match="E-EVENT-FORM"):
        chain.append("session.opened", {"number": 0}, t_mono_ns=0, t_wall=wall)


def test_a_writer_writes_only_its_own_kinds() -> None:
    with pytest.raises(EvidenceError, match="E-EVENT-WRITER"):
        Chain("tap:mail", ENVELOPE).append("session.opened", {"number": 0}, t_mono_ns=0, t_wall=WALL)
    with pytest.raises(EvidenceError, match="E-EVENT-WRITER"):
        Chain("tap:../x", ENVELOPE)


def test_sealed_is_not_an_event_to_append() -> None:
    with pytest.raises(EvidenceError, match="E-CHAIN-SEALED"):
        Chain("harness", ENVELOPE).append("sealed", {"length": 0, "head": ABSENT_DIGEST}, t_mono_ns=0, t_wall=WALL)


def test_a_lone_surrogate_has_no_canonical_form() -> None:
    body = {"where": "\ud800", "class": "harness", "message": "m"}
    with pytest.raises(EvidenceError, match="E-CANONICAL"):
        Chain("harness", ENVELOPE).append("fault", body, t_mono_ns=0, t_wall=WALL)


def test_the_clock_of_a_machine_up_for_a_year_is_kept_exactly() -> None:
    year_ns = 365 * 86400 * 10**9 + 1
    assert year_ns > 2**53
    assert parse_event(fault(Chain("harness", ENVELOPE), year_ns)[:-1]).t_mono_ns == year_ns


def test_a_line_is_the_canonical_form_of_its_event_whatever_its_envelope_holds() -> None:
    envelope = Envelope('se"ries %d %%', "tri\\al", "r\u00e9n", "\U0001f600", 7, "boot%b")
    chain = Chain("tap:mail", envelope)
    opened = {"server": "100%", "connection": 0, "reason": "\u2028 %s"}
    first = chain.line("connection.opened", opened, t_mono_ns=1, t_wall=WALL, session='a "quoted" %d', by_shape=True)
    second = chain.line("connection.closed", opened, t_mono_ns=1, t_wall=WALL, because=["tap:mail:0", "harness:9"])
    for line in (first, second):
        assert encode_event(parse_event(line[:-1])) + b"\n" == line
    assert parse_event(first[:-1]).session == 'a "quoted" %d'
    assert parse_event(second[:-1]).because == ("tap:mail:0", "harness:9")
    assert (chain.length, parse_event(second[:-1]).series) == (2, 'se"ries %d %%')
