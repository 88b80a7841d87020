"""A walk sees what is there, is never led outside, and its digest is the records' one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from oyer.errors import HarnessError
from oyer.host import (
    SnapshotCache,
    WalkBounds,
    create_beneath,
    make_parents_beneath,
    read_beneath,
    remove_beneath,
    remove_directory_beneath,
    rename_beneath,
    take_snapshot,
)
from oyer.records import Entry, directory_digest


@pytest.fixture
def world(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / "sub" / "deeper").mkdir(parents=True)
    (root / "a.txt").write_text("alpha")
    (root / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (root / "sub" / "run.sh").chmod(0o755)
    (root / "sub" / "deeper" / "\u00e9.txt").write_bytes(b"\xff\x00")
    return root


def test_lists_files_sorted_with_the_records_digest(world: Path) -> None:
    snapshot = take_snapshot(world)
    assert [entry.path for entry in snapshot.entries] == ["a.txt", "sub/deeper/\u00e9.txt", "sub/run.sh"]
    assert snapshot.by_path()["a.txt"] == Entry("a.txt", False, 5, hashlib.sha256(b"alpha").hexdigest())
    assert snapshot.by_path()["sub/run.sh"].executable
    assert snapshot.digest == directory_digest(snapshot.entries)
    assert (snapshot.special, snapshot.shared) == ((), ())


def test_links_are_listed_and_not_followed(world: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (world / "link").symlink_to(outside)
    (world / "broken").symlink_to("nowhere")
    (world / "hard").hardlink_to(outside / "secret")
    (world / "one").write_text("twice")
    (world / "two").hardlink_to(world / "one")
    snapshot = take_snapshot(world)
    found = snapshot.by_path()
    assert (found["link"].kind, found["link"].target) == ("symlink", str(outside))
    assert found["broken"].target == "nowhere"
    assert not any(path.startswith("link/") for path in found)
    assert snapshot.shared == ("hard",)
    assert read_beneath(world, "link/secret", max_bytes=100) is None
    assert read_beneath(world, "broken", max_bytes=100) is None


def test_special_files_are_named_and_change_the_digest(world: Path) -> None:
    before = take_snapshot(world)
    os.mkfifo(world / "pipe")
    after = take_snapshot(world)
    assert after.special == ("pipe",)
    assert after.entries == before.entries
    assert after.digest != before.digest
    assert read_beneath(world, "pipe", max_bytes=10) is None


def test_names_that_are_no_utf8_are_escaped_and_never_merged(world: Path) -> None:
    (Path(os.fsdecode(os.fsencode(world) + b"/bad\xff"))).write_text("x")
    assert "bad\\xff" in take_snapshot(world).by_path()
    (world / "bad\\xff").write_text("y")
    with pytest.raises(HarnessError, match="E-WORLD-NAME"):
        take_snapshot(world)


def test_bounds_end_a_walk(world: Path) -> None:
    for bounds, code in (
        (WalkBounds(entries=3), "ENTRIES"),
        (WalkBounds(depth=1), "DEPTH"),
        (WalkBounds(total_bytes=10), "SIZE"),
    ):
        with pytest.raises(HarnessError, match=f"E-WORLD-{code}"):
            take_snapshot(world, bounds=bounds)
    with pytest.raises(HarnessError, match="E-WORLD-ROOT"):
        take_snapshot(world / "a.txt")


def test_wanted_limits_what_is_read(world: Path) -> None:
    snapshot = take_snapshot(world, wanted=lambda path: path.endswith(".sh"), bounds=WalkBounds(total_bytes=10))
    assert [entry.path for entry in snapshot.entries] == ["sub/run.sh"]


def test_cache_gives_the_same_snapshot_and_sees_changes(world: Path) -> None:
    cache = SnapshotCache()
    for _ in range(3):
        assert take_snapshot(world, cache=cache) == take_snapshot(world)
    (world / "a.txt").write_text("ALPHA")  # same size, at once
    os.utime(world / "a.txt", ns=(1, 1))
    assert take_snapshot(world, cache=cache) == take_snapshot(world)
    (world / "a.txt").unlink()
    assert take_snapshot(world, cache=cache) == take_snapshot(world)


def test_reading_and_writing_beneath_never_leaves_the_root(world: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (world / "link").symlink_to(outside)
    create_beneath(world, "sub/new", b"content", mode=0o640)
    assert read_beneath(world, "sub/new", max_bytes=7) == b"content"
    assert read_beneath(world, "sub/new", max_bytes=6) is None
    assert (world / "sub" / "new").stat().st_mode & 0o777 == 0o640
    remove_beneath(world, "sub/new")
    assert read_beneath(world, "sub/new", max_bytes=7) is None
    with pytest.raises(OSError, match=r"directory|link"):
        create_beneath(world, "link/escaped", b"x")
    for path in ("../x", "/etc/passwd", "a/../b", "", "sub//x"):
        with pytest.raises(HarnessError, match="E-WORLD-PATH"):
            create_beneath(world, path, b"x")
    assert list(outside.iterdir()) == []


def test_directories_and_names_are_changed_beneath_only(world: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (world / "link").symlink_to(outside)
    assert make_parents_beneath(world, "sub/x/y/file") == ("sub/x", "sub/x/y")
    assert make_parents_beneath(world, "sub/x/y/file") == ()
    create_beneath(world, "sub/x/y/file", b"1")
    rename_beneath(world, "sub/x/y/file", "other")
    assert read_beneath(world, "sub/x/y/other", max_bytes=1) == b"1"
    remove_beneath(world, "sub/x/y/other")
    remove_directory_beneath(world, "sub/x/y")
    with pytest.raises(OSError, match=r"directory|link"):
        make_parents_beneath(world, "link/new/file")
    assert list(outside.iterdir()) == []


def test_a_file_that_claims_to_be_huge_is_not_read_to_find_out(world: Path) -> None:
    with (world / "huge").open("wb") as file:
        file.truncate(2 * 1024**4)
    with pytest.raises(HarnessError, match="E-WORLD-SIZE"):
        take_snapshot(world, bounds=WalkBounds(total_bytes=1024**4))
