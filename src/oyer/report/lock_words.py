"""What differs between two locks of a suite, in words: which word of which prompt, which tool, which file.

Owns the naming of places and of changed words. Pure: two records in, sentences out. What only follows from something
else that moved (a digest, a form) is not said twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from oyer.records import LockedCase, LockedServer, SuiteLock, path_text, plain

__all__ = ["LockDifference", "Steps", "lock_differences", "value_differences"]

_FOLLOWS = frozenset({"digest", "form", "suite_digest"})
_MOST_LETTERS = 160
_WORD = re.compile(r"\S+")

Steps = tuple[str | int, ...]


class LockDifference(NamedTuple):
    """One thing that differs: the field, a sentence, and both values as short texts (empty for what is not there)."""

    field: str
    sentence: str
    old: str
    new: str


def lock_differences(old: SuiteLock, new: SuiteLock) -> tuple[LockDifference, ...]:
    """Return everything that differs between two locks."""
    return (
        *_of_values(plain(old.suite), plain(new.suite), ("suite",), "the suite"),
        *_of_cases(old.cases, new.cases),
        *_of_values(plain(old)["rubrics"], plain(new)["rubrics"], ("rubrics",), "the rubrics"),
        *_of_values(plain(old)["evaluators"], plain(new)["evaluators"], ("evaluators",), "the evaluators"),
        *_of_files(old.plugins, new.plugins, ("plugins",), "plug-in"),
    )


def value_differences(old: Any, new: Any, at: Steps, whose: str) -> Iterator[LockDifference]:
    """Yield everything that differs between two plain values, which stand at a place and belong to something."""
    yield from _of_values(old, new, at, whose)


def _of_cases(old: Mapping[str, LockedCase], new: Mapping[str, LockedCase]) -> Iterator[LockDifference]:
    for name in sorted({*old, *new}):
        at: Steps = ("cases", name)
        if name not in new:
            yield LockDifference(path_text(at), f"case {name} is no longer there", old[name].digest, "")
        elif name not in old:
            yield LockDifference(path_text(at), f"case {name} is new", "", new[name].digest)
        else:
            one, other = old[name], new[name]
            yield from _of_values(plain(one.record), plain(other.record), (*at, "record"), f"case {name}")
            yield from _of_files(one.world_files, other.world_files, (*at, "world_files"), f"case {name}: file")
            for server in sorted({*one.servers, *other.servers}):
                here, whose = (*at, "servers", server), f"case {name}: server {server}"
                yield from _of_server(one.servers.get(server), other.servers.get(server), here, whose)


def _of_files(old: Mapping[str, str], new: Mapping[str, str], at: Steps, what: str) -> Iterator[LockDifference]:
    for name in sorted({*old, *new}):
        before, after = old.get(name, ""), new.get(name, "")
        if before != after:
            word = "is new" if not before else "is no longer there" if not after else "has other content"
            yield LockDifference(path_text((*at, name)), f"{what} {name} {word}", before, after)


def _of_server(old: LockedServer | None, new: LockedServer | None, at: Steps, whose: str) -> Iterator[LockDifference]:
    if old is None or new is None:
        return  # said where the case's own record differs
    if old.problem != new.problem:
        told = f"{whose} {'did not answer' if new.problem else 'answers again'}: {new.problem or old.problem}"
        yield LockDifference(path_text((*at, "problem")), told, old.problem or "", new.problem or "")
    texts = [dict(server.tool_texts) for server in (old, new)]
    said = False
    for tool in sorted({*texts[0], *texts[1]}):
        one, other = (_definition(each.get(tool)) for each in texts)
        if old.tool_digests.get(tool) != new.tool_digests.get(tool):
            said = True
            yield from _of_tool(one, other, (*at, "tool_digests", tool), f"{whose}: tool {tool}", (old, new), tool)
    for field, what in (("initialize", "opening answer"), ("tools", "tool listing"), ("prompts", "prompts"),
                        ("resources", "resources")):  # fmt: skip
        mine, yours = getattr(old, field), getattr(new, field)
        if mine != yours and not (field == "tools" and said):
            told = f"{whose}: its {what} {'are' if what.endswith('s') else 'is'} not the same any more"
            yield LockDifference(path_text((*at, field)), told, mine or "", yours or "")


def _of_tool(
    old: Any, new: Any, at: Steps, whose: str, servers: tuple[LockedServer, LockedServer], tool: str
) -> Iterator[LockDifference]:
    digests = [server.tool_digests.get(tool, "") for server in servers]
    if old is None or new is None:
        word = "is no longer offered" if new is None else "is new"
        yield LockDifference(path_text(at), f"{whose} {word}", *digests)
        return
    found = list(_of_values(old, new, at, whose))
    if not found:
        yield LockDifference(path_text(at), f"{whose} is written with other bytes, and says the same", *digests)
    yield from found


def _definition(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"definition": text}


def _of_values(old: Any, new: Any, at: Steps, whose: str, path: Steps = ()) -> Iterator[LockDifference]:
    """Compare two plain values; `path` is the way from `whose` to them."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            if name not in _FOLLOWS or path:
                yield from _of_values(old.get(name, ...), new.get(name, ...), at, whose, (*path, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (mine, yours) in enumerate(zip(old, new, strict=True)):
            yield from _of_values(mine, yours, at, whose, (*path, index))
    elif old is ... or new is ... or type(old) is not type(new) or old != new:
        field = path_text((*at, *path))
        yield LockDifference(field, f"{whose}: {_place(path)}{_change(old, new)}", _shown(old), _shown(new))


def _place(path: Steps) -> str:
    """Name a place in a case as its author would."""
    match path:
        case ("sessions", int(number), "turns", int(turn)):
            which = "prompt" if number == 0 and turn == 0 else f"turn {turn + 1} of session {number + 1}"
            return f"its {which}: "
        case ("pressure", "rounds", int(number)):
            return f"round {number + 1} of its pressure: "
        case ("description",):
            return "its description: "
    return f"{path_text(path)} " if path else ""


def _change(old: Any, new: Any) -> str:
    if old is ...:
        return f"is new: {_shown(new)}"
    if new is ...:
        return f"is no longer there: {_shown(old)}"
    if isinstance(old, str) and isinstance(new, str) and len(_WORD.findall(f"{old} {new}")) > 2:
        return _words(old, new)
    return f"was {_shown(old)}, is {_shown(new)}"


def _words(old: str, new: str) -> str:
    """Say which words of a text became which."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if before == after:
        return "only the space between its words differs"
    told: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        mine, yours = _quoted(before[a:b]), _quoted(after[c:d])
        if kind == "replace":
            told.append(f"{mine} (word {a + 1}) became {yours}")
        elif kind == "delete":
            told.append(f"{mine} (word {a + 1}) was taken out")
        elif kind == "insert":
            told.append(f"{yours} was put in {'at the start' if a == 0 else f'after word {a}, {before[a - 1]!r}'}")
    return "; ".join(told)


def _quoted(words: list[str]) -> str:
    return '"' + _cut(" ".join(words)) + '"'


def _shown(value: Any) -> str:
    if value is ...:
        return ""
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "..."
