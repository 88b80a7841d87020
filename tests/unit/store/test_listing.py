"""Listing a series names everything that is there, and follows nothing."""

from __future__ import annotations

import os
from pathlib import Path

from oyer.store import SeriesReader


def test_links_pipes_and_depth_are_named_and_never_followed(tmp_path: Path) -> None:
    root = tmp_path / "series"
    (root / "b").mkdir(parents=True)
    (root / "b/file").write_bytes(b"x")
    (root / "a").write_bytes(b"x")
    (tmp_path / "away").mkdir()
    (tmp_path / "away/secret").write_bytes(b"x")
    (root / "c").symlink_to(tmp_path / "away")
    (root / "d").symlink_to("nowhere")
    os.mkfifo(root / "e")
    (root / "/".join(["f"] * 30)).mkdir(parents=True)
    with SeriesReader(root) as reader:
        found = {item.path: item.kind for item in reader.listing()}
    deep = next(path for path in found if path.startswith("f/"))
    assert found == {"a": "file", "b/file": "file", "c": "link", "d": "link", "e": "other", deep: "deep"}


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).write_bytes(b"")
    with SeriesReader(tmp_path) as reader:
        assert [item.path for item in reader.listing()] == ["a", "b", "c"]
