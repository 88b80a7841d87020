"""The process table is read right, also for names made to mislead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from oyer.host.process_table import (
    all_processes,
    children_of,
    descendants_of,
    names_run,
    process_info,
    send_signal,
)


def test_a_program_name_with_parentheses_does_not_confuse(tmp_path: Path) -> None:
    program = tmp_path / "a) Z 1 ("
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"], env={"RUN": str(tmp_path)}) as child:
        row = process_info(child.pid)
        assert row is not None
        assert (row.pid, row.parent, row.name) == (child.pid, os.getpid(), "a) Z 1 (")
        assert child.pid in children_of(os.getpid())
        assert child.pid in {info.pid for info in descendants_of(os.getpid())}
        assert child.pid in {info.pid for info in all_processes()}
        assert names_run(child.pid, str(tmp_path))
        assert not names_run(child.pid, str(tmp_path / "other"))
        assert not send_signal(row._replace(started=row.started - 1), signal.SIGKILL)
        assert send_signal(row, signal.SIGKILL)
    assert process_info(child.pid) is None
    assert not send_signal(row, signal.SIGKILL)
    assert not names_run(child.pid, str(tmp_path))


def test_descendants_are_found_at_any_depth() -> None:
    script = "sh -c 'sleep 60 & echo $!; wait' & wait"
    with subprocess.Popen(
        ["/bin/sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True, text=True
    ) as child:
        assert child.stdout is not None
        deepest = int(child.stdout.readline())
        assert deepest in {info.pid for info in descendants_of(child.pid)}
        os.killpg(child.pid, signal.SIGKILL)
    assert sys.platform != "linux" or process_info(child.pid) is None
