"""Text files of one directory over MCP: list, read, write.

Owns three tools over the current directory, with the argument names of the reference filesystem server. Confinement
and atomic writes are `_place`'s. Must never reach outside that directory or follow a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oyer.library.servers._loop import Answer, TextTool, serve
from oyer.library.servers._place import Place, PlaceError

__all__ = ["PATH", "main", "tools"]

PATH = "Path of a file, relative to the directory"
_KINDS = {"file": "[FILE]", "directory": "[DIR]", "other": "[OTHER]"}


def tools(place: Place, shown: Callable[[str], str] = str) -> tuple[TextTool, ...]:
    """Return the tools over one directory, whose files are read as `shown` says."""

    def list_directory(arguments: Mapping[str, str]) -> Answer:
        entries = place.listing(arguments.get("path", "."))
        return Answer("\n".join(f"{_KINDS[kind]} {name}" for kind, name in entries) or "The directory is empty.")

    def read_file(arguments: Mapping[str, str]) -> Answer:
        return Answer(shown(place.read_text(arguments["path"])))

    def write_file(arguments: Mapping[str, str]) -> Answer:
        size_bytes = place.write_text(arguments["path"], arguments["content"])
        return Answer(f"Wrote {size_bytes} bytes to {arguments['path']}.")

    top = "Path of a directory; without it, the top one"
    both = {"path": PATH, "content": "The whole new content"}
    return (
        TextTool("list_directory", "List what is in a directory.", list_directory, {"path": top}, optional=("path",)),
        TextTool("read_file", "Read a text file.", read_file, {"path": PATH}),
        TextTool("write_file", "Create a text file, or replace what is in it.", write_file, both),
    )


def main() -> None:
    """Serve the current directory until the input ends."""
    serve("files", tools(Place()), refusal=PlaceError)


if __name__ == "__main__":
    main()
