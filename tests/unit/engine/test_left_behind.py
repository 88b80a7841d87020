"""What a killed run left behind is removed when the next one starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from series_kit import peer, peer_case, run

from oyer.host import make_run_dir


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    left = make_run_dir(temp)
    mark = left.root / "o"
    word, _, started, boot, space = mark.read_text().split()
    mark.write_text(f"{word} {2**22 + 1} {started} {boot} {space}\n")  # above the largest pid
    mine = temp / "mine"
    mine.mkdir(mode=0o700)
    run([peer_case(tmp_path, peer("plain"))], ["scripted:obedient"], tmp_path / "out")
    assert list(temp.iterdir()) == [mine]
