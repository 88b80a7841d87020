"""A series is opened where there is one, and never written where something is."""

from __future__ import annotations

from pathlib import Path

import pytest

from oyer.cli import main
from oyer.cli.places import new_series_path, open_series_reader
from oyer.errors import UsageError


@pytest.mark.parametrize("command", ["show", "verify"])
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_nothing_found_is_never_success(
    command: str, as_json: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "gone"), *as_json]) == 2
    assert main([command, str(tmp_path), *as_json]) == 2
    (tmp_path / "file").write_text("x")
    assert main([command, str(tmp_path / "file"), *as_json]) == 4
    (tmp_path / "seals").mkdir()
    assert main([command, str(tmp_path), *as_json]) != 0


def test_a_taken_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link"):
        with pytest.raises(UsageError):
            new_series_path(tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert new_series_path(tmp_path / "empty") == tmp_path / "empty"
    assert new_series_path(tmp_path / "new") == tmp_path / "new"


def test_the_usual_place_is_fresh_and_not_made_yet() -> None:
    one, other = new_series_path(None), new_series_path(None)
    assert one != other
    assert one.parent == Path("runs")
    assert not one.exists()


def test_an_empty_directory_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="empty directory"):
        open_series_reader(tmp_path)


def test_a_place_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        new_series_path(tmp_path / "file" / "deep" / "series")
    assert new_series_path(tmp_path / "new" / "deep") == tmp_path / "new" / "deep"
