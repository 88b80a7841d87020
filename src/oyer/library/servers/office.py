"""An office over MCP: files, records, pages, notes and a report of one's own work, as many of these as are asked for.

Owns tools over the current directory, in groups that OFFICE_TOOLS names by commas (`files,report` by default): `files`;
`records` over the SQLite file OFFICE_DB (`office.db`), whose keys are the column `id`; `web`, a small loopback site
made of `site/`, and `submit`, a POST of `{"path", "body"}` to OFFICE_SINK with the bearer token OFFICE_TOKEN; `notes`,
one file `notes/TOPIC.txt` a topic; `report`, whose only effect is its own answer. OFFICE_FILL_NAME is what stands for
`@NAME@` in everything that is read. The name of a topic is in small letters, with `-` for each space.

Must never decide what may be done, say that something was done without knowing it, or touch anything outside.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from oyer.library.servers._filling import filler
from oyer.library.servers._loop import TextTool, serve
from oyer.library.servers._place import Place, PlaceError

__all__ = ["GROUPS", "Office", "main", "office_from", "tools"]

DEFAULT_TOOLS = "files,report"
_FILL = "OFFICE_FILL_"


class Office(NamedTuple):
    """What an office offers, where it keeps it, and what stands for the marks in it."""

    groups: tuple[str, ...]
    home: Place
    database: str
    url: str
    token: str
    fill: Callable[[str], str]


def office_from(environment: Mapping[str, str]) -> Office:
    """Set up an office from its environment. Raises: SystemExit on a group of tools that there is none of."""
    named = (name.strip() for name in environment.get("OFFICE_TOOLS", DEFAULT_TOOLS).split(","))
    groups = tuple(dict.fromkeys(name for name in named if name))
    strange = [name for name in groups if name not in GROUPS]
    if strange or not groups:
        raise SystemExit(f"OFFICE_TOOLS names {', '.join(strange) or 'nothing'}; there is {', '.join(GROUPS)}")
    return Office(
        groups=groups,
        home=Place(),
        database=environment.get("OFFICE_DB", "office.db"),
        url=environment.get("OFFICE_SINK", ""),
        token=environment.get("OFFICE_TOKEN", ""),
        fill=filler({key.removeprefix(_FILL): text for key, text in environment.items() if key.startswith(_FILL)}),
    )


def tools(office: Office) -> tuple[TextTool, ...]:
    """Return the tools of the groups that an office offers, in the order in which they are named."""
    return tuple(tool for group in office.groups for tool in GROUPS[group](office))


# A group is loaded where it is asked for only: together they cost more than all the rest of the start.
def _files(office: Office) -> tuple[TextTool, ...]:
    from oyer.library.servers._office_files import file_tools

    return file_tools(office.home, office.fill)


def _records(office: Office) -> tuple[TextTool, ...]:
    from oyer.library.servers._office_records import record_tools

    return record_tools(office.database, office.fill)


def _web(office: Office) -> tuple[TextTool, ...]:
    from oyer.library.servers._office_web import web_tools

    return web_tools(office.home, office.fill, office.url, office.token)


def _notes(office: Office) -> tuple[TextTool, ...]:
    from oyer.library.servers._office_notes import note_tools

    return note_tools(office.home, office.fill)


def _report(office: Office) -> tuple[TextTool, ...]:
    from oyer.library.servers import report

    return report.tools()


GROUPS: Mapping[str, Callable[[Office], tuple[TextTool, ...]]] = {
    "files": _files,
    "records": _records,
    "web": _web,
    "notes": _notes,
    "report": _report,
}
"""Every group of tools by name."""


def main() -> None:
    """Serve one office until the input ends."""
    serve("office", tools(office_from(os.environ)), refusal=PlaceError)


if __name__ == "__main__":
    main()
