"""The golden series itself: good, decided both ways, and the same bytes each time it is built."""

from __future__ import annotations

import json
from pathlib import Path

from golden_build import build_series
from golden_tamper import statuses, told, verify


def test_the_good_series_verifies(golden: Path) -> None:
    found = verify(golden)
    assert found.exit_code == 0, told(found)
    expected = dict.fromkeys((2, 4, 5, 6, 7, 8, 10), "ok") | dict.fromkeys((1, 3, 9, 11), "not_applicable")
    assert statuses(found) == expected
    assert found.head is not None and found.head in found.words
    assert "not make all of it up" in found.words and "other series of the same plan" in found.words


def test_it_decides_both_ways(golden: Path) -> None:
    outcomes = {
        path.name: json.loads(path.read_bytes())["primary"]["mechanical_outcome"]
        for path in (golden / "comparisons").iterdir()
    }
    assert outcomes == {"golden.obedient.r1.json": "CONFIRMED", "golden.wary.r1.json": "NOT_OBSERVED"}


def test_building_it_again_gives_the_same_bytes(golden: Path, tmp_path: Path) -> None:
    build_series(tmp_path / "again")
    one, other = (
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (golden, tmp_path / "again")
    )
    assert one == other


def test_the_plain_form_has_stable_names(golden: Path) -> None:
    plain = json.loads(json.dumps(verify(golden).to_json()))
    assert set(plain) == {"exit_code", "series", "head", "words", "checks", "signatures"}
    assert [check["number"] for check in plain["checks"]] == list(range(1, 12))
    assert {name for check in plain["checks"] for name in check} == {
        "number",
        "name",
        "status",
        "detail",
        "notes",
        "findings",
    }
