"""`oyer check`: every error of every file at once, each at its place; nothing is started or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option

__all__ = ["command"]


@click.command("check", short_help=COMMANDS["check"].about)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--expand", is_flag=True, help="Print the full pinned form of every case, rubric, suite and sequence.")
@click.option("--strict", is_flag=True, help="Also apply the construct rules: controls, doubles, a marker.")
@plugin_option
@json_option
def command(files: tuple[str, ...], expand: bool, strict: bool, plugins: tuple[Path, ...], as_json: bool) -> int:
    """Check cases, rubrics, suites and everything they point at.

    Every error is reported at once, as file:line:column with the field and what to do. Other records (a project file,
    plans, manifests, outcomes) are checked too. Exit code 2: a path is wrong; 3: a content is.
    """
    from oyer.cli.loading import Reading, read_case_file, refuse_all
    from oyer.cli.plugins import plugin_paths, promised
    from oyer.cli.project import FILE, find_project
    from oyer.cli.scopes import cross_problems
    from oyer.cli.terminal import print_json
    from oyer.errors import OyerError

    reading = Reading(tuple(read_case_file(_named(name)) for name in files))
    try:
        project = find_project()
    except OyerError:
        if not any(Path(name).name == FILE for name in files):
            raise
        project = None  # what is wrong with it is told with all the rest
    known = promised(plugin_paths(plugins, project))
    refuse_all(reading, contents=[*cross_problems(reading, known), *(_strict_problems(reading) if strict else ())])
    if as_json:
        print_json({"files": [_file_value(file, expand=expand) for file in reading.files], "exit_code": 0})
    elif expand:
        _print_expanded(reading)
    else:
        _print_found(reading)
    return 0


def _named(name: str) -> Path:
    """Return the file of a name; a packaged suite or case goes by its id."""
    from oyer.cli.loading import is_file_name
    from oyer.library import find_record

    if is_file_name(name) or Path(name).exists():
        return Path(name)
    return find_record(name, "TrialSuite@1") or find_record(name, "Case@1") or Path(name)


def _strict_problems(reading: Any) -> list[Any]:
    from oyer.cli.construct import construct_problems

    return construct_problems(reading)


def _file_value(file: Any, *, expand: bool) -> dict[str, Any]:
    from oyer.records import plain

    cases = [
        {
            "id": placed.loaded.case.id,
            "kind": placed.loaded.case.kind,
            "revision": placed.loaded.case.revision,
            "digest": placed.loaded.digest,
            "world_digest": placed.world_digest,
            "conditions": list(placed.loaded.case.conditions),
            "notes": _notes(placed.loaded.case),
            **({"record": plain(placed.loaded.case)} if expand else {}),
        }
        for placed in file.cases
    ]
    return {
        "file": file.name,
        "cases": cases,
        "rubrics": [_record_value(loaded, expand=expand) for loaded in file.rubrics],
        "suites": [_record_value(loaded, expand=expand) for loaded in file.suites],
        "sequences": [_sequence_value(placed, notes, expand=expand) for placed, notes in _sequences(file)],
        "records": [{"kind": loaded.record.oyer} for loaded in file.others],
    }


def _sequences(file: Any) -> list[tuple[Any, list[str]]]:
    """The sequences of the suites in a file, each as the case it comes to, with what is declared in vain for it."""
    from oyer.cli.scopes import suite_sequences

    return [told for loaded in file.suites for told in suite_sequences(loaded, file)]


def _sequence_value(placed: Any, notes: list[str], *, expand: bool) -> dict[str, Any]:
    from oyer.records import members_of, plain

    case = placed.loaded.case
    told = {"id": case.id, "digest": placed.loaded.digest, "cases": list(members_of(case)), "notes": notes}
    return {**told, **({"record": plain(case)} if expand else {})}


def _notes(case: Any) -> list[str]:
    """Say what a valid case declares in vain."""
    from oyer.cli.construct import UNPRICED

    return [] if case.budget.cost_usd is None else [f"budget: {UNPRICED}"]


def _record_value(loaded: Any, *, expand: bool) -> dict[str, Any]:
    from oyer.records import plain

    record = loaded.record
    told = {"id": record.id, "revision": record.revision, "digest": loaded.digest}
    return {**told, **({"record": plain(record)} if expand else {})}


def _print_expanded(reading: Any) -> None:
    import sys

    from oyer.cli.expanding import write_yaml
    from oyer.cli.streams import write_out
    from oyer.records import plain

    records = [
        record
        for file in reading.files
        for record in (*(placed.loaded.case for placed in file.cases),
                       *(loaded.record for loaded in (*file.rubrics, *file.suites)))
    ]  # fmt: skip
    told = "---\n".join(write_yaml(plain(record)) for record in records)
    # As comments: nobody writes such a case, and what is printed here is read back as what it says.
    for placed, _ in (told for file in reading.files for told in _sequences(file)):
        told += f"# The sequence {placed.loaded.case.id} comes to this case, {placed.loaded.digest}:\n"
        told += "".join(f"#   {text}\n" for text in write_yaml(plain(placed.loaded.case)).splitlines())
    write_out(sys.stdout, told)


def _print_found(reading: Any) -> None:
    from oyer.cli.terminal import print_page
    from oyer.report import entry, line, say

    for file in reading.files:
        told = [line(say(file.name, "strong"), say("  nothing is wrong", "good"))]
        for placed in file.cases:
            case = placed.loaded.case
            told.append(
                line(
                    "  ",
                    say(entry(case.id, 36)),
                    say(entry(case.kind, 18), "dim"),
                    say(placed.loaded.digest[:19], "dim"),
                )
            )
            told += [line("    ", say(note, "warn")) for note in _notes(case)]
        for loaded in (*file.rubrics, *file.suites):
            kind = loaded.record.oyer.partition("@")[0]
            told.append(
                line(
                    "  ", say(entry(loaded.record.id, 36)), say(entry(kind, 18), "dim"), say(loaded.digest[:19], "dim")
                )
            )
        for placed, notes in _sequences(file):
            name, short = placed.loaded.case.id, placed.loaded.digest[:19]
            told.append(line("  ", say(entry(name, 36)), say(entry("sequence", 18), "dim"), say(short, "dim")))
            told += [line("    ", say(note, "warn")) for note in notes]
        told += [line("  ", say(loaded.record.oyer, "dim")) for loaded in file.others]
        print_page(tuple(told))
