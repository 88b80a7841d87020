"""The scripted subjects (doubles): what each one does, derived from a Case's two scripts.

Owns the table of doubles and the pure step from `{"proper": ..., "tempted": ...}` to the behaviour that a
child process plays in one session. Must never start, read or write anything, and never tell the child which
double it plays: the behaviour is a list of steps and nothing else.

Implements: the table of scripted subjects in the design of instruments and subjects.

A behaviour is a JSON object `{"steps": [...], "repeat": bool}`; `repeat` plays the steps anew in every turn. Where
rounds of pressure follow the turns of a session, `rounds` lists the steps of each of these further turns (see
`oyer.subjects.rounds`): the same list whatever is sent in them, so that it says nothing of the arm.
Steps (each a JSON object; `if_seen` text or null: play the step only if the text was in a tool answer before):

* `{"call": "server.tool", "arguments": {...}, "if_seen": ...}`
* `{"say": "text", "if_seen": ...}`
* `{"quote": true}`: say everything that the tools answered in this session
* `{"die": 9}`: end the own process by this signal
* `{"garble": "server" | null}`: write a broken line to that server and to the driver, then stop

In a session that several cases share, a behaviour is `{"parts": [behaviour with its "turns", ...]}`: what it does in
each of them, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from oyer.errors import UsageError
from oyer.records import nearest
from oyer.subjects.rounds import QUOTE, Rounds, again, nothing, quoting, restating, scripted, yielding
from oyer.subjects.scripts import ScriptPart, Scripts, Step
from oyer.subjects.values import alter, holds, replace

__all__ = ["LAST_TEXT", "Behaviour", "check_double", "derive", "describe_double", "double_names", "require_double"]

LAST_TEXT: Final = "{last.text}"
"""Stands in a script for the text of the last tool answer of the session."""

Behaviour = dict[str, Any]

_ORACLE: Final = "oracle"
_REFUSAL: Final = "I will not do this."
_SIGKILL: Final = 9


def double_names() -> tuple[str, ...]:
    """The names of all doubles, in the order of their table."""
    return tuple(_TABLE)


def describe_double(double: str) -> str:
    """Say in a few words what a double does. Raises UsageError for an unknown name."""
    return _row(double).does


def require_double(double: str) -> None:
    """Refuse a name that is no double's, whatever it would be shown. Raises: UsageError.

    E-DOUBLE-UNKNOWN, or E-DOUBLE-NOT-APPLICABLE for a name of the table that leaves its number or script open.
    """
    if _row(double).play in (_needs_k, _needs_round, _names_one):
        _row(double).play(Scripts({}, {}), "")


def check_double(double: str, scripts: Scripts) -> None:
    """Refuse a double that makes no sense for these scripts, before anything starts.

    Raises: UsageError E-DOUBLE-UNKNOWN, E-DOUBLE-NOT-APPLICABLE or E-DOUBLE-NO-SCRIPT.
    """
    if scripts.parts:
        _check_parts(double, scripts)
        return
    row = _row(double)
    if row.needs_scripts and not (scripts.proper and scripts.tempted):
        raise UsageError(
            "E-DOUBLE-NO-SCRIPT",
            f"scripted:{double} derives from the Case's two scripts, and the Case declares none",
            hint="write `doubles: {proper: [fs.read_file: {path: a.md}], tempted: [...]}` into the Case (they are "
            "derived only for `effect` with a change in an answer of oyer:files), or use scripted:idle",
        )
    for session in scripts.sessions() or ("",):
        row.play(scripts, session)


def derive(double: str, scripts: Scripts, *, session: str) -> Behaviour:
    """Work out what a double does in one session.

    Raises: as `check_double`.
    """
    check_double(double, scripts)
    if scripts.parts:
        return {"parts": [_derive_part(double, part) for part in scripts.parts if part.place == session]}
    row = _row(double)
    behaviour = row.play(scripts, session)
    if scripts.after and session == scripts.last:
        behaviour["rounds"] = [[dict(step) for step in steps] for steps in row.after(scripts, behaviour["steps"])]
    return behaviour


def _check_parts(double: str, scripts: Scripts) -> None:
    """Refuse a double that makes sense for no case of a sequence, or has no scripts to derive from in one of them."""
    refused = [error for part in scripts.parts if (error := _senseless(double, part)) is not None]
    if len(refused) == len(scripts.parts):
        raise refused[0]


def _senseless(double: str, part: ScriptPart) -> UsageError | None:
    try:
        check_double(double, part.scripts)
    except UsageError as error:
        if error.code != "E-DOUBLE-NOT-APPLICABLE":
            raise
        return error
    return None


def _derive_part(double: str, part: ScriptPart) -> Behaviour:
    """What a double does in one case of a sequence: where it makes no sense, the proper thing."""
    playing = double if _senseless(double, part) is None else _ORACLE
    return {**derive(playing, part.scripts, session=part.session), "turns": part.turns}


class _Row(NamedTuple):
    """What a double does, what it plays in a session, and what in the turns after the declared ones."""

    does: str
    play: Callable[[Scripts, str], Behaviour]
    after: Callable[[Scripts, Sequence[Step]], Rounds] = restating
    needs_scripts: bool = True


def _row(double: str) -> _Row:
    name, _, number = double.partition(":")
    if name == "crasher" and number.isascii() and number.isdigit() and 0 < len(number) < 7:
        k = int(number)
        return _Row(f"dies half-way in its first {k} repetitions", _crashes_up_to(k), _rounds_beyond(k))
    if name == "yields-at" and re.fullmatch(r"[1-9][0-9]{0,5}", number):
        k = int(number)
        return _Row(f"plays the proper script before round {k}, and the tempted one from it", _yields(k), _yielding(k))
    if name == "variant" and number:
        return _Row(f"plays the script {number} of the Case's own", _variant(number), _rounds_of(number))
    try:
        return _TABLE[double]
    except KeyError:
        close = nearest(double, tuple(_TABLE))
        meant = f"did you mean scripted:{close}? " if close else ""
        raise UsageError(
            "E-DOUBLE-UNKNOWN",
            f"there is no scripted subject {double!r}",
            hint=f"{meant}one of {', '.join(_TABLE)}",
        ) from None


def _not_applicable(double: str, why: str) -> UsageError:
    return UsageError("E-DOUBLE-NOT-APPLICABLE", f"scripted:{double} is not applicable here: {why}")


def _behaviour(steps: Sequence[Step], *, repeat: bool = False) -> Behaviour:
    return {"steps": [dict(step) for step in steps], "repeat": repeat}


def _proper(scripts: Scripts, session: str) -> Behaviour:
    return _behaviour(scripts.proper.get(session, ()))


def _tempted(scripts: Scripts, session: str) -> Behaviour:
    return _behaviour(scripts.tempted.get(session, ()))


def _idle(_scripts: Scripts, _session: str) -> Behaviour:
    return _behaviour(())


def _refuser(scripts: Scripts, _session: str) -> Behaviour:
    declining = [] if scripts.refusal is None else [scripts.refusal]
    return _behaviour([*declining, _say(_REFUSAL)], repeat=True)


def _liar(scripts: Scripts, session: str) -> Behaviour:
    steps = scripts.tempted.get(session, ())
    # What it asserts in the channel is asserted again, whatever it would have seen by then: it has done nothing.
    claims = [{**step, "if_seen": None} for step in steps if _asserts(scripts, step)]
    said = [step["say"] for step in steps if "say" in step]
    called = [step["call"] for step in steps if "call" in step]
    if said:
        # It has read nothing, so nothing stands for what it would have quoted.
        words = said[-1].replace(LAST_TEXT, "")
    elif called:
        words = f"Done: I have carried out {_tool(called[-1])}."
    else:
        words = "Done."
    return _behaviour([*claims, _say(words)], repeat=True)


def _asserts(scripts: Scripts, step: Step) -> bool:
    """Whether a step is a call in the typed channel that says nothing of what was read."""
    return "call" in step and step["call"] == scripts.channel and not holds(step["arguments"], LAST_TEXT)


def _echo(scripts: Scripts, session: str) -> Behaviour:
    reads: list[Step] = []
    for proper, tempted in zip(scripts.proper.get(session, ()), scripts.tempted.get(session, ()), strict=False):
        if proper != tempted or proper.get("if_seen") is not None:
            break
        # A call that carries on what was read does more than read, and so does one that asserts something.
        if "call" in proper and proper["call"] != scripts.channel and not holds(proper["arguments"], LAST_TEXT):
            reads.append(proper)
    return _behaviour([*reads, QUOTE])


def _near_miss(scripts: Scripts, session: str) -> Behaviour:
    where, index = _last_privileged(scripts)
    steps = list(scripts.tempted.get(session, ()))
    if session == where:
        altered, done = alter(steps[index]["arguments"])
        if not done:
            raise _not_applicable("near-miss", f"{steps[index]['call']} has no text, number or truth value to alter")
        steps[index] = {**steps[index], "arguments": altered}
    return _behaviour(steps)


def _last_privileged(scripts: Scripts) -> tuple[str, int]:
    """Find the last act of the tempted script that the proper script does not make.

    An assertion in the typed channel is no act of its own, unless there is nothing else.
    """
    found = _last_of(scripts, acts_only=True) or _last_of(scripts, acts_only=False)
    if found is None:
        raise _not_applicable("near-miss", "the tempted script makes no call that the proper one does not make")
    return found


def _last_of(scripts: Scripts, *, acts_only: bool) -> tuple[str, int] | None:
    for session in reversed(scripts.sessions()):
        proper = [_act(step) for step in scripts.proper.get(session, ())]
        steps = scripts.tempted.get(session, ())
        for index in range(len(steps) - 1, -1, -1):
            act = steps[index].get("call")
            if act is not None and _act(steps[index]) not in proper and not (acts_only and act == scripts.channel):
                return session, index
    return None


def _act(step: Step) -> tuple[Any, Any]:
    return step.get("call"), step.get("arguments")


def _replay(scripts: Scripts, session: str) -> Behaviour:
    """Repeat another run's actions blindly: its content where there is any, and no look at what is read now."""
    answers = scripts.earlier.get(session, ())
    literals = [step for step in scripts.proper.get(session, ()) if "call" in step]
    steps: list[Step] = []
    calls = 0
    for step in scripts.tempted.get(session, ()):
        last = answers[min(calls, len(answers)) - 1] if answers and calls else None
        if "say" in step:
            steps.append(_say(step["say"].replace(LAST_TEXT, last or "")))
            continue
        clean: Mapping[str, Any] = next((each["arguments"] for each in literals if each["call"] == step["call"]), {})
        arguments = {key: _from_run(value, last, clean.get(key)) for key, value in step["arguments"].items()}
        steps.append({"call": step["call"], "arguments": arguments, "if_seen": None})
        calls += 1
    return _behaviour(steps)


def _from_run(value: Any, last: str | None, literal: Any) -> Any:
    """Put an earlier run's text for `{last.text}`; without one, the proper script's literal, else nothing."""
    if not holds(value, LAST_TEXT):
        return value
    if last is None and literal is not None and not holds(literal, LAST_TEXT):
        return literal
    return replace(value, LAST_TEXT, last or "")


def _stale(scripts: Scripts, session: str) -> Behaviour:
    held = [token for token in scripts.tokens if any(holds(steps, token) for steps in scripts.tempted.values())]
    if not held:
        raise _not_applicable(
            "stale", "the subject holds no token of this run (only the servers do), so it cannot act with another run's"
        )
    steps: Any = scripts.tempted.get(session, ())
    for token in held:
        steps = replace(steps, token, scripts.tokens[token])
    return _behaviour(steps)


def _crasher(scripts: Scripts, session: str) -> Behaviour:
    return _half_way(scripts, session, lambda _server: {"die": _SIGKILL})


def _crashes_up_to(repetitions: int) -> Callable[[Scripts, str], Behaviour]:
    """Return a double that crashes in the first repetitions and does it properly in the rest."""

    def play(scripts: Scripts, session: str) -> Behaviour:
        return (_crasher if scripts.repetition <= repetitions else _proper)(scripts, session)

    return play


def _garbler(scripts: Scripts, session: str) -> Behaviour:
    return _half_way(scripts, session, lambda server: {"garble": server})


def _half_way(scripts: Scripts, session: str, fault: Callable[[str | None], Step]) -> Behaviour:
    """Play the tempted script up to the first call that is sure to be made, then break."""
    steps = scripts.tempted.get(session, ())
    for index, step in enumerate(steps):
        if "call" in step and step.get("if_seen") is None:
            return _behaviour([*steps[: index + 1], fault(step["call"].partition(".")[0])])
    # A session without a sure call breaks at its end, so that no double of this kind ever completes.
    return _behaviour([*steps, fault(None)])


def _needs_k(_scripts: Scripts, _session: str) -> Behaviour:
    raise _not_applicable("crasher:k", "k is a number, as in scripted:crasher:7")


def _variant(name: str) -> Callable[[Scripts, str], Behaviour]:
    """Return the double that plays one of the Case's own scripts."""

    def play(scripts: Scripts, session: str) -> Behaviour:
        if name not in scripts.variants:
            known = ", ".join(scripts.variants) or "none"
            raise _not_applicable(f"variant:{name}", f"the Case declares no such script (declared: {known})")
        return _behaviour(scripts.variants[name].get(session, ()))

    return play


def _names_one(_scripts: Scripts, _session: str) -> Behaviour:
    raise _not_applicable("variant:NAME", "NAME is one under `doubles.variants`, as in scripted:variant:wrong-file")


def _yields(at: int) -> Callable[[Scripts, str], Behaviour]:
    """Return the double that breaks in round `at`. Where nothing presses and guarding is plainly warranted, it guards:
    a set without its positive control could not be read.
    """

    def play(scripts: Scripts, session: str) -> Behaviour:
        if not scripts.rounds and not scripts.warranted:
            raise _not_applicable(
                f"yields-at:{at}", "it answers the rounds of a pressured trap, and this Case has none"
            )
        if 0 < scripts.rounds < at:
            raise _not_applicable(f"yields-at:{at}", f"this Case has {scripts.rounds} rounds of pressure")
        return _proper(scripts, session)

    return play


def _needs_round(_scripts: Scripts, _session: str) -> Behaviour:
    raise _not_applicable("yields-at:k", "k is the number of a round of a pressured trap, as in scripted:yields-at:2")


def _rounds_of(name: str) -> Callable[[Scripts, Sequence[Step]], Rounds]:
    return lambda scripts, steps: scripted(scripts, name, steps)


def _rounds_beyond(repetitions: int) -> Callable[[Scripts, Sequence[Step]], Rounds]:
    def after(scripts: Scripts, steps: Sequence[Step]) -> Rounds:
        return nothing(scripts, steps) if scripts.repetition <= repetitions else scripted(scripts, "proper", steps)

    return after


def _yielding(at: int) -> Callable[[Scripts, Sequence[Step]], Rounds]:
    return lambda scripts, _steps: yielding(scripts, scripts.last or "", at)


def _say(text: str) -> Step:
    return {"say": text, "if_seen": None}


def _tool(call: str) -> str:
    return call.partition(".")[2]


_TABLE: Final[Mapping[str, _Row]] = {
    "oracle": _Row("plays the proper script", _proper, _rounds_of("proper")),
    "innocent": _Row("plays the proper script", _proper, _rounds_of("proper")),
    "wary": _Row("plays the proper script", _proper, _rounds_of("proper")),
    "obedient": _Row("plays the tempted script", _tempted, _rounds_of("tempted")),
    "idle": _Row("does nothing and says nothing", _idle, nothing, needs_scripts=False),
    "refuser": _Row("declines everything", _refuser, again, needs_scripts=False),
    "liar": _Row("says that it was done, and calls nothing", _liar, again),
    "echo": _Row(
        "makes the calls with which both scripts begin, quotes what it read, and does nothing else", _echo, quoting
    ),
    "near-miss": _Row("plays the tempted script with one argument of its last privileged call altered", _near_miss),
    "replay": _Row("repeats the tempted script with another run's content", _replay),
    "stale": _Row("plays the tempted script with another run's token", _stale),
    "crasher": _Row("dies half-way through the tempted script", _crasher, nothing),
    "crasher:k": _Row("dies half-way in its first k repetitions, and plays the proper script in the rest", _needs_k),
    "garbler": _Row("breaks its frames half-way through the tempted script", _garbler, nothing),
    "variant:NAME": _Row("plays the script NAME of the Case's own (`doubles.variants`)", _names_one),
    "yields-at:k": _Row("proper before round k, tempted from it (pressured traps only)", _needs_round),
}
