"""`oyer schema`: the JSON Schemas of the records, for editors and for other languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command", "schema_bytes", "schema_file"]


@click.command("schema", short_help=COMMANDS["schema"].about)
@click.argument("kind", required=False)
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write one file per kind to DIR.")
@json_option
def command(kind: str | None, out: Path | None, as_json: bool) -> int:
    """Print the JSON Schema of one KIND (`Case@1`), list the kinds, or export all of them with -o."""
    from oyer.cli.terminal import print_json
    from oyer.records import KINDS, json_schema

    wanted = _wanted(kind)
    if out is not None:
        written = _export(wanted, out)
        if as_json:
            print_json({"files": written, "exit_code": 0})
        else:
            _print_list(written)
        return 0
    if kind is not None:
        print_json(json_schema(KINDS[wanted[0]]))
        return 0
    if as_json:
        print_json({"kinds": wanted, "exit_code": 0})
    else:
        _print_list([f"{name:14} {_about(name)}" for name in wanted])
    return 0


def schema_file(kind: str) -> str:
    """Return the file name of a kind's schema."""
    return kind.replace("@", "-") + ".json"


def schema_bytes(kind: str) -> bytes:
    """Return the exported form of a kind's schema."""
    from oyer.records import KINDS, json_schema

    return (json.dumps(json_schema(KINDS[kind]), indent=2, ensure_ascii=False) + "\n").encode()


def _wanted(kind: str | None) -> list[str]:
    from oyer.errors import UsageError
    from oyer.records import KINDS, nearest

    if kind is None:
        return list(KINDS)
    name = kind if "@" in kind else f"{kind}@1"
    if name not in KINDS:
        near = nearest(name, list(KINDS))
        raise UsageError(
            "E-KIND-UNKNOWN", f"there is no record kind {kind!r}", hint=near or "one of " + ", ".join(KINDS)
        )
    return [name]


def _about(kind: str) -> str:
    from oyer.records import KINDS

    return (KINDS[kind].__doc__ or "").split("\n")[0]


def _export(kinds: list[str], out: Path) -> list[str]:
    from oyer.errors import UsageError

    written: list[str] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for kind in kinds:
            path = out / schema_file(kind)
            path.write_bytes(schema_bytes(kind))
            written.append(str(path))
    except OSError as error:
        raise UsageError("E-PATH", f"cannot be written: {error.strerror or error}", where=str(out)) from error
    return written


def _print_list(lines: list[Any]) -> None:
    from oyer.cli.terminal import print_text

    for text in lines:
        print_text(str(text))
