"""Fault points do nothing unless asked, and then exactly what was asked at exactly the n-th arrival."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys

import pytest

from oyer.errors import UsageError
from oyer.host import parse_fault_plan


def test_acts_at_the_nth_arrival_only() -> None:
    plan = parse_fault_plan("store.fsync:3=enospc, tap.forward=eio")
    plan.reach("elsewhere")
    plan.reach("store.fsync")
    plan.reach("store.fsync")
    with pytest.raises(OSError, match=r"store\.fsync") as caught:
        plan.reach("store.fsync")
    assert caught.value.errno == errno.ENOSPC
    plan.reach("store.fsync")
    with pytest.raises(OSError, match=r"tap\.forward"):
        plan.reach("tap.forward")


@pytest.mark.parametrize("text", ["x", "x=explode", "x:0=kill", "=kill", "x:kill", "X=kill"])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="E-FAULT-PLAN"):
        parse_fault_plan(text)


def test_environment_kills_the_process_at_the_point() -> None:
    code = "from oyer.host.faultpoints import reach; reach('a'); reach('b'); print('alive')"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"OYER_FAULT": "b=kill", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"")
