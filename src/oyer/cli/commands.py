"""The table of commands, and a click group that loads a command's module only when it is asked for.

Owns names, one-line descriptions and the sections of `oyer --help`. Must never import a room at the top: help has to
be there at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click

from oyer import __version__

__all__ = ["COMMANDS", "Entry", "LazyGroup", "oyer_group"]


class Entry(NamedTuple):
    """One command: the section it is listed under, the module that holds it as `command`, and a line about it."""

    section: str
    module: str
    about: str


COMMANDS: Mapping[str, Entry] = {
    "demo": Entry("Start", "demo", "Run the packaged experiment against three scripted subjects, then verify it."),
    "init": Entry("Start", "init", "Write a project that runs, from an example or a packaged suite, or a first case."),
    "pin": Entry("Run", "pin", "Lock what a suite is made of, and say what moved since."),
    "plan": Entry("Run", "plan", "Say what would run, and write it down, signed, before it does."),
    "run": Entry("Run", "run", "Run cases against subjects and say what the evidence shows."),
    "judge": Entry("Run", "judge", "Judge a finished series with evaluators of your own, beside what is there."),
    "show": Entry("Look", "show", "Show a series, or one trial of it message by message."),
    "diff": Entry("Look", "diff", "Hold two series of the same cases against each other."),
    "bundle": Entry("Evidence", "bundle", "Write a series into one file, signed where a key is given."),
    "verify": Entry("Evidence", "verify", "Check a series or a bundle from its stored bytes alone."),
    "keygen": Entry("Evidence", "keygen", "Make a pair of keys to sign bundles and plans with."),
    "check": Entry("Authors", "check", "Check case files: every error at once, each at its place."),
    "qualify": Entry("Authors", "qualify", "Show cases to subjects whose truth is known: are they told apart?"),
    "library": Entry("Authors", "library", "List the suites and cases that there are, and say what each is about."),
    "schema": Entry("Authors", "schema", "Print or export the JSON Schemas of the records."),
    "conform": Entry("Machines", "conform", "Hold the scorer to a file of scoring vectors."),
    "doctor": Entry("Machines", "doctor", "Say what this machine can do, and what it lacks."),
}
_SECTIONS = ("Start", "Run", "Look", "Evidence", "Authors", "Machines")
_EPILOG = """\
Exit codes: 0 done; 1 a check does not hold; 2 an argument or path is wrong; 3 the content of a file is wrong;
4 evidence does not prove what it claims; 5 undecided, since evidence is missing; 130 interrupted; 70 a bug in Oyer.
"""


class LazyGroup(click.Group):
    """A group whose commands are imported one at a time, on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, in the order of the sections."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(f"oyer.cli.{entry.module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for, or name the nearest one. Raises: click.UsageError."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], list(COMMANDS), n=1, cutoff=0.5)
            if not near:
                raise
            raise click.UsageError(f"No such command {args[0]!r}: did you mean {near[0]}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, without loading any."""
        for section in _SECTIONS:
            rows = [(name, entry.about) for name, entry in COMMANDS.items() if entry.section == section]
            with formatter.section(section):
                formatter.write_dl(rows, col_max=12)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the exit codes."""
        formatter.write_paragraph()
        formatter.write_text(_EPILOG.replace("\n", " "))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, "--version", message="oyer %(version)s")
def oyer_group() -> None:
    """Oyer puts AI agents on trial and refuses to say more than the retained evidence shows.

    `oyer demo` is the place to start. Every command takes --help, and --json for programs.
    """
