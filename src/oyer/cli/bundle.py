"""`oyer bundle`: evidence out of the building, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.store import WrittenBundle

__all__ = ["bundle_value", "command"]


@click.command("bundle", short_help=COMMANDS["bundle"].about)
@click.argument("series", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="The bundle; SERIES.oyer by default."
)
@click.option(
    "--key", type=click.Path(path_type=Path), metavar="FILE", help="Sign it with this private key (see `oyer keygen`)."
)
@click.option(
    "--withhold",
    multiple=True,
    metavar="GLOB",
    help="Leave out the files of the series that match, such as 'blobs/*'; a star goes over slashes too.",
)
@json_option
def command(series: Path, out: Path | None, key: Path | None, withhold: tuple[str, ...], as_json: bool) -> int:
    """Write the SERIES directory into one file that `oyer verify` takes as it is.

    The same series gives the same bytes. What is withheld is named in the bundle; `oyer verify` then lists what could
    not be checked, and exits with 5.
    """  # fmt: skip
    from oyer.cli.places import bundle_path, open_series_reader
    from oyer.cli.terminal import print_json, print_text
    from oyer.errors import UsageError
    from oyer.report import counted
    from oyer.store import write_bundle

    if series.is_file():
        raise UsageError("E-PATH", "it is a file, not the directory of a series", where=str(series))
    open_series_reader(series).close()
    sign = None
    if key is not None:
        from oyer.host import read_signing_key

        sign = read_signing_key(key).sign
    written = write_bundle(series, out or bundle_path(series), withhold=withhold, sign=sign)
    if as_json:
        print_json({**bundle_value(written), "exit_code": 0})
        return 0
    told = [
        f"{written.files} files, {written.size} bytes, {written.sha256}",
        f"last seal {written.head}",
        f"signed by key {written.keyid}" if written.keyid else "not signed: nothing in it proves who made it",
    ]
    if written.withheld:
        told.append(f"withheld {counted(len(written.withheld), 'file')}: what rests on them cannot be checked")
    for text in (*told, str(written.path)):
        print_text(text)
    return 0


def bundle_value(written: WrittenBundle) -> dict[str, Any]:
    """Return a written bundle as JSON."""
    return {
        "path": str(written.path),
        "size_bytes": written.size,
        "sha256": written.sha256,
        "series": written.series,
        "head": written.head,
        "files": written.files,
        "withheld": list(written.withheld),
        "signed_by": written.keyid,
    }
