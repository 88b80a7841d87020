"""One-file plug-ins on a command line: the option, what a file promises before it runs, and loading what is named.

Owns where plug-ins are named: `--plugin`, `plugins:` of the project file, `plugins:` of a suite. Must never load one
for a command that only looks: what a file declares is then read from its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from oyer.adjudicate import Judge
    from oyer.cli.project import PlacedProject
    from oyer.cli.scopes import PlacedSuite
    from oyer.records import Evaluator

__all__ = ["load_judges", "load_revisions", "plugin_option", "plugin_paths", "promised"]

plugin_option = click.option(
    "--plugin",
    "plugins",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE.py",
    help="A file of evaluators of your own; give it several times for several.",
)


def plugin_paths(
    named: Iterable[Path], project: PlacedProject | None = None, suite: PlacedSuite | None = None
) -> tuple[Path, ...]:
    """Return every plug-in that a command line, its project and its suite name, each file once."""
    found = [*named]
    found += project.plugins if project is not None else ()
    if suite is not None:
        found += (suite.path.parent / text for text in suite.suite.plugins)
    by_place = {path.resolve(): path for path in reversed(found)}
    return tuple(reversed(by_place.values()))


def promised(paths: Iterable[Path]) -> frozenset[str]:
    """Return the ids of the evaluators that files declare, read from their text; nothing of them is run.

    Raises: UsageError with everything that will keep them from loading, as far as their text shows it.
    """
    from oyer.errors import Problem, UsageError
    from oyer.evaluators import declared_ids

    found: dict[str, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            ids = declared_ids(path)
        except UsageError as error:
            problems += error.problems
            continue
        for name in ids:
            if name in found:
                told = f"evaluator {name} is there twice: {found[name]} declares it too"
                problems.append(Problem("E-PLUGIN-TWICE", told, str(path), "name one of the two files"))
            found.setdefault(name, path)
    if problems:
        raise UsageError.of(problems)
    return frozenset(found)


def load_revisions(paths: Iterable[Path]) -> tuple[Judge, ...]:
    """Load plug-ins for a series that exists, where several may be revisions of one evaluator. Raises: UsageError."""
    chosen = tuple(paths)
    if not chosen:
        return ()
    from oyer.evaluators import load_revisions as load

    return load(chosen)


def load_judges(paths: Iterable[Path], declared: Mapping[str, Evaluator]) -> Mapping[str, Judge]:
    """Load plug-ins. One that is declared as an Evaluator@1 too is pinned as declared, and must be that very code.

    Raises: UsageError with everything that is wrong; RecordError `E-PLUGIN-CODE` for a file that was changed.
    """
    chosen = tuple(paths)
    if not chosen:
        return {}
    from oyer.errors import Problem, RecordError
    from oyer.evaluators import load_plugins

    loaded = load_plugins(chosen).judges
    problems = []
    for name in sorted(set(loaded) & set(declared)):
        code = loaded[name].evaluator.code
        if declared[name].code != code:
            told = f"evaluator {name} is declared with code {declared[name].code}, and the plug-in is {code}"
            problems.append(Problem("E-PLUGIN-CODE", told, hint="restore the file, or declare what it is now"))
    if problems:
        raise RecordError.of(problems)
    return loaded
