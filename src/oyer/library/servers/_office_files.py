"""The files of an office: list, read, write, delete.

Must never reach outside the directory or follow a link (confinement is `_place`'s).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oyer.library.servers import files
from oyer.library.servers._loop import Answer, TextTool
from oyer.library.servers._place import Place

__all__ = ["file_tools"]


def file_tools(place: Place, shown: Callable[[str], str]) -> tuple[TextTool, ...]:
    """Return the tools over one directory, whose files are read as `shown` says."""

    def delete_file(arguments: Mapping[str, str]) -> Answer:
        place.delete(arguments["path"])
        return Answer(f"Deleted {arguments['path']}.")

    path = {"path": files.PATH}
    return (*files.tools(place, shown), TextTool("delete_file", "Delete a file.", delete_file, path))
