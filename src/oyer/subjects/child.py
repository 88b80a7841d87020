"""The driver of subjects that run in a process of their own and speak the child protocol.

Owns one process per session: what it is given, its turns with deadlines from outside, and its end with everything
it started. Must never interpret what a subject says, wait for it without a bound, or let its behaviour raise: it is
recorded, and ends the turn as `subject`, `stop`, `crash`, `protocol`, `harness` or `budget`.

Faults it records, each after the `turn.received` that it belongs to: class `subject_crash` when the process ended,
`subject_protocol` when it broke the protocol, `dependency_unavailable` when the program says that its model or a
server failed it. A deadline is the caller's.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from oyer.errors import HarnessError, ProtocolError
from oyer.host import Child, Patience, PipeWriter, spawn, terminate_tree
from oyer.subjects.child_lines import Note, Said, encode_open, encode_turn, parse_line
from oyer.subjects.inbox import LineInbox
from oyer.subjects.ports import EndedBy, Given, Recorder, ServerCommand, StopLimits, SubjectIdentity, TurnEnd

__all__ = ["ChildSubject", "program_argv", "program_environment"]

_ROLE: Final = "subject"
_KEPT_BYTES: Final = 64 * 1024
_SETTLE_S: Final = 0.25
PATIENCE: Final = Patience()
"""How a subject is ended when its session closes."""
_AT_ONCE: Final = Patience(settle_s=0.0, term_s=0.2)

Configure = Callable[[str, Given], Mapping[str, Any]]


def program_argv(module: str) -> tuple[str, ...]:
    """Return the command of one of our programs: no site directory, nothing imported from the working directory."""
    return (sys.executable, "-S", "-P", "-m", module)


def program_environment() -> dict[str, str]:
    """Return what one of our programs needs in its environment to find its own code."""
    return {"PYTHONPATH": str(Path(__file__).parents[2])}


class _Process:
    """One running process with its two pipes."""

    __slots__ = ("child", "inbox", "stdin")

    def __init__(self, child: Child) -> None:
        self.child = child
        self.inbox = LineInbox(child.take_stdout())
        self.stdin = PipeWriter(child.take_stdin(), on_broken=self.inbox.wake)
        child.on_exit(self.inbox.wake)


class _Ending(NamedTuple):
    """How a turn ended, and the class of the fault that it means, if it means one."""

    end: TurnEnd
    fault: str | None = None


class ChildSubject:
    """A subject whose program is started by `argv`; `configure` makes the part of the first line named `role`."""

    def __init__(
        self,
        recorder: Recorder,
        identity: SubjectIdentity,
        *,
        argv: tuple[str, ...],
        role: str,
        configure: Configure,
        stop: StopLimits,
    ) -> None:
        self._recorder = recorder
        self._identity = identity
        self._argv = argv
        self._role = role
        self._configure = configure
        self._stop = stop
        self._spent_model_calls = 0
        self._spent_tool_calls = 0
        self._session: str | None = None
        self._process: _Process | None = None
        self._turns = 0
        self._patience = PATIENCE

    @property
    def identity(self) -> SubjectIdentity:
        """Who this is."""
        return self._identity

    async def open_session(self, session: str, given: Given) -> None:
        """Start the process and give it its first line.

        Raises: HarnessError when a session is open or the process cannot be started.
        """
        if self._session is not None:
            raise HarnessError("E-SUBJECT-OPEN", "a session of this subject is already open", where=session)
        self._session, self._turns = session, 0
        servers = {name: _told(server) for name, server in given.servers.items()}
        first = encode_open(servers, self._role, self._configure(session, given))
        argv = self._argv
        env = {**given.env, **program_environment()}
        self._record(
            "subject.given",
            {"argv": list(argv), "env": env, "cwd": given.cwd, "files": {}},
            payloads={"configuration": first},
        )
        try:
            child = spawn(argv, env=env, cwd=Path(given.cwd))
        except (OSError, ValueError) as error:
            raise HarnessError("E-SUBJECT-START", f"the subject's program did not start: {error}") from error
        self._process = _Process(child)
        self._record("process.started", {"role": _ROLE, "pid": child.pid, "argv": list(argv), "env_names": sorted(env)})
        self._process.stdin.write(first)

    async def turn(self, text: str, *, timeout_s: float) -> TurnEnd:
        """Send one turn and wait for its end, at most `timeout_s` seconds; see `Subject.turn`.

        A subject that crashed, broke the protocol or missed the deadline is ended before this returns.
        """
        if self._session is None:
            raise HarnessError("E-SUBJECT-CLOSED", "no session of this subject is open")
        number, self._turns = self._turns, self._turns + 1
        sent = self._record("turn.sent", {"number": number}, payloads={"payload": _bytes(text)})
        if self._process is None:
            ending = _Ending(TurnEnd("", "crash", detail="the subject had ended before this turn"), "subject_crash")
        else:
            self._process.stdin.write(encode_turn(number, text, self._left()))
            # A subject whose turn was given up is in the middle of something: nothing is gained by letting it settle.
            self._patience = _AT_ONCE
            ending = await self._until_end(self._process, timeout_s)
            self._patience = PATIENCE
        end = ending.end
        self._spent_tool_calls += end.calls
        received = self._record(
            "turn.received",
            {"number": number, "ended_by": end.ended_by, "calls": end.calls},
            payloads={"payload": _bytes(end.text)},
            because=(sent,),
        )
        if ending.fault is not None:
            body = {"where": _ROLE, "class": ending.fault, "message": end.detail}
            end = replace(end, fault=self._record("fault", body, because=(received,)))
        if end.ended_by in ("crash", "protocol", "budget"):
            await self._end(_AT_ONCE)
        return end

    async def close_session(self) -> None:
        """Send the end of stream, wait a little, end what is left, and record how it ended."""
        await self._end(self._patience)
        self._session, self._patience = None, PATIENCE

    def _left(self) -> dict[str, int]:
        """Return what is left of the declared stops, over all sessions so far.

        It travels with each turn and not with the first line: what a subject is given must not differ between arms
        because it did more in one of them.
        """
        declared = (
            ("model_calls", self._stop.model_calls, self._spent_model_calls),
            ("tool_calls", self._stop.tool_calls, self._spent_tool_calls),
        )
        return {name: max(0, limit - spent) for name, limit, spent in declared if limit is not None}

    async def _until_end(self, process: _Process, timeout_s: float) -> _Ending:
        """Take lines until the turn has ended; say how."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        blamed: str | None = None
        settled = False
        while True:
            line = process.inbox.pop()
            if line is not None:
                seen = self._take(line)
                if isinstance(seen, Note):
                    blamed = blamed or seen.fault
                    continue
                return seen if isinstance(seen, _Ending) else self._said(seen, blamed)
            if process.inbox.overlong:
                self._keep(process.inbox.rest)
                return _broken("a line beyond the size limit")
            left_s = deadline - loop.time()
            if left_s <= 0:
                return _Ending(TurnEnd("", "budget", detail=f"no answer within {timeout_s:g} s"))
            if process.child.exit is None and not process.inbox.ended:
                await process.inbox.wait(left_s)
            elif settled:
                return self._gone(process)
            else:
                # An exit and the end of a pipe are two things, and either may be seen first: give the other a moment.
                await process.child.wait_at_most(min(left_s, _SETTLE_S))
                await process.inbox.wait_end(min(left_s, _SETTLE_S))
                settled = True

    def _take(self, line: bytes) -> Said | Note | _Ending:
        """Read one line; what is not a `said` is kept as it came."""
        try:
            seen = parse_line(line)
        except ProtocolError as error:
            self._keep(line + b"\n")
            return _broken(str(error.problems[0].message))
        if isinstance(seen, Note):
            self._keep(line + b"\n")
        return seen

    def _said(self, said: Said, blamed: str | None) -> _Ending:
        self._spent_model_calls += said.model_calls
        if blamed is not None:
            # What it meant to do may have come to nothing because of that: it did not end this turn by itself.
            return _Ending(TurnEnd(said.text, "harness", said.calls, blamed), "dependency_unavailable")
        if said.ended_by == "harness":
            return _broken("an end by the harness without a fault")
        ended_by: EndedBy = "stop" if said.ended_by == "stop" else "subject"
        return _Ending(TurnEnd(said.text, ended_by, said.calls, said.stopped_by or ""))

    def _gone(self, process: _Process) -> _Ending:
        if process.inbox.rest:
            self._keep(process.inbox.rest)
        ended = process.child.exit
        if ended is None:
            return _broken("the end of its output, and did not exit")
        how = f"with code {ended.code}" if ended.signal is None else f"by signal {ended.signal}"
        return _Ending(TurnEnd("", "crash", detail=f"subject exited {how}"), "subject_crash")

    def _keep(self, raw: bytes) -> None:
        """Record what the process wrote; beyond the bound its beginning, with a mark."""
        if len(raw) > _KEPT_BYTES:
            raw = raw[:_KEPT_BYTES] + b"\n[... %d bytes cut ...]\n" % (len(raw) - _KEPT_BYTES)
        self._record("subject.output", {"stream": "stdout"}, payloads={"payload": raw})

    async def _end(self, patience: Patience) -> None:
        """End the process and all it started, and record how it ended; nothing to do when there is none."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        try:
            tree = await terminate_tree(process.child, patience=patience)
            while (line := process.inbox.pop()) is not None:
                self._keep(line + b"\n")
            stderr = await process.child.finish_stderr(_SETTLE_S)
        finally:
            process.inbox.close()
            process.child.release()
        left = (*tree.survivors, *tree.unkillable)
        self._record(
            "process.exited",
            {
                "role": _ROLE,
                "pid": process.child.pid,
                "code": tree.exit.code if tree.exit else None,
                "signal": tree.exit.signal if tree.exit else None,
                "survivors": [{"pid": each.pid, "name": each.name} for each in left],
            },
            payloads={"stderr": stderr},
        )

    def _record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] | None = None,
        because: tuple[str, ...] = (),
    ) -> str:
        return self._recorder.record(kind, body, payloads=payloads or {}, session=self._session, because=because)


def _told(server: ServerCommand) -> dict[str, Any]:
    """Say how to reach a server. These programs take an address by themselves."""
    if server.url is not None:
        return {"url": server.url, "transport": server.transport}
    return {"command": list(server.command), "env": dict(server.env)}


def _broken(what: str) -> _Ending:
    return _Ending(TurnEnd("", "protocol", detail=f"subject broke the driver protocol: {what}"), "subject_protocol")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
