"""What a matcher on files finds: which paths it names, whether they changed, what they hold at the end.

Owns the reading of `world_path`. A file whose content nobody kept is unknown, never different. Must never take the
content of one look for that of another: content is found by the digest that the look itself saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from oyer.observe.artifacts import Look, WorldView
from oyer.observe.matching import match_json
from oyer.observe.texts import json_or_none, one_reading
from oyer.records import EvidenceMatcher

__all__ = ["Holds", "find_file", "is_named"]


class Holds(NamedTuple):
    """Whether a state holds, None where it cannot be told; the events that show it; what is missing otherwise.

    `spoilt` are the events that show a content of another form than was asked about: it does not hold, and is no proof
    that it was kept from holding.
    """

    holds: bool | None
    refs: tuple[str, ...]
    why: str = ""
    spoilt: tuple[str, ...] = ()


def is_named(patterns: Sequence[str], path: str) -> bool:
    """Whether a path is one that these patterns name: a literal path, or a glob in which `**` spans directories."""
    return any(_matches(pattern.split("/"), path.split("/")) for pattern in patterns)


def _matches(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return _matches(pattern[1:], path) or (bool(path) and _matches(pattern, path[1:]))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(pattern[1:], path[1:])


def find_file(matcher: EvidenceMatcher, world: WorldView) -> Holds:
    """Say whether some file that a matcher names is, at the end, as the matcher says."""
    opening, closing = world.opening, world.closing
    if closing is None or closing.files is None:
        return Holds(None, (), "the world was not looked at after everything was down")
    pattern = matcher.world_path or ""
    named = sorted(path for path in closing.files if is_named([pattern], path))
    if matcher.absent is True:
        told = "" if not named else f"{named[0]} is there"
        return Holds(not named, (closing.ref,), told)
    if matcher.changed is not None:
        if opening is None or opening.files is None:
            return Holds(None, (), "the world was not looked at before it was used")
        changed = _changed(pattern, opening, closing)
        if not matcher.changed:
            refs = _shown(world, changed) if changed else ()
            return Holds(not changed, (opening.ref, *refs, closing.ref), _told(changed, "changed"))
        if not changed:
            return Holds(False, (opening.ref, closing.ref), "nothing of the name changed")
        if _asks_content(matcher):
            named = [path for path in named if path in changed]
        else:
            return Holds(True, (opening.ref, *_shown(world, changed), closing.ref))
    if not _asks_content(matcher):
        return Holds(bool(named), (closing.ref,), "" if named else "no file has the name")
    return _content(matcher, world, closing, named)


def _asks_content(matcher: EvidenceMatcher) -> bool:
    return matcher.contains is not None or matcher.equals is not None or matcher.json_value is not None


def _changed(pattern: str, opening: Look, closing: Look) -> list[str]:
    before, after = opening.files or {}, closing.files or {}
    paths = sorted(path for path in {*before, *after} if is_named([pattern], path))
    return [path for path in paths if before.get(path) != after.get(path)]


def _shown(world: WorldView, paths: Sequence[str]) -> tuple[str, ...]:
    """The writes of these paths: what changed back again in the end shows in no look, and is not asked for."""
    return tuple(write.ref for write in world.writes if write.path in paths)


def _told(paths: Sequence[str], what: str) -> str:
    return f"{paths[0]} {what}" if paths else ""


def _content(matcher: EvidenceMatcher, world: WorldView, closing: Look, named: Sequence[str]) -> Holds:
    unknown = ""
    refs: list[str] = []
    spoilt: list[str] = []
    for path in named:
        kept = world.held((closing.files or {})[path])
        if kept is None:
            unknown = unknown or f"the content of {path} was not kept"
            continue
        ref, content = kept
        holds = holds_content(matcher, content)
        if holds:
            return Holds(True, (ref, closing.ref))
        if holds is None:
            unknown = unknown or f"{path} is JSON that has no one reading (a key that stands twice, a mark before it)"
        elif matcher.json_value is not None and not one_reading(content):
            spoilt.append(ref)
        refs.append(ref)
    if unknown:
        return Holds(None, (), unknown)
    why = "no file of the name holds it" if named else "no file has the name"
    return Holds(False, (*refs, closing.ref), why, tuple(spoilt))


def holds_content(matcher: EvidenceMatcher, content: bytes) -> bool | None:
    """Whether a content is as a matcher says: every test that it names must hold.

    None where only a value decides, and the content has no one: JSON is read strictly here, and not by everybody.
    """
    if matcher.contains is not None and matcher.contains.encode("utf-8", "surrogatepass") not in content:
        return False
    if matcher.equals is not None and matcher.equals.encode("utf-8", "surrogatepass") != content:
        return False
    if matcher.json_value is None:
        return True
    single = one_reading(content)
    return match_json(matcher.json_value, json_or_none(content)) if single else single
