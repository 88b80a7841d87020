"""A series of three trials, run in a process of its own so that it can be killed at a named fault point.

This program forks one process per line of its standard input (directory, fault plan, file size limit in bytes or 0)
and answers with its exit code. Each fact the process acknowledged (a synced event, a ledger transition, a seal) is in
`<directory>.out` before the next step: whatever was acknowledged must be in the evidence afterwards.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from pathlib import Path

from oyer.errors import OyerError
from oyer.evidence import Envelope, digest_of
from oyer.host import parse_fault_plan
from oyer.store import AttemptStore, SeriesStore

TRIALS = ("t1", "t2", "t3")
WALL = "2026-01-01T00:00:00Z"


def clock() -> tuple[int, str]:
    return time.monotonic_ns(), WALL


def acknowledge(what: str) -> None:
    os.write(1, what.encode() + b"\n")


def run_attempt(attempt: AttemptStore, trial: str) -> None:
    harness, tap = attempt.writer("harness"), attempt.writer("tap:mail")
    opened = {"vocabulary": 1, "case": digest_of(b""), "case_id": "c", "subject": "s", "repetition": 0, "masks": {}}
    first = harness.record("trial.opened", opened)
    tap.record(
        "mcp.noise",
        {"server": "mail", "connection": 0, "side": "server"},
        payloads={"payload": trial.encode() * 3000},
        because=[first],
        sync=True,
    )
    acknowledge(f"event {trial} tap:mail:0")
    tap.record("mcp.session_break", {"server": "mail", "connection": 0, "reason": "end"}, sync=True)
    acknowledge(f"event {trial} tap:mail:1")
    heads = {"tap:mail": tap.seal()._asdict()}
    harness.record("trial.closed", {"status": "completed", "writers": heads})
    harness.seal()
    attempt.seal("completed")
    acknowledge(f"completed {trial}")


def run(store: SeriesStore, attempts: dict[str, int]) -> None:
    for trial, number in attempts.items():
        store.ledger("claimed", trial=trial, attempt=number)
        run_attempt(store.open_attempt(Envelope("s", trial, f"{trial}.{number}", "baseline", number, "boot")), trial)
    store.ledger("closed")
    acknowledge("closed")
    store.add("outcomes/all.json", b"{}")
    store.seal("run")
    acknowledge("sealed")


def scenario(path: Path, fault: str) -> int:
    plan = parse_fault_plan(fault)
    try:
        with SeriesStore.create(path, b"{}", b"{}", {}, clock=clock, fault_point=plan.reach) as store:
            acknowledge("created")
            run(store, dict.fromkeys(TRIALS, 1))
    except OyerError as error:
        return error.exit_code
    return 0


def child(path: Path, fault: str, limit_bytes: int) -> int:
    out = os.open(f"{path}.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file at its limit then is a short write or EFBIG
    if limit_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    return scenario(path, fault)


def main() -> int:
    for line in sys.stdin:
        path, fault, limit_bytes = line.rstrip("\n").split("\t")
        pid = os.fork()
        if pid == 0:
            os._exit(child(Path(path), fault, int(limit_bytes)))
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
