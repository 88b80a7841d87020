"""What a trial costs the harness: one session, five tool calls, a server in memory; and how much of it is the journal.

The floor is the same in the same run: the same scripted subject, the same server, the same five calls, without a tap,
a relay, a sink or a record. Counted is CPU time: of the harness's own process, and of the processes it starts (subject,
server and, with the harness, the relay). Rounds of both are interleaved, so that whatever else the machine does falls
on both alike. Opening a series and deriving what it shows are left out: they come once, not per trial.

``python bench/trial_cost.py [TRIALS]``
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from oyer.engine import CaseSource, Progress, RunRequest, SubjectSpec, run_series
from oyer.host import base_environment, spawn, terminate_tree
from oyer.records import parse_cases
from oyer.store import JournalWriter
from oyer.subjects.child_lines import encode_open, encode_turn

SERVER = """
import sys
from oyer.protocol import Tool, ToolServer
server = ToolServer("memory", tools=(Tool("echo", "Says it again.", {"type": "object"}, lambda a: a["text"]),))
for line in sys.stdin.buffer:
    answer = server.handle(line)
    if answer is not None:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
"""
STEPS = [{"call": "memory.echo", "arguments": {"text": f"number {number}"}} for number in range(5)]
CASE = """\
oyer: Case@1
id: cost
effect_class: none
servers: {memory: {command: %(command)s, env: {PYTHONPATH: %(sources)s}}}
prompt: Say five numbers.
expected: [{id: called, called: memory.echo}]
doubles: {proper: {main: %(steps)s}, tempted: {main: %(steps)s}}
blame: {dependency_unavailable: blocked, hidden_validator_unavailable: harness_error,
  state_contract_broken: harness_error, budget_exceeded: subject_error, timeout: subject_error}
"""
SOURCES = str(Path(__file__).resolve().parents[1] / "src")
ROUNDS = 4


class Cost(NamedTuple):
    """CPU seconds of this process, and of all that it started."""

    own_s: float
    children_s: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.own_s - other.own_s, self.children_s - other.children_s)

    def __add__(self, other: tuple[Any, ...]) -> Cost:
        return Cost(self.own_s + other[0], self.children_s + other[1])


def now() -> Cost:
    """Read both clocks."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime)


class JournalTime:
    """CPU time that passes inside the journals of the store: recording, flushing, sealing."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self._depth = 0
        for name in ("record", "sync", "seal", "kept"):
            setattr(JournalWriter, name, self._timed(getattr(JournalWriter, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            self._depth += 1
            began = time.thread_time()
            try:
                return method(*arguments, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.spent_s += time.thread_time() - began

        return timed


async def without_harness(place: Path, trials: int) -> Cost:
    """Play the same script against the same server, and nothing in between."""
    servers = {"memory": {"command": [sys.executable, "-c", SERVER], "env": {"PYTHONPATH": SOURCES}}}
    script = {"steps": STEPS, "repeat": False, "turns": 1}
    said = encode_open(servers, "script", script) + encode_turn(0, "Say five numbers.", {})
    env = {**base_environment(place, place, os.environ), "PYTHONPATH": SOURCES}
    began = now()
    for _ in range(trials):
        child = spawn([sys.executable, "-S", "-P", "-m", "oyer.programs.scripted"], env=env, cwd=place)
        os.write(child.stdin_fd, said)
        answer = await asyncio.to_thread(os.read, child.stdout_fd, 65536)
        if json.loads(answer.split(b"\n")[-2])["said"]["calls"] != len(STEPS):
            raise SystemExit(f"the floor did not make its calls: {answer!r}")
        child.close_stdin()
        await terminate_tree(child)
        child.release()
    return now() - began


def with_harness(place: Path, trials: int) -> Cost:
    """Run a series of such trials; count from the first claim to the last seal."""
    path = place / "case.yaml"
    command = json.dumps([sys.executable, "-c", SERVER])
    path.write_text(CASE % {"command": command, "sources": json.dumps(SOURCES), "steps": json.dumps(STEPS)})
    (loaded,) = parse_cases(path.read_bytes(), name=str(path))
    marks: list[Cost] = []

    def mark(progress: Progress) -> None:
        if progress.done in (0, progress.total):
            marks.append(now())

    request = RunRequest(
        (CaseSource(loaded, place, None),), (SubjectSpec("scripted:obedient"),), place / "out", repeat=trials
    )
    outcome = run_series(request, on_progress=mark)
    wrong = [o for o in outcome.result.outcomes.values() if o.measurements["tool_calls"] != len(STEPS)]
    if wrong:
        raise SystemExit(f"a trial did not make its calls: {wrong[0].status} {wrong[0].error}")
    return marks[-1] - marks[0]


def main(trials: int) -> None:
    """Measure and print a table."""
    journal = JournalTime()
    bare, whole = Cost(0, 0), Cost(0, 0)
    each = max(1, trials // ROUNDS)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as place:
            bare += asyncio.run(without_harness(Path(place), each))
            whole += with_harness(Path(place), each)
    count = each * ROUNDS
    print(f"{'CPU ms per trial':26} {'own process':>12} {'started':>9} {'sum':>8}   ({count} trials)")
    for name, cost in (("the calls alone", bare), ("with the harness", whole)):
        own, started = 1e3 * cost.own_s / count, 1e3 * cost.children_s / count
        print(f"{name:26} {own:12.1f} {started:9.1f} {own + started:8.1f}")
    total = (whole.own_s + whole.children_s) / (bare.own_s + bare.children_s)
    print(f"{'ratio':26} {whole.own_s / bare.own_s:12.2f} {whole.children_s / bare.children_s:9.2f} {total:8.2f}")
    share = journal.spent_s / whole.own_s
    print(f"the journal's share of the harness's own: {share:.0%} ({1e3 * journal.spent_s / count:.1f} ms per trial)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
