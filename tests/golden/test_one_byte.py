"""One byte changed in any stored file but the index: a check fails and names the file, or the trial it belongs to."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from golden_build import build_series
from golden_memory import files_of, verify_files
from golden_tamper import Forger, failing, flip, told, verify

CLASSES = {
    "series.json": {2, 4},
    "plan.json": {2, 4},
    "pins/*.json": {2, 4},
    "ledger.jsonl": {2, 5},
    "seals/001.json": {2},
    "seals/002.json": {2},
    "trials/*/*wary.r1.manipulated/1.tar.zst": {2, 5},
    "blobs/*/*.zst": {2, 7},
    "outcomes/*wary.r1.baseline.json": {2, 8},
    "comparisons/*wary*.json": {2, 10},
}


@pytest.mark.parametrize("pattern", CLASSES)
def test_each_class_of_files(forger: Forger, pattern: str) -> None:
    target = sorted(forger.root.glob(pattern))[0]
    flip(target, at=target.stat().st_size // 2)
    found = verify(forger.root)
    assert found.exit_code == 4
    assert CLASSES[pattern] <= failing(found), told(found)
    assert target.relative_to(forger.root).as_posix() in told(found)


def test_the_index_is_not_looked_at(forger: Forger) -> None:
    (forger.root / "index.sqlite").write_bytes(b"anything")
    assert verify(forger.root).exit_code == 0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a small series: one subject."""
    path = tmp_path_factory.mktemp("tiny") / "series"
    build_series(path, ("obedient",), ("baseline", "manipulated"))
    assert verify(path).exit_code == 0
    return files_of(path)


def _named_in(path: str, text: str) -> bool:
    trial = Path(path).parent.name if path.startswith("trials/") else path
    return path in text or trial in text


def test_a_sample_of_all_bytes(tiny: dict[str, bytes]) -> None:
    chosen = random.Random(7)
    for path, data in tiny.items():
        places = {0, len(data) - 1, *(chosen.randrange(len(data)) for _ in range(3))}
        for at in sorted(places):
            changed = bytearray(data)
            changed[at] ^= chosen.choice((1, 2, 32, 128, 255))
            found = verify_files({**tiny, path: bytes(changed)})
            assert found.exit_code == 4, (path, at)
            assert _named_in(path, told(found)), (path, at, told(found))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_larger_sample(tiny: dict[str, bytes]) -> None:
    step = max(1, sum(map(len, tiny.values())) // 400)
    for path, data in tiny.items():
        for at in range(0, len(data), step):
            changed = bytearray(data)
            changed[at] ^= 1
            found = verify_files({**tiny, path: bytes(changed)})
            assert found.exit_code == 4 and _named_in(path, told(found)), (path, at)
