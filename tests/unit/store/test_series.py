"""A series directory from creation to its seals, and back."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from oyer.errors import EvidenceError, HarnessError, UsageError
from oyer.evidence import (
    Chain,
    Envelope,
    Redactor,
    check_attempt,
    check_ledger,
    check_seals,
    digest_of,
    journal_name,
)
from oyer.store import AttemptStore, SeriesReader, SeriesStore, packed_path

WALL = "2026-01-01T00:00:00Z"
TICKS = itertools.count()
PIN = b'{"pinned":true}'
SECRET = b"canary-secret-12345"


def clock() -> tuple[int, str]:
    return next(TICKS), WALL


def create(path: Path, **more: object) -> SeriesStore:
    return SeriesStore.create(path, b'{"series":1}', b'{"plan":1}', {digest_of(PIN): PIN}, clock=clock, **more)  # type: ignore[arg-type]


@pytest.fixture
def series(tmp_path: Path) -> Iterator[SeriesStore]:
    with create(tmp_path / "out" / "s1") as store:
        yield store


def envelope(trial: str = "t1", attempt: int = 1) -> Envelope:
    return Envelope("s1", trial, f"run-{trial}-{attempt}", "baseline", attempt, "boot")


@pytest.mark.parametrize("path", ["/proc/nowhere/s1", "/dev/null/s1"])
def test_a_place_where_nothing_can_be_made_is_an_argument_that_is_wrong(path: str) -> None:
    with pytest.raises(UsageError, match="E-OUT-"):
        create(Path(path))


def open_attempt(series: SeriesStore, trial: str = "t1", attempt: int = 1) -> AttemptStore:
    series.ledger("claimed", trial=trial, attempt=attempt)
    return series.open_attempt(envelope(trial, attempt))


def fill(attempt: AttemptStore, status: str = "completed") -> None:
    harness, meter = attempt.writer("harness"), attempt.writer("meter")
    opened = {"vocabulary": 1, "case": digest_of(PIN), "case_id": "c", "subject": "s", "repetition": 0, "masks": {}}
    first = harness.record("trial.opened", opened)
    harness.record("subject.output", {"stream": "stdout"}, payloads={"payload": b"x" * 5000})
    meter.record("meter.sample", {"wall_ns": 1}, because=[first])
    heads = {"meter": meter.seal()._asdict()}
    harness.record("trial.closed", {"status": status, "writers": heads})
    harness.seal()


def test_a_whole_series(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    fill(attempt)
    packed = attempt.seal("completed")
    assert packed.path == packed_path("t1", 1)
    assert not attempt.directory.exists()
    series.ledger("closed")
    series.add("outcomes/t1.json", b"{}")
    first = series.seal("run")
    series.add("judgements/a/b/t1.json", b"{}")
    second = series.seal("judge")
    assert [file.path for file in second.files] == ["judgements/a/b/t1.json"]
    assert second.prev == first.digest

    with SeriesReader(series.root) as reader:
        assert (reader.manifest(), reader.plan()) == (b'{"series":1}', b'{"plan":1}')
        assert reader.pins() == {digest_of(PIN): PIN}
        assert reader.pin(digest_of(PIN)) == PIN
        assert list(reader.attempts()) == [("t1", 1, True)]
        check = check_attempt(reader.journals("t1", 1), expect=envelope())
        assert check.defects == ()
        ledger = check_ledger(reader.ledger_bytes(), planned={"t1"})
        assert ledger.defects == () and ledger.closed
        counted = ledger.counted("t1")
        assert counted is not None and counted.digest == packed.sha256
        stored = {file.path: file for file in reader.files()}
        assert check_seals(reader.seals(), stored) == ()
        assert reader.content(digest_of(b"x" * 5000)) == b"x" * 5000
        assert reader.blob(digest_of(b"nothing")) is None
    for path in series.root.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_every_changed_byte_is_in_a_seal(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    fill(attempt)
    attempt.seal("completed")
    series.ledger("closed")
    series.seal("run")
    with SeriesReader(series.root) as reader:
        for path in list(reader.paths()):
            target = series.root / path
            before = target.read_bytes()
            target.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
            assert check_seals(reader.seals(), {file.path: file for file in reader.files()}) != ()
            target.write_bytes(before)
        assert check_seals(reader.seals(), {file.path: file for file in reader.files()}) == ()


@pytest.mark.parametrize("there", ["file", "link", "filled"])
def test_an_output_that_is_taken(tmp_path: Path, there: str) -> None:
    out = tmp_path / "out"
    if there == "file":
        out.write_text("x")
    elif there == "link":
        out.symlink_to(tmp_path)
    else:
        out.mkdir()
        (out / "x").write_text("x")
    with pytest.raises(UsageError, match=r"E-OUT-NOT-(EMPTY|DIR)"):
        create(out)


def test_a_pin_that_lies_or_a_record_with_a_secret_starts_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="E-PIN-DIGEST"):
        SeriesStore.create(out, b"", b"", {digest_of(b"a"): b"b"}, clock=clock)
    with pytest.raises(UsageError, match="E-STORE-SECRET"):
        SeriesStore.create(out, SECRET, b"", {}, clock=clock, redactor=Redactor({"KEY": SECRET}))
    assert not out.exists()


def test_an_attempt_is_opened_once(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    with pytest.raises(HarnessError, match="E-ATTEMPT-EXISTS"):
        series.open_attempt(envelope())
    fill(attempt)
    attempt.seal("completed")
    with pytest.raises(HarnessError, match="E-ATTEMPT-EXISTS"):
        series.open_attempt(envelope())
    with SeriesReader(series.root) as reader:
        ledger = reader.ledger_bytes()
    assert ledger.count(b'"kind":"refused"') == 2
    assert check_ledger(ledger).intact


def test_an_attempt_that_was_not_claimed_is_refused(series: SeriesStore) -> None:
    with pytest.raises(EvidenceError, match="E-LEDGER-TRANSITION"):
        series.open_attempt(envelope())
    assert not (series.root / "trials").exists()


@pytest.mark.parametrize("trial", ["../x", "a/b", "", ".hidden", "a\x00b"])
def test_a_trial_id_that_is_no_file_name(series: SeriesStore, trial: str) -> None:
    with pytest.raises(HarnessError, match="E-STORE-PATH"):
        series.open_attempt(envelope(trial))


def test_an_unsealed_journal_is_packed_only_where_something_of_ours_failed(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    attempt.writer("harness").record("session.opened", {"number": 0})
    with pytest.raises(HarnessError, match="E-PACK-UNSEALED"):
        attempt.seal("completed")
    attempt.seal("harness_error", "the harness fell over")
    with SeriesReader(series.root) as reader:
        assert "E-CHAIN-UNSEALED" in {defect.code for defect in check_attempt(reader.journals("t1", 1)).defects}
    series.ledger("claimed", trial="t1", attempt=2)


def test_a_journal_written_by_a_process_of_its_own(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    fill(attempt)
    chain = Chain("sink:box", envelope())
    attempt.journal_path("sink:box").write_bytes(chain.seal(t_mono_ns=0, t_wall=WALL)[:-1])
    assert not attempt.foreign("sink:box").sealed
    with pytest.raises(HarnessError, match="E-PACK-UNSEALED"):
        attempt.pack()
    attempt.journal_path("sink:box").write_bytes(Chain("sink:box", envelope()).seal(t_mono_ns=0, t_wall=WALL))
    check = attempt.foreign("sink:box")
    assert (check.length, check.head) == chain.head
    attempt.pack()
    with SeriesReader(series.root) as reader:
        assert journal_name("sink:box") in reader.journals("t1", 1)


def test_a_stray_file_among_the_journals_is_not_packed_away(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    fill(attempt)
    (attempt.directory / "notes.txt").write_text("x")
    with pytest.raises(HarnessError, match="E-PACK-UNSEALED"):
        attempt.seal("completed")


def test_an_interrupted_attempt_is_buried_as_it_is(series: SeriesStore) -> None:
    attempt = open_attempt(series)
    harness = attempt.writer("harness")
    harness.record("session.opened", {"number": 0})
    path = attempt.journal_path("harness")
    torn = path.read_bytes() + b'{"attempt":1,"bec'
    path.write_bytes(torn)
    harness.close()
    series.ledger("claimed", trial="t2", attempt=1)
    series.close()
    with SeriesStore.open(series.root, clock=clock) as again:
        assert again.interrupted() == [("t1", 1, "run-t1-1"), ("t2", 1, None)]
        packed = again.bury("t1", 1)
        assert packed is not None
        assert again.bury("t2", 1) is None
        assert again.interrupted() == []
        state = again.attempts["t1"][0]
        assert (state.state, state.status, state.digest) == ("torn", "harness_error", packed.sha256)
    with SeriesReader(series.root) as reader:
        assert reader.journals("t1", 1) == {"harness.jsonl": torn}


def test_a_torn_ledger_is_marked_when_the_series_is_opened(series: SeriesStore) -> None:
    series.ledger("claimed", trial="t1", attempt=1)
    series.close()
    path = series.root / "ledger.jsonl"
    before = path.read_bytes()[:-9]
    path.write_bytes(before)
    with SeriesStore.open(series.root, clock=clock) as again:
        again.ledger("claimed", trial="t1", attempt=1)
    data = path.read_bytes()
    assert data.startswith(before + b"\n")
    check = check_ledger(data)
    assert check.defects == ()
    assert [finding.code for finding in check.findings] == ["E-LEDGER-TORN"]


def test_one_process_at_a_time(series: SeriesStore) -> None:
    with pytest.raises(UsageError, match="E-STORE-LOCKED"):
        SeriesStore.open(series.root, clock=clock)


def test_a_series_that_cannot_be_continued(series: SeriesStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="E-SERIES-NONE"):
        SeriesStore.open(tmp_path / "nothing", clock=clock)
    with pytest.raises(UsageError, match="E-SERIES-NONE"):
        SeriesStore.open(tmp_path, clock=clock)
    series.close()
    (series.root / "plan.json").write_bytes(b"{}")
    with pytest.raises(EvidenceError, match="E-SERIES-DIFFERS"):
        SeriesStore.open(series.root, clock=clock)
    (series.root / "plan.json").write_bytes(b'{"plan":1}')
    (series.root / "ledger.jsonl").write_bytes(b"")
    with pytest.raises(UsageError, match="E-SERIES-NONE"):
        SeriesStore.open(series.root, clock=clock)


def test_a_seal_needs_a_closed_ledger(series: SeriesStore) -> None:
    with pytest.raises(HarnessError, match="E-SEAL-OPEN"):
        series.seal("run")


def test_a_closed_series_takes_no_trial(series: SeriesStore) -> None:
    series.ledger("closed")
    with pytest.raises(EvidenceError, match="E-LEDGER-AFTER-CLOSE"):
        series.ledger("claimed", trial="t1", attempt=1)


@pytest.mark.parametrize("path", ["plan.json", "blobs/x", "seals/009.json", "../x", "/x", "a/./b", "index.sqlite", ""])
def test_derived_files_have_their_own_places(series: SeriesStore, path: str) -> None:
    with pytest.raises(HarnessError, match="E-STORE-PATH"):
        series.add(path, b"")


def test_a_derived_file_is_never_overwritten_and_holds_no_secret(tmp_path: Path) -> None:
    with create(tmp_path / "s", redactor=Redactor({"KEY": SECRET})) as series:
        series.add("facts/a.json", b"1")
        with pytest.raises(HarnessError, match="E-STORE-EXISTS"):
            series.add("facts/a.json", b"2")
        with pytest.raises(HarnessError, match="E-STORE-SECRET"):
            series.add("facts/b.json", SECRET)
        series.ledger("excluded", trial="t1", why=f"said {SECRET.decode()}")
        assert SECRET not in (series.root / "ledger.jsonl").read_bytes()
        assert (series.root / "facts/a.json").read_bytes() == b"1"


@pytest.mark.parametrize("what", ["link", "fifo", "link-dir"])
def test_the_reader_follows_no_link_and_waits_for_no_pipe(series: SeriesStore, tmp_path: Path, what: str) -> None:
    target = tmp_path / "secret"
    target.write_text("elsewhere")
    planted = series.root / "pins" / ("0" * 64 + ".json")
    if what == "link":
        planted.symlink_to(target)
    elif what == "fifo":
        os.mkfifo(planted)
    else:
        (series.root / "trials").symlink_to(tmp_path)
    with SeriesReader(series.root) as reader:
        with pytest.raises(EvidenceError, match=r"E-STORE-(LINK|KIND)"):
            list(reader.files())
        with pytest.raises(EvidenceError, match=r"E-STORE-(LINK|KIND)"):
            if what == "link-dir":
                list(reader.attempts())
            else:
                reader.pin("sha256:" + "0" * 64)
        with pytest.raises(EvidenceError, match="E-STORE-LINK"):
            reader.read("../secret")


def test_the_reader_says_what_is_missing(tmp_path: Path) -> None:
    with SeriesReader(tmp_path) as reader:
        assert list(reader.attempts()) == [] and reader.seals() == () and reader.pins() == {}
        assert reader.journals("t1", 1) == {}
        with pytest.raises(EvidenceError, match="E-STORE-MISSING"):
            reader.plan()
