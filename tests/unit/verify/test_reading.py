"""From a stored series to what scoring is given."""

from __future__ import annotations

import pytest
from golden_build import build_series
from golden_memory import MemoryReader, files_of

from oyer.adjudicate import derive_series, derived_files
from oyer.errors import EvidenceError, RecordError
from oyer.records import Plan, Series
from oyer.verify import parse_record, read_series


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("reading") / "series"
    build_series(path, ("wary",), ("baseline", "manipulated"))
    return files_of(path)


def test_what_is_read_derives_what_was_recorded(files: dict[str, bytes]) -> None:
    reading = read_series(MemoryReader(files))
    derived = derived_files(derive_series(reading.given))
    assert set(derived) == {path for path in files if path.startswith(("outcomes/", "comparisons/"))}
    assert all(files[path] == data for path, data in derived.items())
    assert reading.problems == ()


def test_trials_are_read_each_time_they_are_asked_for(files: dict[str, bytes]) -> None:
    changing = dict(files)
    trials = read_series(MemoryReader(changing)).trials
    name = next(iter(trials))
    assert trials[name].evidence.defects == () and len(trials) == 2
    del changing[next(path for path in changing if f"/{name}/" in path)]
    assert trials[name].evidence.defects != ()
    with pytest.raises(KeyError):
        trials["unplanned"]


def test_an_attempt_that_cannot_be_unpacked_has_no_journals_and_says_why(files: dict[str, bytes]) -> None:
    path = next(path for path in files if path.startswith("trials/"))
    reading = read_series(MemoryReader({**files, path: b"no frame"}))
    evidence = [reading.trials[name].evidence for name in reading.trials]
    assert sum("E-ATTEMPT-HARNESS" in [d.code for d in found.defects] for found in evidence) == 1
    assert [problem.code for problem in reading.problems] == ["E-BLOB-FORM"]


def test_a_pinned_case_that_is_gone(files: dict[str, bytes]) -> None:
    kept = {path: data for path, data in files.items() if b'"oyer":"Case@1"' not in data}
    with pytest.raises(EvidenceError, match="not retained"):
        read_series(MemoryReader(kept))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"oyer":"Plan@1"}', b'{"oyer": "Series@1"}', b"\xff"])
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        parse_record(data, Series, "series.json")


def test_a_record_of_another_kind_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(RecordError, match=r"series\.json"):
        parse_record(files["plan.json"], Series, "series.json")
    assert parse_record(files["plan.json"], Plan, "plan.json").seed == 7
