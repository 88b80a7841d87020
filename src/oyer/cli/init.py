"""`oyer init`: a project that runs as it is written, or a first case for a server that somebody has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]


@click.command("init", short_help=COMMANDS["init"].about)
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--server", metavar="COMMAND", help="Start this MCP server once, and write a first case for it instead.")
@json_option
def command(folder: Path, server: str | None, as_json: bool) -> int:
    """Write a working, commented example project into DIR (this directory by default).

    It holds an experiment, a trap with its controls, a rubric, a suite, the project file and a job for CI, and runs
    offline with scripted subjects. Nothing is ever overwritten: where a file is there already, nothing is written.

    With --server the server is started once, and a case is written that names its tools: run it, then change what
    says CHANGE ME.
    """
    from oyer.cli.terminal import look_of, print_json, print_page, print_text
    from oyer.report import fold, line, say

    written, notes = (_project(folder), ()) if server is None else _case(folder, server)
    if as_json:
        files = [str(path) for path in written]
        print_json({"path": str(folder), "files": files, "notes": list(notes), "exit_code": 0})
        return 0
    for path in written:
        print_page((line("  ", say(str(path))),))
    first = f"oyer check {written[0]}" if server is not None else "oyer run first"
    for note in notes:
        print_page(fold([say("note: ", "warn"), say(note)], look_of(sys.stdout), indent="  ", hanging="    "))
    more = "     (README.md says more)" if server is None else ""
    steps = [f"cd {folder}"] if server is None and folder.resolve() != Path.cwd().resolve() else []
    for index, step in enumerate([*steps, first + more]):
        print_page(((),) if index == 0 else ())
        print_page((line(say("      " if index else "Next: ", "dim"), say(step)),))
    print_text(str(folder))
    return 0


def _project(folder: Path) -> list[Path]:
    from oyer.library import project_files

    return _write({folder / name: data for name, data in project_files().items()})


def _case(folder: Path, server: str) -> tuple[list[Path], tuple[str, ...]]:
    from oyer.cli.skeleton import skeleton_of

    made = skeleton_of(server)
    return _write({folder / name: data for name, data in made.files.items()}), made.notes


def _write(files: dict[Path, bytes]) -> list[Path]:
    """Write every file, or none where one is there already. Raises: UsageError E-INIT-EXISTS, E-PATH."""
    from oyer.errors import Problem, UsageError

    there: list[Any] = [
        Problem("E-INIT-EXISTS", "this file is there already", str(path), "nothing was written: name another directory")
        for path in files
        if path.exists() or path.is_symlink()
    ]
    if there:
        raise UsageError.of(there)
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as target:
                target.write(data)
    except OSError as error:
        told = f"cannot be written: {error.strerror or error}"
        raise UsageError("E-PATH", told, where=str(error.filename or path)) from error
    return list(files)
