"""Whatever a subject builds, its run directory can be deleted, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

from oyer.host import remove_tree


def nest(root: Path, levels: int) -> None:
    """Make directories deeper than a path can be long."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=here))
    os.close(here)


def test_a_tree_deeper_than_any_path_and_any_stack(tmp_path: Path) -> None:
    root = tmp_path / "run"
    root.mkdir()
    nest(root, 1100)
    assert remove_tree(root) == ()
    assert not root.exists()


def test_a_link_is_deleted_and_where_it_leads_is_kept(tmp_path: Path) -> None:
    root, away = tmp_path / "run", tmp_path / "away"
    for place in (root / "inner", away):
        place.mkdir(parents=True)
    (away / "kept").write_text("kept")
    (root / "inner" / "out").symlink_to(away)
    (root / "out").symlink_to(away)
    (root / "gone").symlink_to("/nonexistent")
    os.mkfifo(root / "inner" / "pipe")
    assert remove_tree(root) == ()
    assert (not root.exists(), (away / "kept").read_text()) == (True, "kept")


def test_a_link_in_the_place_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "away")
    assert remove_tree(tmp_path / "run") == ()
    assert [path.name for path in tmp_path.iterdir()] == ["away"]


def test_permissions_that_were_taken_away(tmp_path: Path) -> None:
    root = tmp_path / "run"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("x")
    for place in (root / "a" / "b", root / "a", root):
        place.chmod(0)
    assert remove_tree(root) == ()
    assert not root.exists()


def test_names_that_are_no_text(tmp_path: Path) -> None:
    root = tmp_path / "run"
    (root / "a").mkdir(parents=True)
    for name in (b"caf\xe9", b"new\nline", b"\x1b[31m"):
        text = os.fsdecode(name)
        (root / "a" / text / text).mkdir(parents=True)
    assert remove_tree(root) == ()
    assert not root.exists()
