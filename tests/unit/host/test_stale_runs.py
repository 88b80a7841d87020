"""What a killed process left behind is removed at the next start, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from oyer.host import make_run_dir, stale_runs, sweep_stale_runs

KILLED = """
import os, sys
from pathlib import Path
from oyer.host import make_run_dir
made = make_run_dir(Path(sys.argv[1]))
(made.world / "deep").mkdir()
(made.world / "deep" / "file").write_text("x")
(made.world / "deep").chmod(0)
print(made.root, flush=True)
os.kill(os.getpid(), 9)
"""


def leave(place: Path) -> Path:
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    return Path(done.stdout.strip())


def test_what_a_killed_process_left_is_found_and_removed(tmp_path: Path) -> None:
    left = leave(tmp_path)
    assert stale_runs((tmp_path,)) == (left,)
    assert sweep_stale_runs((tmp_path,)) == (left,)
    assert list(tmp_path.iterdir()) == []


def test_what_a_living_process_uses_stays(tmp_path: Path) -> None:
    made = make_run_dir(tmp_path)
    assert sweep_stale_runs((tmp_path,)) == ()
    assert made.world.is_dir()
    made.remove()


def test_a_pid_that_somebody_else_has_now_is_another_process(tmp_path: Path) -> None:
    made = make_run_dir(tmp_path)
    mark = made.root / "o"
    word, pid, started, boot, space = mark.read_text().split()
    mark.write_text(f"{word} {pid} {int(started) + 1} {boot} {space}\n")
    assert stale_runs((tmp_path,)) == (made.root,)
    mark.write_text(f"{word} {pid} {int(started) + 1} {boot} {int(space) + 1}\n")
    assert stale_runs((tmp_path,)) == ()  # its maker cannot be looked for from here
    mark.write_text(f"{word} {pid} {started} another-boot {int(space) + 1}\n")
    assert stale_runs((tmp_path,)) == (made.root,)
    made.remove()


@pytest.mark.parametrize("mark", [None, "", "oyer 1 2", "oyer x 2 b 1\n", "other 999999 1 b 1\n", "oyer 999999 1 b 1"])
def test_what_has_no_whole_mark_stays(tmp_path: Path, mark: str | None) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "mine").mkdir(mode=0o700)
    if mark is not None:
        (place / "mine" / "o").write_text(mark)
    assert sweep_stale_runs((place,)) == ()
    assert (place / "mine").is_dir()


def test_what_others_may_enter_and_links_stay(tmp_path: Path) -> None:
    left = leave(tmp_path)
    place = tmp_path / "place"
    place.mkdir()
    (place / "link").symlink_to(left)
    assert sweep_stale_runs((place,)) == ()
    left.chmod(0o755)
    assert sweep_stale_runs((tmp_path,)) == ()
    assert left.is_dir()
