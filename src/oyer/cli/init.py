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
@click.option("--from", "origin", metavar="SUITE", help="Begin with a copy of this packaged suite instead.")
@json_option
def command(folder: Path, server: str | None, origin: str | None, as_json: bool) -> int:
    """Write a working, commented example project into DIR (this directory by default).

    It holds an experiment, a trap with its controls, a rubric, a suite, the project file and a job for CI, and runs
    offline with scripted subjects. Nothing is ever overwritten: where a file is there already, nothing is written.

    With --server the server is started once, and a case is written that names its tools: run it, then change what
    says CHANGE ME. With --from a packaged suite (`oyer library` lists them) is copied with its cases, rubrics and
    worlds: it can be checked, qualified and run at once, and then be made one's own.
    """
    from oyer.cli.terminal import look_of, print_json, print_page, print_text
    from oyer.report import fold, line, say

    if server is not None and origin is not None:
        raise click.UsageError("--server and --from each write a beginning of their own: name one of them.")
    suite = "first"
    if origin is not None:
        written, suite = _copy(folder, origin)
        notes: tuple[str, ...] = ()
    else:
        written, notes = (_project(folder), ()) if server is None else _case(folder, server)
    if as_json:
        files = [str(path) for path in written]
        print_json({"path": str(folder), "files": files, "notes": list(notes), "exit_code": 0})
        return 0
    shown = [path for path in written if not _in_world(path, folder)]
    for path in shown:
        print_page((line("  ", say(str(path))),))
    if len(shown) < len(written):
        print_page((line("  ", say(f"and {len(written) - len(shown)} files of its worlds", "dim")),))
    first = f"oyer check {written[0]}" if server is not None else f"oyer run {suite}"
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


def _copy(folder: Path, origin: str) -> tuple[list[Path], str]:
    from oyer.cli.starting import start_from

    start = start_from(origin)
    written = _write({folder / name: one.data for name, one in start.files.items()})
    for name, one in start.files.items():
        if one.executable:
            path = folder / name
            path.chmod(path.stat().st_mode | 0o111)
    return written, start.suite


def _in_world(path: Path, folder: Path) -> bool:
    """Whether a file belongs to a world of a copied suite: there may be hundreds of these."""
    parts = path.relative_to(folder).parts
    return parts[0] == "suites" and "worlds" in parts


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
