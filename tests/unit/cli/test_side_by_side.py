"""Work in processes of their own: results in order, errors whole, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import wait_until

from oyer.cli.side_by_side import cores, side_by_side
from oyer.errors import HarnessError, RecordError
from oyer.records import Session


def nothing(_: int) -> None:
    pass


def test_results_come_in_the_order_of_the_things_and_from_other_processes() -> None:
    def work(number: int) -> tuple[int, int, Session]:
        time.sleep(0.05 * (4 - number))
        return number, os.getpid(), Session(id=f"s{number}", turns=("a",))

    told: list[int] = []
    found = side_by_side([0, 1, 2, 3], work, told.append, jobs=4)
    assert [number for number, _, _ in found] == [0, 1, 2, 3]
    assert [session.id for _, _, session in found] == ["s0", "s1", "s2", "s3"]
    assert os.getpid() not in {pid for _, pid, _ in found}
    assert told[0] == 0
    assert told == sorted(told)


@pytest.mark.parametrize(("things", "jobs"), [([1], 8), ([1, 2, 3], 1)])
def test_one_thing_or_one_job_needs_no_other_process(things: list[int], jobs: int) -> None:
    assert side_by_side(things, lambda _: os.getpid(), nothing, jobs=jobs) == [os.getpid()] * len(things)


def test_an_error_comes_back_as_what_it_is_with_all_it_says() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise RecordError("E-SOME-CODE", "it is wrong", where="a.yaml:1", hint="write it right")
        return number

    with pytest.raises(RecordError) as caught:
        side_by_side([0, 1, 2], work, nothing, jobs=2)
    assert caught.value.problems[0] == ("E-SOME-CODE", "it is wrong", "a.yaml:1", "write it right")


def test_what_was_interrupted_is_interrupted() -> None:
    def work(number: int) -> int:
        if number == 0:
            raise KeyboardInterrupt
        return number

    with pytest.raises(KeyboardInterrupt):
        side_by_side([0, 1, 2], work, nothing, jobs=2)


def test_after_an_error_nothing_more_is_begun(tmp_path: Path) -> None:
    def work(number: int) -> int:
        (tmp_path / str(number)).touch()
        if number == 0:
            raise RecordError("E-SOME-CODE", "it is wrong")
        wait_until(sys.modules[side_by_side.__module__]._stopped.is_set)  # it works on until the error has been seen
        return number

    with pytest.raises(RecordError):
        side_by_side(list(range(12)), work, nothing, jobs=2)
    assert len(list(tmp_path.iterdir())) <= 3


def test_nothing_works_on_where_the_program_was_killed(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys, time\n"
        "from oyer.cli.side_by_side import side_by_side\n"
        "def work(number):\n"
        "    (pathlib.Path(sys.argv[1]) / str(os.getpid())).touch()\n"
        "    time.sleep(1)\n"
        "side_by_side(list(range(40)), work, lambda _: None, jobs=2)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    child.kill()
    child.wait()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    wait_until(lambda: not any(_lives(pid) for pid in workers))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_that_was_ended_is_told(tmp_path: Path) -> None:
    def work(number: int) -> int:
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(HarnessError, match="E-WORKER-ENDED"):
        side_by_side([0, 1, 2], work, nothing, jobs=2)


def test_this_machine_has_processors() -> None:
    assert cores() >= 1
