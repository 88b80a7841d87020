"""Hidden checks of the closing world: declared commands, run on a copy of it after everything is down.

Owns their processes and what is recorded of them. The subject never learns of one, and none can change the evidence:
each has a copy of its own. One that cannot start, or does not end in its time, is `hidden_validator_unavailable`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from oyer.engine.place import place_command
from oyer.errors import OyerError
from oyer.host import Child, Patience, RunDir, base_environment, spawn, terminate_tree
from oyer.instruments import blame_subject
from oyer.records import Case, Validator
from oyer.store import JournalWriter

__all__ = ["VALIDATOR", "run_validators"]

UNAVAILABLE = "hidden_validator_unavailable"
VALIDATOR = "validator:"
"""What the place of every validator's fault begins with."""
_PATIENCE = Patience(settle_s=0.0, term_s=1.0)

Report = Callable[[str, str, str], None]


async def run_validators(
    case: Case, journal: JournalWriter, rundir: RunDir, values: Mapping[str, str], base: Path, report: Report
) -> None:
    """Run every validator of a case, in the order declared. The first that is not available ends it.

    Raises: SubjectError for a world that cannot be copied: the closing look saw it, so this is what was made of it.
    """
    for number, (name, validator) in enumerate(case.validators.items()):
        copy = rundir.root / f"c{number}"
        with blame_subject():
            await asyncio.to_thread(_copy, rundir.world, copy)
        try:
            problem = await _run(name, validator, journal, rundir, {**values, "world": str(copy)}, base, copy)
        except (OyerError, OSError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            report(f"{VALIDATOR}{name}", UNAVAILABLE, problem)
            return


def _copy(world: Path, copy: Path) -> None:
    """Copy the closing world as the subject left it, links and all; pipes, sockets and devices apart."""

    def special(directory: str, names: list[str]) -> list[str]:
        modes = {name: (Path(directory) / name).lstat().st_mode for name in names}
        return [n for n, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))]

    shutil.copytree(world, copy, symlinks=True, ignore=special)


async def _run(
    name: str,
    validator: Validator,
    journal: JournalWriter,
    rundir: RunDir,
    values: Mapping[str, str],
    base: Path,
    copy: Path,
) -> str:
    """Run one validator; return why it gave no answer, an empty text where it did."""
    command = place_command(validator.command, values, base)
    env = base_environment(rundir.home, rundir.temp, os.environ)
    child = spawn(command, env=env, cwd=copy, stdin=False, stdout=False)
    role = f"validator:{name}"
    started = {"role": role, "pid": child.pid, "argv": list(command), "env_names": sorted(env)}
    try:
        journal.record("process.started", started)
        ended = await child.wait_at_most(float(validator.timeout_s))
    finally:
        await _end(child, journal, role)
    if ended is None:
        return f"it did not end within {validator.timeout_s} s"
    return "" if ended.code is not None else f"it was ended by {ended}"


async def _end(child: Child, journal: JournalWriter, role: str) -> None:
    """End what is left of it, and record how it ended."""
    try:
        tree = await terminate_tree(child, patience=_PATIENCE)
        stderr = await child.finish_stderr(1.0)
    finally:
        child.release()
    body = {
        "role": role,
        "pid": child.pid,
        "code": tree.exit.code if tree.exit else None,
        "signal": tree.exit.signal if tree.exit else None,
        "survivors": [{"pid": each.pid, "name": each.name} for each in (*tree.survivors, *tree.unkillable)],
    }
    journal.record("process.exited", body, payloads={"stderr": stderr})
