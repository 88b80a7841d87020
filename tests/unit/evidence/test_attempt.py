"""Journals of one attempt are judged together."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.evidence import (
    Chain,
    Envelope,
    check_attempt,
    digest_of,
    journal_name,
    make_payload,
    writer_of,
)

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
WALL = "2026-01-01T00:00:00Z"
OPENED = {
    "vocabulary": 1,
    "case": digest_of(b"case"),
    "case_id": "c",
    "subject": "s",
    "repetition": 0,
    "masks": {},
}


def attempt(because: str = "harness:0") -> dict[str, bytes]:
    harness, meter = Chain("harness", ENVELOPE), Chain("meter", ENVELOPE)
    first = harness.append("trial.opened", OPENED, t_mono_ns=0, t_wall=WALL)[1]
    sample = meter.append("meter.sample", {"wall_ns": 1}, t_mono_ns=0, t_wall=WALL, because=[because])[1]
    metered = sample + meter.seal(t_mono_ns=1, t_wall=WALL)
    body = {"status": "completed", "writers": {"meter": meter.head._asdict()}}
    closed = harness.append("trial.closed", body, t_mono_ns=2, t_wall=WALL)[1]
    return {"harness.jsonl": first + closed + harness.seal(t_mono_ns=3, t_wall=WALL), "meter.jsonl": metered}


def codes(journals: dict[str, bytes]) -> set[str]:
    return {defect.code for defect in check_attempt(journals).defects}


def test_a_whole_attempt_is_intact() -> None:
    check = check_attempt(attempt(), expect=ENVELOPE)
    assert check.defects == ()
    assert check.intact
    assert check.closed is not None and check.closed["status"] == "completed"
    assert check.opened == OPENED
    assert check.envelope == ENVELOPE


def test_a_journal_that_is_gone() -> None:
    journals = attempt()
    del journals["meter.jsonl"]
    assert codes(journals) == {"E-WRITERS-MISSING"}


def test_a_journal_nobody_listed() -> None:
    extra = Chain("gateway", ENVELOPE).seal(t_mono_ns=0, t_wall=WALL)
    assert codes({**attempt(), "gateway.jsonl": extra}) == {"E-WRITERS-UNLISTED"}


def test_another_good_journal_in_its_place() -> None:
    other = Chain("meter", ENVELOPE).seal(t_mono_ns=0, t_wall=WALL)
    assert codes({**attempt(), "meter.jsonl": other}) == {"E-WRITERS-HEAD"}


def test_no_harness_journal() -> None:
    journals = attempt()
    del journals["harness.jsonl"]
    assert "E-ATTEMPT-HARNESS" in codes(journals)
    assert "E-ATTEMPT-HARNESS" in codes({})


def test_a_harness_journal_without_its_ends() -> None:
    chain = Chain("harness", ENVELOPE)
    assert codes({"harness.jsonl": chain.seal(t_mono_ns=0, t_wall=WALL)}) == {
        "E-ATTEMPT-OPENED",
        "E-ATTEMPT-CLOSED",
    }


@pytest.mark.parametrize("ref", ["harness:9", "tap:mail:0"])
def test_a_cause_that_does_not_exist(ref: str) -> None:
    assert codes(attempt(ref)) == {"E-CHAIN-CAUSE"}


def test_a_stray_file() -> None:
    assert codes({**attempt(), "notes.txt": b""}) == {"E-ATTEMPT-NAME"}


@pytest.mark.parametrize("writer", ["harness", "tap:mail", "tap:a.b", "sink:x-1"])
def test_file_names_stand_for_writers(writer: str) -> None:
    assert writer_of(journal_name(writer)) == writer


@pytest.mark.parametrize(
    "name", ["tap.jsonl", "tap..x.jsonl", "../harness.jsonl", "harness", "who.jsonl", "harness.a.jsonl"]
)
def test_other_names_stand_for_nobody(name: str) -> None:
    assert writer_of(name) is None


READ = {"path": "a", "sha256": digest_of(b""), "size": 0}
LOOK = {"digest": digest_of(b""), "entries": make_payload(b"[]")[0], "phase": "turn", "turn": 0}


@pytest.mark.parametrize(
    ("kind", "read", "came"),
    [
        ("world.read", {**READ, "phase": "closing"}, 2),
        ("world.read", {**READ, "phase": "turn"}, 3),
        ("world.snapshot", LOOK, 3),
    ],
)
def test_what_came_after_the_vocabulary_the_trial_names(kind: str, read: dict[str, Any], came: int) -> None:
    for vocabulary in (1, 2, 3):
        wanted = {"E-EVENT-VERSION"} if vocabulary < came else set()
        harness, world = Chain("harness", ENVELOPE), Chain("world", ENVELOPE)
        first = harness.append("trial.opened", {**OPENED, "vocabulary": vocabulary}, t_mono_ns=0, t_wall=WALL)[1]
        looked = world.append(kind, read, t_mono_ns=0, t_wall=WALL)[1] + world.seal(t_mono_ns=1, t_wall=WALL)
        body = {"status": "completed", "writers": {"world": world.head._asdict()}}
        closed = harness.append("trial.closed", body, t_mono_ns=2, t_wall=WALL)[1]
        journals = {"harness.jsonl": first + closed + harness.seal(t_mono_ns=3, t_wall=WALL), "world.jsonl": looked}
        assert codes(journals) == wanted
