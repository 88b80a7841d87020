"""How far a series got, by what lies there."""

from __future__ import annotations

import pytest
from golden_build import build_series
from golden_memory import MemoryReader, files_of

from oyer.verify.survey import Phase, shown, take_survey


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("survey") / "series"
    build_series(path, ("wary",), ("baseline", "manipulated"))
    return files_of(path)


def phase(files: dict[str, bytes], ledger: bytes | None) -> Phase:
    changed = {path: data for path, data in files.items() if path != "ledger.jsonl"}
    if ledger is not None:
        changed["ledger.jsonl"] = ledger
    return take_survey(MemoryReader(changed)).phase


def test_the_phases(files: dict[str, bytes]) -> None:
    ledger = files["ledger.jsonl"]
    start = ledger.index(b"\n") + 1
    opening = {path: data for path, data in files.items() if path.startswith(("pins/", "plan", "series"))}
    assert phase(files, ledger) is Phase.CLOSED
    assert phase(files, ledger[: ledger.rindex(b"\n", 0, -1) + 1]) is Phase.OPEN
    assert phase(files, ledger[:-1]) is Phase.OPEN
    assert phase(files, ledger + b"{") is Phase.BROKEN
    assert phase(files, b"") is Phase.BROKEN
    assert phase(files, None) is Phase.BROKEN
    assert phase(files, ledger[:start][:-9]) is Phase.BROKEN
    assert phase(opening, None) is Phase.UNOPENED
    assert phase(opening, ledger[:40]) is Phase.UNOPENED
    assert phase(opening, ledger[:start]) is Phase.OPEN
    assert phase({}, None) is Phase.UNOPENED


def test_it_knows_what_ended_the_ledger(files: dict[str, bytes]) -> None:
    survey = take_survey(MemoryReader(files))
    assert survey.ending is not None and survey.ending.kind == "closed"
    assert survey.judged and not survey.interrupted
    assert len(survey.planned) == 2 and survey.problems == {}


def test_what_cannot_be_read_is_kept_by_its_path(files: dict[str, bytes]) -> None:
    survey = take_survey(MemoryReader({**files, "plan.json": b"{"}))
    assert survey.plan is None and set(survey.problems) == {"plan.json"}


def test_a_path_can_always_be_written() -> None:
    assert shown("a/\udcff") == "a/\\udcff"
