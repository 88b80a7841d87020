"""Children get exactly what was declared, and end with everything they started."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

from oyer.host import (
    BoundedBytes,
    Child,
    Exit,
    Patience,
    RunDir,
    base_environment,
    become_subreaper,
    last_words,
    open_run_dir,
    reap_orphans,
    spawn,
    strays,
    sweep_run,
    terminate_tree,
)
from oyer.host.process_table import descendants_of, process_info

QUICK = Patience(settle_s=0.15, term_s=0.15, kill_s=60.0)
"""For what does not end by itself: what does is given all the time it needs."""
PEERS = Path(__file__).parents[2] / "peers"


@pytest.fixture(autouse=True)
def _subreaper() -> None:
    become_subreaper()


def start(*argv: str, cwd: Path, **env: str) -> Child:
    return spawn(argv, env={"PATH": os.environ["PATH"], **env}, cwd=cwd)


def python(code: str, cwd: Path, **env: str) -> Child:
    return start(sys.executable, "-I", "-S", "-c", code, cwd=cwd, **env)


async def read_line(child: Child) -> bytes:
    fd = child.stdout_fd
    os.set_blocking(fd, True)
    return await asyncio.to_thread(os.read, fd, 65536)


def alive(pid: int) -> bool:
    row = process_info(pid)
    return row is not None and not row.is_zombie


async def test_environment_is_exactly_the_declared_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-7f3a")
    declared = base_environment(tmp_path / "h", tmp_path / "t", os.environ) | {"MODE": "test"}
    child = spawn(["/usr/bin/env"], env=declared, cwd=tmp_path)
    shown = (await read_line(child)).decode()
    assert await child.wait() == Exit(0, None)
    child.release()
    assert sorted(line.partition("=")[0] for line in shown.strip().split("\n")) == sorted(declared)
    assert "canary-7f3a" not in shown


async def test_program_that_does_not_exist_raises_and_leaks_nothing(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        start("/nonexistent/program", cwd=tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_stdin_eof_is_enough_for_a_polite_child(tmp_path: Path) -> None:
    child = python("import sys; sys.stdin.read(); print('bye', file=sys.stderr)", tmp_path)
    end = await terminate_tree(child, patience=QUICK._replace(settle_s=60))
    assert (end.exit, end.forced, end.survivors) == (Exit(0, None), "eof", ())
    assert await child.finish_stderr(60) == b"bye\n"
    child.release()


async def test_child_that_ignores_eof_and_sigterm_is_killed(tmp_path: Path) -> None:
    code = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    child = python(code, tmp_path)
    await read_line(child)
    end = await terminate_tree(child, patience=QUICK)
    assert (end.exit, end.forced, end.unkillable) == (Exit(None, 9), "kill", ())
    child.release()


async def test_server_below_a_shell_that_ignores_sigterm_is_ended_and_named(tmp_path: Path) -> None:
    script = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(PEERS / 'stubborn.py'))}; true"
    child = start("/bin/sh", "-c", script, cwd=tmp_path)
    pid = int(await read_line(child))
    assert pid != child.pid
    end = await terminate_tree(child, patience=QUICK)
    assert pid in {survivor.pid for survivor in end.survivors}
    assert not alive(pid)
    child.release()


async def test_daemon_in_a_session_of_its_own_is_found_by_its_marker(tmp_path: Path) -> None:
    child = start(sys.executable, "-I", "-S", str(PEERS / "daemon.py"), cwd=tmp_path, TMPDIR=str(tmp_path / "mark"))
    pid = int(await read_line(child))
    await child.wait()
    assert alive(pid)
    end = await terminate_tree(child, marker=str(tmp_path / "mark"), patience=QUICK)
    assert [survivor.pid for survivor in end.survivors] == [pid]
    assert not alive(pid)
    child.release()


async def test_sweep_finds_what_carries_the_run_directory_and_nothing_else(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for place in (mine, other):
        place.mkdir()
    inside = python("import time; print(1, flush=True); time.sleep(60)", mine)
    outside = python("import time; print(1, flush=True); time.sleep(60)", other)
    await read_line(inside)
    await read_line(outside)
    killed, left = await sweep_run(str(mine))
    assert ([survivor.pid for survivor in killed], left) == ([inside.pid], ())
    assert await inside.wait() == Exit(None, 9)
    assert outside.exit is None
    await terminate_tree(outside, patience=QUICK)
    inside.release()
    outside.release()


@pytest.mark.parametrize(("script", "exit_code"), [("(sleep 60 &) ; exit 0", 0), ("sleep 60 & wait", None)])
async def test_exit_and_end_of_pipe_are_two_things(tmp_path: Path, script: str, exit_code: int | None) -> None:
    child = start("/bin/sh", "-c", script, cwd=tmp_path)
    seen = await child.wait_at_most(60 if exit_code is not None else 0.3)
    assert (seen.code if seen else None) == exit_code
    end = await terminate_tree(child, patience=QUICK._replace(term_s=60))
    assert end.survivors or end.forced == "term"
    assert await child.finish_stderr(0.2) == b""
    assert [row.name for row in descendants_of(os.getpid()) if row.name == "sleep" and not row.is_zombie] == []
    child.release()


BARE_DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        nap = "import os, time; os.write(1, b'%d' % os.getpid()); os.closerange(0, 64); time.sleep(60)"
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", nap], {})
    os._exit(0)
os.wait()
"""


@pytest.fixture(autouse=True)
def no_runs_of_other_tests() -> None:
    """A run that another test of this process left open would be one more that a stray may belong to."""
    strays._open.clear()


async def bare_daemon(run_dir: RunDir) -> int:
    """Start a tree that leaves a daemon with no sign of its run; return its pid once its parents are gone."""
    child = python(BARE_DAEMON, run_dir.world, TMPDIR=str(run_dir.temp))
    pid = int(await read_line(child))
    await child.wait()
    await terminate_tree(child, marker=str(run_dir.root), patience=QUICK)
    child.release()
    return pid


async def test_a_daemon_that_sheds_every_sign_of_its_run_ends_with_the_run() -> None:
    with open_run_dir() as run_dir:
        pid = await bare_daemon(run_dir)
        assert alive(pid)
        killed, left = await sweep_run(str(run_dir.root))
    assert ([survivor.pid for survivor in killed], left) == ([pid], ())
    assert not alive(pid)


async def test_a_daemon_of_one_of_two_runs_waits_for_the_last_it_may_belong_to() -> None:
    with open_run_dir() as one, open_run_dir() as two:
        pid = await bare_daemon(one)
        assert await sweep_run(str(one.root)) == ((), ())
        assert alive(pid)
        with open_run_dir() as later:
            killed, _ = await sweep_run(str(two.root))
            assert [survivor.pid for survivor in killed] == [pid]
            assert await sweep_run(str(later.root)) == ((), ())


async def test_a_child_that_somebody_else_here_started_is_no_stray() -> None:
    with open_run_dir() as run_dir, subprocess.Popen(["/bin/sleep", "60"]) as theirs:
        assert await sweep_run(str(run_dir.root)) == ((), ())
        assert theirs.poll() is None
        theirs.kill()


async def test_ended_orphans_are_reaped_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = start("/bin/sh", "-c", "(sleep 0.05 & echo $!)", cwd=tmp_path)
    pid = int(await read_line(child))
    await child.wait()
    await until(lambda: not alive(pid))
    reap_orphans()
    monkeypatch.setattr("oyer.host.process_tree._ORPHAN_WAIT_S", 0.0)
    reap_orphans()
    assert process_info(pid) is None
    child.release()


def test_bounded_bytes_keep_head_and_tail_and_say_what_is_missing() -> None:
    kept = BoundedBytes(4, 4)
    for piece in (b"ab", b"cdef", b"ghij", b"klmnopqrst"):
        kept.add(piece)
    assert kept.cut_bytes == 12
    assert kept.value() == b"abcd\n[... 12 bytes cut ...]\nqrst"
    short = BoundedBytes(4, 4)
    short.add(b"abcdefgh")
    assert (short.value(), short.cut_bytes) == (b"abcdefgh", 0)


def test_the_last_words_of_a_process_say_how_much_is_missing() -> None:
    assert last_words(b" all of it \n", 100) == "all of it"
    assert last_words(b"x" * 50 + b"the end\n", 8) == "[... 50 bytes cut ...] the end"
    # Half a character is not shown as a mark of its own.
    assert last_words("ééé".encode(), 3) == "[... 4 bytes cut ...] é"
