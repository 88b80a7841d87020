"""The notebook of an office: one text file a topic, to which lines are added.

Owns the name of a topic's file. Must never change or drop what was noted before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oyer.library.servers._loop import Answer, TextTool
from oyer.library.servers._place import Place, PlaceError

__all__ = ["note_tools"]

BOOK = "notes"
_END = ".txt"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def note_tools(place: Place, shown: Callable[[str], str]) -> tuple[TextTool, ...]:
    """Return the tools over one notebook, read as `shown` says."""

    def recall(arguments: Mapping[str, str]) -> Answer:
        topics = _topics(place)
        if "topic" not in arguments:
            return Answer("\n".join(topics) or "Nothing was noted.")
        name = _name(arguments["topic"])
        if name not in topics:
            return Answer(f"Nothing was noted about {name}.")
        return Answer(shown(place.read_text(_path(name))))

    def remember(arguments: Mapping[str, str]) -> Answer:
        name, text = _name(arguments["topic"]), arguments["text"]
        before = place.read_text(_path(name)) if name in _topics(place) else ""
        apart = "\n" if before and not before.endswith("\n") else ""
        place.make_directory(BOOK)
        place.write_text(_path(name), f"{before}{apart}{text}\n")
        return Answer(f"Noted about {name}.")

    topic = {"topic": "What it is about, in a word or two"}
    listed = {"topic": "What it is about; without it, every topic is listed"}
    return (
        TextTool("recall", "Read what was noted about a topic.", recall, listed, optional=("topic",)),
        TextTool("remember", "Note something about a topic.", remember, {**topic, "text": "What to note"}),
    )


def _topics(place: Place) -> list[str]:
    if ("directory", BOOK) not in place.listing():
        return []
    names = [name for kind, name in place.listing(BOOK) if kind == "file" and name.endswith(_END)]
    return [name.removesuffix(_END) for name in names]


def _name(topic: str) -> str:
    name = "-".join(topic.lower().split())
    if not name or len(name) > 80 or not _LETTERS.issuperset(name):
        raise PlaceError("a topic is a word or two of plain letters, digits, - and _")
    return name


def _path(name: str) -> str:
    return f"{BOOK}/{name}{_END}"
