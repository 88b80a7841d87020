"""A Case's two scripts as the doubles read them, with what only some doubles need.

Owns the reading of expanded scripts and the refusal of every other shape. Must never know what a double does with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from oyer.errors import UsageError

__all__ = ["ScriptPart", "Scripts", "Step"]

Step = Mapping[str, Any]

_CALL_KEYS: Final = frozenset({"call", "arguments", "if_seen"})
_SAY_KEYS: Final = frozenset({"say", "if_seen"})


@dataclass(frozen=True, slots=True)
class Scripts:
    """A Case's two scripts and what only some doubles need.

    `order` lists the sessions in the order in which they run (the scripts' own order when empty).
    `earlier` holds, per session, the tool answers of a previous run in the order of the tempted calls (`replay`).
    `tokens` maps a token of this run that the scripts hold to another run's token (`stale`).
    `variants` are the Case's own scripts by name, each by session.
    `channel` is the tool, as `server.tool`, in which a subject asserts things of its work; `refusal` the call in it by
    which it declines. `repetition` counts from 1 and is told to no child.
    `rounds` is how many rounds of pressure follow the turns of the last session, and `asked` whether a question follows
    them; `played` holds by script what it does in these turns, in order. `warranted` marks a positive control.
    Of a sequence `parts` are the scripts of its cases in order, and it has none of its own.
    """

    proper: Mapping[str, Sequence[Step]]
    tempted: Mapping[str, Sequence[Step]]
    order: tuple[str, ...] = ()
    earlier: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    channel: str | None = None
    refusal: Step | None = None
    repetition: int = 1
    variants: Mapping[str, Mapping[str, Sequence[Step]]] = field(default_factory=dict)
    rounds: int = 0
    asked: bool = False
    played: Mapping[str, Sequence[Sequence[Step]]] = field(default_factory=dict)
    warranted: bool = False
    parts: tuple[ScriptPart, ...] = ()

    @classmethod
    def parse(
        cls,
        document: Mapping[str, Any] | None,
        *,
        order: Sequence[str] = (),
        earlier: Mapping[str, Sequence[str]] | None = None,
        tokens: Mapping[str, str] | None = None,
        channel: str | None = None,
        refusal: Mapping[str, Any] | None = None,
        repetition: int = 1,
        rounds: int = 0,
        asked: bool = False,
        warranted: bool = False,
    ) -> Scripts:
        """Read the expanded `doubles` of a Case; None stands for a Case that declares none.

        `refusal` holds the arguments of the call in the channel that declines.

        Raises: UsageError E-SCRIPT-SHAPE when a session or a step has another shape.
        """
        both = {name: _sessions(name, (document or {}).get(name)) for name in ("proper", "tempted")}
        declining = None if channel is None or refusal is None else {"call": channel, "arguments": dict(refusal)}
        return cls(
            both["proper"],
            both["tempted"],
            tuple(order),
            earlier or {},
            tokens or {},
            channel,
            None if declining is None else {**declining, "if_seen": None},
            repetition,
            {
                name: _sessions(f"variants.{name}", script)
                for name, script in ((document or {}).get("variants") or {}).items()
            },
            rounds,
            asked,
            {name: _rounds(name, lists) for name, lists in ((document or {}).get("rounds") or {}).items()},
            warranted,
        )

    @property
    def after(self) -> int:
        """How many turns follow those that the case itself declares: its rounds, and the question."""
        return self.rounds + self.asked

    @property
    def last(self) -> str | None:
        """The session in which pressure comes, None where no session is known."""
        return next(reversed(self.order or self.sessions()), None)

    def sessions(self) -> tuple[str, ...]:
        """All sessions that a script names, in the order in which they run."""
        named = dict.fromkeys([*self.tempted, *self.proper])
        ordered = [session for session in self.order if session in named]
        return (*ordered, *(session for session in named if session not in ordered))


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """The scripts of one case of a sequence for one of its sessions.

    `session` is what the case calls that session, `place` the session of the sequence in which it is played; `turns`
    are those before any pressure.
    """

    scripts: Scripts
    session: str
    place: str
    turns: int


def _sessions(name: str, written: Any) -> Mapping[str, Sequence[Step]]:
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise UsageError("E-SCRIPT-SHAPE", f"doubles.{name} is no mapping of sessions to steps")
    return {session: _steps(f"doubles.{name}.{session}", steps) for session, steps in written.items()}


def _rounds(name: str, written: Any) -> tuple[Sequence[Step], ...]:
    if not isinstance(written, list | tuple):
        raise UsageError("E-SCRIPT-SHAPE", f"doubles.rounds.{name} is no list of lists of steps")
    return tuple(_steps(f"doubles.rounds.{name}[{number}]", steps) for number, steps in enumerate(written))


def _steps(where: str, steps: Any) -> tuple[Step, ...]:
    if not isinstance(steps, list | tuple):
        raise UsageError("E-SCRIPT-SHAPE", "a session's script is a list of steps", where=where)
    return tuple(_step(f"{where}[{index}]", step) for index, step in enumerate(steps))


def _step(where: str, step: Any) -> Step:
    # A record writes the keys that a step does not use as null.
    keys = {key for key, value in step.items() if value is not None} if isinstance(step, Mapping) else set()
    seen = step.get("if_seen") if keys else None
    if "say" in keys and not step.get("arguments"):
        keys.discard("arguments")
    if "call" in keys and keys <= _CALL_KEYS and isinstance(step["call"], str):
        arguments = step.get("arguments") or {}
        if isinstance(arguments, Mapping) and all(step["call"].partition(".")):
            return {"call": step["call"], "arguments": dict(arguments), "if_seen": seen}
    if "say" in keys and keys <= _SAY_KEYS and isinstance(step["say"], str):
        return {"say": step["say"], "if_seen": seen}
    raise UsageError("E-SCRIPT-SHAPE", "this is no step of a script", where=where, hint=_STEP_HINT)


_STEP_HINT: Final = "a step is {call: server.tool, arguments: {}, if_seen: text} or {say: text, if_seen: text}"
