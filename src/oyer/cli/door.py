"""The door: one place where a command line becomes an exit code, and where every error becomes words.

Owns the exit codes, the standard streams, and what a person or a program is told when something is wrong. Must never
let a traceback out (`OYER_DEBUG=1` asks for it), and never let a closed output change an exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from oyer.cli.commands import oyer_group
from oyer.errors import OyerError, Problem

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
_BUG = 70
_USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    _open_standard_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given[: given.index("--") if "--" in given else None]
    try:
        code = oyer_group.main(given, prog_name="oyer", standalone_mode=False, obj=tuple(given))
        return int(code or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        return _help(error)
    except click.UsageError as error:
        return _refuse([_usage_problem(error)], _USAGE, as_json=as_json)
    except click.ClickException as error:
        return _refuse([Problem("E-USAGE", error.format_message())], _USAGE, as_json=as_json)
    except OyerError as error:
        return _refuse(error.problems, error.exit_code, as_json=as_json, error=error)
    except (KeyboardInterrupt, click.Abort):
        return _refuse([Problem("E-INTERRUPTED", "interrupted")], INTERRUPTED, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the door
        return _refuse([_bug(error)], _BUG, as_json=as_json, error=error)
    finally:
        _flush()


def _usage_problem(error: click.UsageError) -> Problem:
    asked = f"oyer {error.ctx.command.name}" if error.ctx and error.ctx.parent else "oyer"
    return Problem("E-USAGE", error.format_message(), "", f"see `{asked} --help`")


def _help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """Show the help to whoever named no command: nobody got anything wrong, and nothing was done either."""
    from oyer.cli.streams import write_out

    write_out(sys.stderr, f"{error.format_message()}\n")
    return _USAGE


def _bug(error: Exception) -> Problem:
    from oyer.cli.crash import write_crash_note

    note = write_crash_note(error)
    kept = f"please report it with {note}" if note else "the details could not be written; run again with OYER_DEBUG=1"
    return Problem("E-BUG", f"this is a bug in Oyer: {type(error).__name__}: {error}", "", kept)


def _refuse(problems: Sequence[Problem], code: int, *, as_json: bool, error: BaseException | None = None) -> int:
    from oyer.cli.terminal import print_error, print_json

    if as_json:
        told = [problem._asdict() for problem in problems]
        first = {"code": problems[0].code, "message": problems[0].message, "problems": told}
        print_json({"error": first, "exit_code": code})
    else:
        print_error(problems)
    if error is not None and os.environ.get("OYER_DEBUG") == "1":
        import traceback

        from oyer.cli.streams import write_out

        write_out(sys.stderr, "".join(traceback.format_exception(error)))
    return code


def _open_standard_streams() -> None:
    """Put /dev/null in the place of a closed standard stream, so that no other file is given its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _flush() -> None:
    """Flush now: at exit Python would complain about a closed pipe, and change the exit code."""
    from oyer.cli.streams import write_out

    write_out(sys.stdout, "")
    write_out(sys.stderr, "")
