"""Copies of a world are equal, fresh and independent; what a world may not hold is refused."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from oyer.errors import RecordError
from oyer.host import WORLD_MTIME_S, WalkBounds, copy_world, take_snapshot


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "sub" / "empty").mkdir(parents=True)
    (root / "a.txt").write_text("alpha")
    (root / "sub" / "run.sh").write_bytes(os.urandom(100_000))
    (root / "sub" / "run.sh").chmod(0o700)
    return root


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        place = tmp_path / f"world{len(list(tmp_path.glob('world*')))}"
        place.mkdir()
        return place

    return make


def archive(tmp_path: Path, *members: tuple[str, bytes | None, dict[str, object]]) -> Path:
    path = tmp_path / "world.tar"
    with tarfile.open(path, "w:") as tar:
        for name, content, more in members:
            info = tarfile.TarInfo(name)
            info.size = len(content or b"")
            for key, value in more.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content or b""))
    return path


def test_copies_are_equal_and_share_nothing(source: Path, fresh: Callable[[], Path]) -> None:
    first, second = fresh(), fresh()
    copy_world(source, first)
    copy_world(source, second)
    digest = take_snapshot(source).digest
    assert take_snapshot(first).digest == take_snapshot(second).digest == digest
    (first / "a.txt").write_text("changed")
    assert (source / "a.txt").read_text() == (second / "a.txt").read_text() == "alpha"
    for path in second.rglob("*"):
        assert path.stat().st_mtime == WORLD_MTIME_S
        assert path.is_dir() or path.stat().st_nlink == 1
    assert (second / "sub" / "empty").is_dir()
    assert second.stat().st_mtime == WORLD_MTIME_S


def test_links_are_refused_unless_declared(source: Path, fresh: Callable[[], Path]) -> None:
    (source / "link").symlink_to("a.txt")
    with pytest.raises(RecordError, match="E-WORLD-LINK"):
        copy_world(source, fresh())
    place = fresh()
    copy_world(source, place, links=["link"])
    assert str((place / "link").readlink()) == "a.txt"
    os.mkfifo(source / "pipe")
    with pytest.raises(RecordError, match="E-WORLD-SPECIAL"):
        copy_world(source, fresh(), links=["link"])


def test_bounds_are_kept(source: Path, fresh: Callable[[], Path]) -> None:
    with pytest.raises(RecordError, match="E-WORLD-SIZE"):
        copy_world(source, fresh(), bounds=WalkBounds(total_bytes=1000))
    with pytest.raises(RecordError, match="E-WORLD-ENTRIES"):
        copy_world(source, fresh(), bounds=WalkBounds(entries=2))


def test_an_archive_gives_the_same_world_as_its_directory(
    tmp_path: Path, source: Path, fresh: Callable[[], Path]
) -> None:
    path = tmp_path / "world.tar"
    with tarfile.open(path, "w:") as tar:
        tar.add(source, arcname=".")
    place = fresh()
    copy_world(path, place)
    assert take_snapshot(place).digest == take_snapshot(source).digest


def test_an_archive_without_directory_members_unpacks(tmp_path: Path, fresh: Callable[[], Path]) -> None:
    place = fresh()
    copy_world(
        archive(tmp_path, ("x/y/z", b"1", {}), ("x/y", None, {"type": tarfile.DIRTYPE}), ("x/w", b"2", {})), place
    )
    assert (place / "x/y/z").read_bytes() + (place / "x/w").read_bytes() == b"12"


@pytest.mark.parametrize(
    "members",
    [
        [("../out", b"x", {})],
        [("/abs", b"x", {})],
        [("a/../../out", b"x", {})],
        [("a", b"x", {}), ("a", b"y", {})],
        [("a", b"x", {}), ("./a", b"y", {})],
        [("a", None, {"type": tarfile.SYMTYPE, "linkname": "/etc"})],
        [("a", None, {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})],
        [("a", None, {"type": tarfile.FIFOTYPE})],
        [("a", None, {"type": tarfile.CHRTYPE})],
    ],
)
def test_hostile_archives_are_refused(
    tmp_path: Path, fresh: Callable[[], Path], members: list[tuple[str, bytes | None, dict[str, object]]]
) -> None:
    with pytest.raises(RecordError):
        copy_world(archive(tmp_path, *members), fresh())
    assert not (tmp_path / "out").exists()


def test_a_declared_link_is_no_way_out(tmp_path: Path, fresh: Callable[[], Path]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    members = (("a", None, {"type": tarfile.SYMTYPE, "linkname": str(outside)}), ("a/b", b"x", {}))
    with pytest.raises(RecordError, match="E-WORLD-PATH"):
        copy_world(archive(tmp_path, *members), fresh(), links=["a"])
    assert list(outside.iterdir()) == []


def test_rubbish_is_no_archive(tmp_path: Path, fresh: Callable[[], Path]) -> None:
    path = tmp_path / "world.tar"
    path.write_bytes(b"rubbish" * 1000)
    with pytest.raises(RecordError, match="E-WORLD-ARCHIVE"):
        copy_world(path, fresh())
