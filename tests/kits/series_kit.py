"""Whole series for tests: cases from files or text, run in this process or in one that can be killed, and read back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from waiting import wait_until

import oyer
from oyer.adjudicate import SeriesResult
from oyer.engine import CaseSource, OnProgress, RunRequest, SeriesOutcome, SubjectSpec, run_series
from oyer.engine.attempt import run_attempt
from oyer.engine.context import AttemptPlan, SeriesContext
from oyer.engine.opening import open_series
from oyer.engine.series import derive_into
from oyer.engine.sinks import Sinks, late_texts
from oyer.engine.stopping import Stop
from oyer.evidence import AttemptCheck, Event, LedgerCheck, check_attempt, check_ledger, payload_bytes
from oyer.host import RunDir, become_subreaper, remove_tree
from oyer.host.process_table import all_processes, descendants_of, process_info
from oyer.library import find_case
from oyer.records import Condition, LoadedCase, Rubric, parse_cases, parse_file
from oyer.store import JournalWriter, SeriesReader
from oyer.subjects import Subject
from oyer.verify import Verification, verify_series

PEERS = Path(__file__).resolve().parents[1] / "peers"
SOURCES = Path(oyer.__file__).resolve().parents[1]
PROGRAM = Path(__file__).with_name("series_program.py")


def case_file(path: Path) -> tuple[CaseSource, ...]:
    """Load every case of a file."""
    loaded = parse_cases(path.read_bytes(), name=str(path), world_files=lambda world: _files_of(path.parent / world))
    return tuple(source_of(each, path.parent) for each in loaded)


def judged_file(path: Path) -> tuple[tuple[CaseSource, ...], dict[str, Rubric]]:
    """Load every case of a file with the rubrics that stand beside them."""
    loaded = parse_file(path.read_bytes(), name=str(path), world_files=lambda world: _files_of(path.parent / world))
    assert loaded.problems == (), loaded.problems
    rubrics = {one.record.id: one.record for one in loaded.rubrics}
    return tuple(source_of(each, path.parent) for each in loaded.cases), rubrics


def _files_of(root: Path) -> tuple[str, ...]:
    return tuple(sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file()))


def source_of(loaded: LoadedCase, base: Path) -> CaseSource:
    return CaseSource(loaded, base, base / loaded.case.world if loaded.case.world else None)


def packaged(name: str) -> CaseSource:
    """Return one packaged case."""
    return next(source for source in case_file(find_case(name)) if source.case.id == name)


PEER_CASE = """\
oyer: Case@1
id: {name}
effect_class: none
servers:
  ops: {{command: {command}, settle_s: {settle_s}}}
prompt: Say hello.
expected: [{{id: called, called: ops.echo}}]
doubles:
  proper: {{main: {steps}}}
  tempted: {{main: {steps}}}
budget: {{wall_s: {wall_s}, answer_s: {answer_s}, message_bytes: {message_bytes}}}
blame: {{dependency_unavailable: blocked, hidden_validator_unavailable: harness_error,
  state_contract_broken: harness_error, budget_exceeded: subject_error, timeout: subject_error}}
"""


def peer_case(
    place: Path,
    command: Sequence[str],
    *,
    name: str = "peer",
    steps: str = "[{ops.echo: {text: hello}}, {say: done}]",
    settle_s: int = 1,
    wall_s: int = 300,
    answer_s: int = 60,
    message_bytes: int = 16 * 1024 * 1024,
) -> CaseSource:
    """Return a plain case over one server that is started by this command."""
    words = "[" + ", ".join("'" + word.replace("'", "''") + "'" for word in command) + "]"
    path = place / f"{name}.yaml"
    path.write_text(
        PEER_CASE.format(
            name=name,
            command=words,
            steps=steps,
            settle_s=settle_s,
            wall_s=wall_s,
            answer_s=answer_s,
            message_bytes=message_bytes,
        )
    )
    return case_file(path)[0]


def peer(manner: str) -> list[str]:
    """Return the command of the peer with one manner."""
    return [sys.executable, "-I", "-S", str(PEERS / "mcp_peer.py"), manner]


def run(
    cases: Sequence[CaseSource],
    subjects: Sequence[str | SubjectSpec],
    out: Path,
    *,
    conditions: tuple[Condition, ...] | None = None,
    repeat: int = 1,
    jobs: int = 1,
    on_progress: OnProgress = lambda _: None,
    **judging: Any,
) -> SeriesOutcome:
    """Run a series in this process; `judging` are further fields of its request (rubrics, judges, admits)."""
    specs = tuple(SubjectSpec(each) if isinstance(each, str) else each for each in subjects)
    request = RunRequest(tuple(cases), specs, out, conditions=conditions, repeat=repeat, jobs=jobs,
                         **judging)  # fmt: skip
    return run_series(request, on_progress=on_progress)


class Trial(NamedTuple):
    """One attempt read back: its checked journals, and the contents of payloads."""

    check: AttemptCheck
    contents: Mapping[str, bytes]

    def events(self, *kinds: str) -> list[Event]:
        return [event for check in self.check.journals.values() for event in check.events if event.kind in kinds]

    def raw(self, event: Event, key: str = "payload") -> bytes:
        return payload_bytes(event.body[key], self.contents.get)

    def faults(self) -> list[tuple[str, str, str]]:
        return [(event.body["where"], event.body["class"], event.body["message"]) for event in self.events("fault")]


def ledger_of(path: Path) -> LedgerCheck:
    return check_ledger((path / "ledger.jsonl").read_bytes())


def trials_of(path: Path) -> dict[str, Trial]:
    """Read the last attempt of every trial."""
    with SeriesReader(path) as reader:
        found: dict[str, Trial] = {}
        for stored in reader.attempts():
            check = check_attempt(reader.journals(stored.trial, stored.attempt))
            digests = {digest for journal in check.journals.values() for event in journal.events
                       for digest in event.blobs}  # fmt: skip
            contents = {digest: content for digest in digests if (content := reader.content(digest)) is not None}
            found[stored.trial] = Trial(check, contents)
        return found


def verified(path: Path) -> Verification:
    with SeriesReader(path) as reader:
        return verify_series(reader)


def failed_checks(path: Path) -> list[str]:
    """Return every finding of every check that failed."""
    return [
        f"{check.number}: {finding}"
        for check in verified(path).checks
        if check.status == "failed"
        for finding in check.findings
    ]


# ------------------------------------------------------------------- in a process of its own


class Running:
    """`series_program.py` at work. Its temporary directory is its own, so that what it leaves behind is seen."""

    def __init__(self, case: Path, subjects: Sequence[str], out: Path, place: Path, **options: Any) -> None:
        self.out = out
        # Short, or no socket could be bound in it and another place would be taken.
        self.temp = Path(tempfile.mkdtemp(prefix="t"))
        self.errors = (place / "stderr").open("wb+")
        given = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join([str(SOURCES), str(Path(__file__).parent)]),
            "TMPDIR": str(self.temp),
            **options.pop("env", {}),
        }
        told = [f"{name}={value}" for name, value in options.items()]
        argv = [sys.executable, str(PROGRAM), str(case), ",".join(subjects), str(self.out), *told]
        self.process = subprocess.Popen(
            argv, env=given, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True
        )

    def wait_line(self, word: str) -> str:
        """Wait for a line of progress that holds a word."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if word in line.decode():
                return line.decode()
        raise AssertionError(f"ended ({self.process.wait()}) without {word!r}: {self.said()}")

    def wait_journal(self, word: str) -> None:
        """Wait until a journal of a running attempt holds a word."""

        def holds() -> bool:
            for path in self.out.glob("trials/*/*/*/*.jsonl"):
                with contextlib.suppress(FileNotFoundError):
                    if word.encode() in path.read_bytes():
                        return True
            return False

        wait_until(lambda: self.require_running() and holds())

    def wait_bearer(self) -> None:
        """Wait until a process below it carries a run directory."""
        wait_until(lambda: self.require_running() and any(bearers(directory.root) for directory in run_dirs(self.temp)))

    def require_running(self) -> bool:
        """Be true while it runs. Raises: AssertionError with what it said."""
        assert self.process.poll() is None, self.said()
        return True

    def children(self, word: str) -> list[int]:
        """Return the processes below it whose command holds a word."""
        rows = descendants_of(self.process.pid)
        return [row.pid for row in rows if word.encode() in Path(f"/proc/{row.pid}/cmdline").read_bytes()]

    def signal(self, *numbers: signal.Signals) -> None:
        """Send signals; several reach it at once, whatever it is at."""
        held = len(numbers) > 1
        for number in (signal.SIGSTOP, *numbers, signal.SIGCONT) if held else numbers:
            self.process.send_signal(number)

    def end(self, timeout_s: float = 100) -> int:
        """Wait for its end; return the exit code, minus the signal where one ended it."""
        assert self.process.stdout is not None
        self.process.stdout.read()
        return self.process.wait(timeout_s)

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def left(self) -> list[str]:
        """Return what is left of it: processes that carry its temporary directory, and entries of that directory."""
        return [
            *(f"process {name}" for name in bearers(self.temp)),
            *sorted(entry.name for entry in self.temp.iterdir()),
        ]

    def processes_after(self, limit_s: float) -> list[str]:
        """Return the processes that are still left after this long; returns at once when none is."""
        until = time.monotonic() + limit_s
        while (left := bearers(self.temp)) and time.monotonic() < until:
            time.sleep(0.02)
        return left

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.errors.close()
        remove_tree(self.temp)


def bearers(place: Path) -> list[str]:
    """Name every process that carries a path in its environment, its arguments or its working directory."""
    needle = os.fsencode(place)
    found = []
    for row in all_processes():
        if row.is_zombie or row.pid == os.getpid():
            continue
        try:
            seen = b"".join(
                [
                    Path(f"/proc/{row.pid}/environ").read_bytes(),
                    Path(f"/proc/{row.pid}/cmdline").read_bytes(),
                    os.fsencode(Path(f"/proc/{row.pid}/cwd").readlink()),
                ]
            )
        except OSError:
            continue
        if needle in seen:
            found.append(f"{row.pid} {row.name}")
    return found


def children_now() -> set[int]:
    """Return every process below this one that has not ended."""
    return {row.pid for row in descendants_of(os.getpid()) if not row.is_zombie}


def alive(pid: int) -> bool:
    row = process_info(pid)
    return row is not None and not row.is_zombie


def run_dirs(place: Path) -> list[RunDir]:
    """Return the run directories that stand in a temporary directory now."""
    return [RunDir(entry, 0) for entry in sorted(place.iterdir()) if (entry / "s").is_dir()]


# ------------------------------------------------------------------- with subjects of the test's own

MakeSubject = Callable[[AttemptPlan, JournalWriter], Subject]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSubjects(SeriesContext):
    """A series whose subjects a test makes; they are named and pinned as the scripted ones are."""

    make: MakeSubject

    def make_subject(self, plan: AttemptPlan, journal: JournalWriter) -> Subject:
        return self.make(plan, journal)


def run_with(
    cases: Sequence[CaseSource],
    out: Path,
    make: MakeSubject,
    *,
    conditions: tuple[Condition, ...] | None = None,
    rubrics: Mapping[str, Rubric] | None = None,
) -> SeriesResult:
    """Run a series, one trial after the other, in which `make` makes each subject; derive what it shows."""
    become_subreaper()
    request = RunRequest(tuple(cases), (SubjectSpec("scripted:idle"),), out, conditions, rubrics=rubrics or {})
    return asyncio.run(_run_with(request, make))


async def _run_with(request: RunRequest, make: MakeSubject) -> SeriesResult:
    stop, sinks = Stop(), Sinks({})
    opening = await open_series(request)
    with opening.store as store:
        context = OwnSubjects(opening.series, store, sinks, stop, make=make)
        sources = {source.case.id: source for source in request.cases}
        try:
            for planned in opening.plan.trials:
                store.ledger("claimed", trial=planned.trial, attempt=1)
                key = planned.subject, planned.case
                await run_attempt(
                    context,
                    AttemptPlan(
                        planned, 1, sources[planned.case], request.subjects[0], opening.identities[key],
                        opening.pinned[key],
                    ),
                )  # fmt: skip
        finally:
            late = await sinks.stop()
        store.ledger("closed", body={"interrupted": False, "late": late_texts(late)})
        store.seal("run")
        return derive_into(store)
