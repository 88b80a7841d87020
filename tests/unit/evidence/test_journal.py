"""One planted breach per rule: each is reported under its own code, and the good prefix ends before it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from oyer.evidence import Chain, Envelope, check_journal, digest_of, encode_canonical, make_payload

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
WALL = "2026-01-01T00:00:00Z"


def journal(count: int = 4, writer: str = "tap:mail", envelope: Envelope = ENVELOPE) -> list[bytes]:
    chain = Chain(writer, envelope)
    lines = [
        chain.append(
            "mcp.noise",
            {"server": "mail", "connection": 0, "payload": make_payload(b"noise %d" % at)[0], "side": "server"},
            t_mono_ns=at,
            t_wall=WALL,
        )[1]
        for at in range(count)
    ]
    return [*lines, chain.seal(t_mono_ns=count, t_wall=WALL)]


def codes(data: bytes, **more: object) -> list[str]:
    return [defect.code for defect in check_journal(data, **more).defects]  # type: ignore[arg-type]


def relink(lines: list[bytes], at: int, change: Callable[[dict[str, object]], None]) -> bytes:
    """Change one event and fix every digest after it, so that only the rule under test can object."""
    events = [msgspec.json.decode(line) for line in lines]
    change(events[at])
    out: list[bytes] = []
    for number, event in enumerate(events):
        if number:
            event["prev"] = digest_of(out[-1])
        if event["kind"] == "sealed" and number != at:
            event["body"]["head"] = event["prev"]
        out.append(encode_canonical(event))
    return b"".join(line + b"\n" for line in out)


def test_a_whole_journal_is_intact() -> None:
    lines = journal()
    check = check_journal(b"".join(lines), expect=ENVELOPE, writer="tap:mail")
    assert check.defects == ()
    assert (check.length, check.head, check.sealed) == (5, digest_of(lines[-1][:-1]), True)
    assert [event.seq for event in check.events] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_a_cut_end_is_unsealed(cut: int) -> None:
    lines = journal()
    assert codes(b"".join(lines[:-cut])) == ["E-CHAIN-UNSEALED"]


def test_a_torn_tail_is_kept() -> None:
    data = b"".join(journal())[:-7]
    check = check_journal(data)
    assert [defect.code for defect in check.defects] == ["E-CHAIN-TORN", "E-CHAIN-UNSEALED"]
    assert data.endswith(check.torn) and check.torn
    assert check.length == 4


def test_a_missing_newline_at_the_end_is_a_torn_line() -> None:
    assert codes(b"".join(journal())[:-1]) == ["E-CHAIN-TORN", "E-CHAIN-UNSEALED"]


def test_a_missing_line_is_a_gap() -> None:
    lines = journal()
    del lines[2]
    check = check_journal(b"".join(lines))
    assert {"E-CHAIN-GAP", "E-CHAIN-PREV"} <= {defect.code for defect in check.defects}
    assert check.length == 2


def test_a_changed_byte_breaks_the_next_link() -> None:
    lines = journal()
    lines[1] = lines[1].replace(b'"connection":0', b'"connection":7')
    assert codes(b"".join(lines)) == ["E-CHAIN-PREV"]


def test_a_line_after_the_seal() -> None:
    lines = journal()
    assert "E-CHAIN-AFTER-SEAL" in codes(b"".join([*lines, lines[0]]))


@pytest.mark.parametrize("field", ["series", "trial", "run", "condition"])
def test_a_foreign_line(field: str) -> None:
    data = relink(journal(), 2, lambda event: event.update({field: "other"}))
    assert codes(data) == ["E-CHAIN-FOREIGN"]
    other = ENVELOPE._replace(**{field: "other"})
    assert set(codes(b"".join(journal()), expect=other)) == {"E-CHAIN-FOREIGN"}


def test_another_writer_and_attempt() -> None:
    assert set(codes(b"".join(journal()), writer="tap:other")) == {"E-CHAIN-FOREIGN"}
    assert codes(relink(journal(), 2, lambda event: event.update(attempt=2))) == ["E-CHAIN-FOREIGN"]


def test_a_clock_that_goes_back_counts_within_one_boot_only() -> None:
    assert codes(relink(journal(), 3, lambda event: event.update(t_mono_ns=0))) == ["E-CHAIN-CLOCK"]
    assert codes(relink(journal(), 3, lambda event: event.update(t_mono_ns=0, boot="later"))) == []


def test_a_seal_that_states_another_length() -> None:
    def lie(event: dict[str, object]) -> None:
        event["body"] = {"length": 3, "head": event["prev"]}

    assert codes(relink(journal(), 4, lie)) == ["E-CHAIN-SEAL"]


def test_an_inline_payload_that_lies() -> None:
    def lie(event: dict[str, object]) -> None:
        event["body"]["payload"]["text"] = "noisy 1"  # type: ignore[index]

    assert codes(relink(journal(), 1, lie)) == ["E-PAYLOAD-DIGEST"]


def test_blobs_must_be_those_of_the_body() -> None:
    assert codes(relink(journal(), 1, lambda event: event.update(blobs=[digest_of(b"")]))) == ["E-EVENT-BLOBS"]


def test_a_cause_must_come_before() -> None:
    assert codes(relink(journal(), 1, lambda event: event.update(because=["tap:mail:1"]))) == ["E-EVENT-CAUSE"]
    assert codes(relink(journal(), 1, lambda event: event.update(because=["tap:mail:0"]))) == []


def test_unicode_line_separators_do_not_end_a_line() -> None:
    chain = Chain("tap:mail", ENVELOPE)
    raw = "left\u2028mid\u0085\u2029right".encode()
    body = {"server": "mail", "connection": 0, "payload": make_payload(raw)[0], "side": "server"}
    data = chain.append("mcp.noise", body, t_mono_ns=0, t_wall=WALL)[1] + chain.seal(t_mono_ns=0, t_wall=WALL)
    check = check_journal(data)
    assert check.intact
    assert check.events[0].body["payload"]["text"].encode() == raw


def test_an_unreadable_line_does_not_hide_the_lines_after_it() -> None:
    lines = journal()
    lines[1] = b"{not json\n"
    found = codes(b"".join(lines))
    assert found == ["E-EVENT-FORM", "E-CHAIN-PREV"]


def test_a_check_is_never_asked_for_its_truth() -> None:
    with pytest.raises(TypeError):
        bool(check_journal(b""))
