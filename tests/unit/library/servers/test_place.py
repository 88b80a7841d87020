"""Confinement, tested without a process: races with links, sizes and kinds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oyer.library.servers._place import MAX_TEXT_BYTES, Place, PlaceError


def test_a_directory_swapped_for_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    place = Place(str(tmp_path / "in"))
    (tmp_path / "in" / "sub").rmdir()
    (tmp_path / "in" / "sub").symlink_to(tmp_path / "out")
    with pytest.raises(PlaceError):
        place.write_text("sub/file", "x")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_directory_stays_the_one_that_was_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    place = Place(str(tmp_path / "in"))
    (tmp_path / "in").rename(tmp_path / "moved")
    (tmp_path / "in").symlink_to("/")
    place.write_text("file", "x")
    assert (tmp_path / "moved" / "file").read_text() == "x"


def test_too_much_text_is_refused_both_ways(tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    with pytest.raises(PlaceError, match="larger"):
        place.write_text("big", "x" * (MAX_TEXT_BYTES + 1))
    (tmp_path / "big").write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
    with pytest.raises(PlaceError, match="larger"):
        place.read_text("big")


def test_a_lone_surrogate_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="surrogate"):
        Place(str(tmp_path)).write_text("file", "\ud800")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["\ud800", "a/\udcff", "\udfffx/y"])
def test_a_lone_surrogate_in_a_path_is_refused(tmp_path: Path, path: str) -> None:
    place = Place(str(tmp_path))
    for use in (place.read_text, place.listing, lambda given: place.write_text(given, "x")):
        with pytest.raises(PlaceError, match="surrogate"):
            use(path)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    place = Place(str(tmp_path))
    held = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count of names is all that is wanted
    for _ in range(20):
        place.write_text("a/b/file", "x")
        place.read_text("a/b/file")
        place.listing("a")
        with pytest.raises(PlaceError):
            place.read_text("a/c/file")
        with pytest.raises(PlaceError):
            place.read_text("a/b")
    assert len(os.listdir("/proc/self/fd")) == held  # noqa: PTH208
