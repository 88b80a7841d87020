"""A run directory is private, short, meaningless, and gone afterwards."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from oyer.errors import HarnessError
from oyer.host import MAX_SOCKET_PATH_BYTES, make_run_dir, open_run_dir, remove_tree


def test_is_private_and_neutral_and_fits_a_socket() -> None:
    with open_run_dir() as run_dir:
        assert stat.S_IMODE(run_dir.root.stat().st_mode) == 0o700
        assert re.fullmatch(r"[a-z][a-z0-9]{11}", run_dir.root.name)
        assert sorted(path.name for path in run_dir.root.iterdir()) == ["h", "o", "s", "t", "w"]
        assert len(os.fsencode(run_dir.new_socket_path())) <= MAX_SOCKET_PATH_BYTES
        (run_dir.world / "deep").mkdir()
        (run_dir.world / "deep" / "file").write_text("x")
        (run_dir.world / "deep").chmod(0)
    assert not run_dir.root.exists()


def test_is_removed_when_the_block_fails() -> None:
    with pytest.raises(ZeroDivisionError), open_run_dir() as run_dir:
        raise ZeroDivisionError
    assert not run_dir.root.exists()


def test_two_directories_never_share_a_place(tmp_path: Path) -> None:
    roots = {make_run_dir(tmp_path).root for _ in range(50)}
    assert len(roots) == 50


def test_removal_does_not_follow_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    with open_run_dir() as run_dir:
        (run_dir.world / "link").symlink_to(outside)
        (run_dir.world / "file").hardlink_to(outside / "kept")
    assert (outside / "kept").read_text() == "kept"
    assert remove_tree(tmp_path / "never there") == ()


def test_a_parent_that_is_too_deep_for_a_socket_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with pytest.raises(HarnessError, match="E-SOCKET-PATH"):
        make_run_dir(deep).new_socket_path()
