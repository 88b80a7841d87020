"""A journal on disk holds exactly what was recorded, redacted, or says that it does not."""

from __future__ import annotations

import itertools
import stat
from pathlib import Path

import pytest

from oyer.errors import EvidenceError, HarnessError
from oyer.evidence import Chain, Envelope, Redactor, check_journal, digest_of, payload_bytes
from oyer.store import BlobStore, JournalWriter, MemoryJournal, SeriesReader

ENVELOPE = Envelope("series", "trial", "run", "baseline", 1, "boot")
NOISE = {"server": "mail", "connection": 0, "side": "server"}
NOISE_PLACE = {"server": "mail", "connection": 0}
SECRET = b"canary-secret-12345"


class Rig:
    def __init__(self, root: Path, secrets: dict[str, bytes] | None = None) -> None:
        self.root = root
        self.faults: dict[str, OSError] = {}
        ticks = itertools.count()
        self.clock = lambda: (next(ticks), "2026-01-01T00:00:00Z")
        self.redactor = Redactor(secrets or {})
        temp_dir = root / ".tmp"
        temp_dir.mkdir()
        self.blobs = BlobStore(root, temp_dir, self.redactor)
        self.path = root / "tap.mail.jsonl"

    def fault_point(self, name: str) -> None:
        if name in self.faults:
            raise self.faults[name]

    def writer(self) -> JournalWriter:
        return JournalWriter(
            self.path,
            Chain("tap:mail", ENVELOPE),
            blobs=self.blobs,
            clock=self.clock,
            redactor=self.redactor,
            fault_point=self.fault_point,
        )


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_what_is_recorded_is_there(rig: Rig) -> None:
    writer = rig.writer()
    first = writer.record("mcp.noise", NOISE, payloads={"payload": b"small"})
    big = b"x" * 5000
    second = writer.record("mcp.noise", NOISE, payloads={"payload": big}, because=[first], sync=True)
    head = writer.seal()
    writer.close()
    assert (first, second) == ("tap:mail:0", "tap:mail:1")
    check = check_journal(rig.path.read_bytes(), expect=ENVELOPE, writer="tap:mail")
    assert check.defects == ()
    assert (check.length, check.head) == head
    assert check.events[1].blobs == (digest_of(big),)
    with SeriesReader(rig.root) as reader:
        assert payload_bytes(check.events[1].body["payload"], reader.content) == big
    assert stat.S_IMODE(rig.path.stat().st_mode) == 0o600


def test_maps_of_payloads_and_the_order_of_blobs(tmp_path: Path) -> None:
    ticks = itertools.count()
    journal = MemoryJournal(Chain("harness", ENVELOPE), lambda: (next(ticks), "2026-01-01T00:00:00Z"))
    journal.record(
        "subject.given",
        {"argv": ["a"], "env": {}, "cwd": "/"},
        payloads={"files": {"z": b"z" * 5000, "a": b"a" * 5000, "b": b"b"}, "configuration": b"{}"},
    )
    journal.seal()
    check = check_journal(journal.data)
    assert check.defects == ()
    files = check.events[0].body["files"]
    assert payload_bytes(files["z"], journal.contents.get) == b"z" * 5000
    assert payload_bytes(files["b"], journal.contents.get) == b"b"


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {"API_KEY": SECRET})
    writer = rig.writer()
    writer.record("mcp.noise", NOISE, payloads={"payload": b"small " + SECRET})
    writer.record("mcp.noise", NOISE, payloads={"payload": SECRET + b"x" * 5000})
    writer.record("mcp.session_break", {"server": "mail", "connection": 0, "reason": f"bad {SECRET.decode()}"})
    writer.record("fault", {"where": SECRET.decode(), "class": "harness", "message": "m"})
    writer.seal()
    writer.close()
    for path in rig.root.rglob("*"):
        if path.is_file():
            assert SECRET not in path.read_bytes()
    check = check_journal(rig.path.read_bytes())
    assert check.defects == ()
    assert check.events[0].body["payload"]["redacted"] == ["API_KEY"]
    assert "\u27e6secret:API_KEY:" in check.events[2].body["reason"]
    with SeriesReader(rig.root) as reader:
        kept = payload_bytes(check.events[1].body["payload"], reader.content)
    assert (digest_of(kept), len(kept)) == writer.kept(SECRET + b"x" * 5000)
    assert SECRET not in kept


def test_a_payload_object_in_the_body_is_refused(rig: Rig) -> None:
    writer = rig.writer()
    body = {**NOISE, "payload": {"sha256": digest_of(b""), "size": 0, "text": ""}}
    with pytest.raises(HarnessError, match="E-EVENT-PAYLOAD"):
        writer.record("mcp.noise", body)
    writer.close()


def test_a_wrong_body_writes_nothing_and_does_no_harm(rig: Rig) -> None:
    writer = rig.writer()
    with pytest.raises(EvidenceError, match="E-EVENT-BODY"):
        writer.record("mcp.session_break", {"server": "mail"})
    with pytest.raises(EvidenceError, match="E-EVENT-KIND"):
        writer.record("mcp.surprise", {})
    assert rig.path.read_bytes() == b""
    writer.record("mcp.noise", NOISE, payloads={"payload": b"fine"})
    writer.seal()
    writer.close()
    assert check_journal(rig.path.read_bytes()).intact


@pytest.mark.parametrize("point", ["store.append", "store.fsync", "store.blob"])
def test_after_a_failed_write_nothing_more_is_taken(rig: Rig, point: str) -> None:
    writer = rig.writer()
    writer.record("mcp.noise", NOISE, payloads={"payload": b"before"})
    rig.faults[point] = OSError(28, "No space left on device")
    with pytest.raises(HarnessError, match="E-STORE-WRITE"):
        writer.record("mcp.noise", NOISE, payloads={"payload": b"x" * 5000}, sync=True)
    rig.faults.clear()
    assert writer.poisoned
    for attempt in (lambda: writer.record("mcp.noise", NOISE, payloads={"payload": b""}), writer.sync, writer.seal):
        with pytest.raises(HarnessError, match="E-STORE-POISONED"):
            attempt()
    writer.close()
    check = check_journal(rig.path.read_bytes())
    assert not check.sealed and not check.intact


def test_a_journal_is_never_opened_twice(rig: Rig) -> None:
    writer = rig.writer()
    with pytest.raises(HarnessError, match="E-STORE-WRITE"):
        rig.writer()
    writer.close()


def test_a_link_in_the_place_of_a_journal_is_not_followed(rig: Rig, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    rig.path.symlink_to(target)
    with pytest.raises(HarnessError, match="E-STORE-WRITE"):
        rig.writer()
    assert not target.exists()


def test_nothing_after_seal_or_close(rig: Rig) -> None:
    writer = rig.writer()
    writer.seal()
    with pytest.raises(EvidenceError, match="E-CHAIN-SEALED"):
        writer.record("mcp.noise", NOISE, payloads={"payload": b""})
    writer.close()
    writer.close()
    assert check_journal(rig.path.read_bytes()).intact


def test_a_journal_closed_unsealed_says_so(rig: Rig) -> None:
    writer = rig.writer()
    writer.close()
    with pytest.raises(HarnessError, match="E-STORE-POISONED"):
        writer.record("mcp.noise", NOISE, payloads={"payload": b""})


def noise(raw: bytes, writer: JournalWriter, at: tuple[int, str]) -> str:
    return writer.note("mcp.noise", dict(NOISE), raw, stamp=at)[0]


def test_what_is_owed_stands_before_what_is_recorded_later(rig: Rig) -> None:
    writer = rig.writer()
    for number in range(3):
        writer.later(noise, b"%d" % number, writer, writer.now())
    assert rig.path.read_bytes() == b""
    assert writer.record("mcp.noise", NOISE, payloads={"payload": b"3"}) == "tap:mail:3"
    writer.later(noise, b"4", writer, writer.now())
    writer.seal()
    writer.close()
    check = check_journal(rig.path.read_bytes())
    assert check.defects == ()
    assert [event.body["payload"]["text"] for event in check.events[:-1]] == list("01234")
    assert [event.t_mono_ns for event in check.events] == [0, 1, 2, 3, 4, 5]


def test_a_noted_line_waits_for_the_next_write(rig: Rig) -> None:
    writer = rig.writer()
    big = b"x" * 5000
    ref, sha256, size = writer.note("mcp.noise", dict(NOISE), big, stamp=writer.now())
    assert (ref, sha256, size) == ("tap:mail:0", *writer.kept(big))
    assert rig.path.read_bytes() == b""
    writer.sync()
    assert len(check_journal(rig.path.read_bytes()).events) == 1
    noise(b"more", writer, writer.now())
    writer.settle()
    assert len(check_journal(rig.path.read_bytes()).events) == 2
    noise(b"last", writer, writer.now())
    writer.close()
    assert len(check_journal(rig.path.read_bytes()).events) == 3


def test_a_stamp_from_before_the_last_event_is_refused(rig: Rig) -> None:
    writer = rig.writer()
    early = writer.now()
    writer.record("mcp.noise", NOISE, payloads={"payload": b""})
    with pytest.raises(EvidenceError, match="E-CHAIN-CLOCK"):
        noise(b"late", writer, early)
    writer.close()


def test_what_was_owed_and_failed_takes_the_right_to_seal(rig: Rig) -> None:
    writer = rig.writer()
    writer.later(writer.note, "mcp.noise", {"server": "mail"})
    with pytest.raises(TypeError):
        writer.seal()
    assert writer.poisoned
    with pytest.raises(HarnessError, match="E-STORE-POISONED"):
        writer.seal()
    writer.close()
    assert not check_journal(rig.path.read_bytes()).sealed


def test_a_noted_body_of_a_wrong_shape_is_refused(rig: Rig) -> None:
    writer = rig.writer()
    with pytest.raises(EvidenceError, match="E-EVENT-BODY"):
        writer.note("mcp.noise", {"server": "mail", "connection": 0}, b"", stamp=writer.now())
    noise(b"fine", writer, writer.now())
    writer.seal()
    writer.close()
    assert check_journal(rig.path.read_bytes()).intact


def test_secrets_are_replaced_in_what_is_noted(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {"API_KEY": SECRET})
    writer = rig.writer()
    _, sha256, size = writer.note("mcp.noise", dict(NOISE), b"say " + SECRET, stamp=writer.now())
    assert (sha256, size) == writer.kept(b"say " + SECRET)
    writer.note("mcp.session_break", {**NOISE_PLACE, "reason": SECRET.decode()}, stamp=writer.now())
    writer.seal()
    writer.close()
    assert SECRET not in rig.path.read_bytes()
    assert check_journal(rig.path.read_bytes()).intact
