"""From a file to its records: cases with their worlds found and looked at, rubrics, suites, and whatever else it holds.

Owns the reading of one file and the checking of what it points at. Every problem is collected; nothing is started and
nothing is written. Must never validate a field: that is `oyer.records`. What belongs together is `cli.scopes`.
"""

from __future__ import annotations

import stat
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oyer.errors import OyerError, Problem, RecordError, UsageError
from oyer.host import take_snapshot
from oyer.records import LoadedCase, LoadedFile, LoadedRecord, Record, Rubric, TrialSuite, read_file, read_items

__all__ = ["CaseFile", "PlacedCase", "Reading", "is_file_name", "locate", "read_case_file", "refuse_all"]

_LARGEST_BYTES = 16 * 1024 * 1024


class PlacedCase(NamedTuple):
    """A loaded case, the directory its paths start from, its world, and the digest of a world that is a directory."""

    loaded: LoadedCase
    base: Path
    world: Path | None
    world_digest: str | None


class CaseFile(NamedTuple):
    """One file: the records it holds, and every problem found.

    `families` are the ids that stand for several cases; `made` are the templates that its suites fill with items.
    """

    name: str
    cases: tuple[PlacedCase, ...] = ()
    rubrics: tuple[LoadedRecord[Rubric], ...] = ()
    suites: tuple[LoadedRecord[TrialSuite], ...] = ()
    others: tuple[LoadedRecord[Record], ...] = ()
    problems: tuple[Problem, ...] = ()
    failed: frozenset[str] = frozenset()
    families: Mapping[str, tuple[str, ...]] = {}
    made: tuple[CaseFile, ...] = ()
    unusable: bool = False


class Reading(NamedTuple):
    """All files of one command line."""

    files: tuple[CaseFile, ...]

    @property
    def cases(self) -> tuple[PlacedCase, ...]:
        """Every case, in order."""
        return tuple(case for file in self.files for case in file.cases)


def is_file_name(name: str) -> bool:
    """Tell whether a name means a file; anything else means a packaged case."""
    return name.endswith((".yaml", ".yml", ".json")) or ("/" in name and Path(name).exists())


def locate(name: str, own: Sequence[str] = ()) -> tuple[Path, str | None]:
    """Return the file that a name means, and the id of the one case asked for where it is a packaged one. `own` are
    the suites of the project, which it may have meant.

    Raises: UsageError E-CASE-UNKNOWN, E-PATH.
    """
    if is_file_name(name):
        return Path(name), None
    from oyer.library import find_case

    try:
        return find_case(name, own), name
    except UsageError:
        if Path(name).is_file():
            return Path(name), None
        raise


def refuse_all(reading: Reading, *, paths: Iterable[Problem] = (), contents: Iterable[Problem] = ()) -> None:
    """Raise everything that is wrong as one error: a UsageError if any path is, else a RecordError; or return."""
    wrong_paths = list(paths)
    found = [*wrong_paths, *(problem for file in reading.files for problem in file.problems), *contents]
    if not found:
        return
    unusable = bool(wrong_paths) or any(file.unusable for file in reading.files)
    kind: type[OyerError] = UsageError if unusable else RecordError
    raise kind.of(found)


def read_case_file(path: Path) -> CaseFile:
    """Read one file and everything it points at; problems are values here."""
    name = str(path)
    try:
        data = _content(path)
    except UsageError as error:
        return CaseFile(name, problems=error.problems, unusable=True)
    try:
        made: list[CaseFile] = []
        loaded = read_file(data, name=name, world_files=_world_files(path.parent), generate=_generator(path, made))
    except OyerError as error:
        return CaseFile(name, problems=error.problems, unusable=isinstance(error, UsageError))
    return _placed_file(loaded, path)._replace(made=tuple(made))


def _generator(path: Path, made: list[CaseFile]) -> Callable[[str, str], tuple[tuple[str, ...], tuple[Problem, ...]]]:
    """Return what fills the templates that a suite names, from paths that start from the suite's file."""

    def generate(items_name: str, template: str) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
        place, lines = path.parent / template, path.parent / items_name
        try:
            items, wrong = read_items(_content(lines), name=str(lines))
            data = _content(place)
        except UsageError as error:
            hint = "a path starts from the suite's own file"
            return (), tuple(Problem("E-SUITE-FILE", f"{p.where}: {p.message}", "", hint) for p in error.problems)
        if wrong:
            return (), wrong
        loaded = read_file(data, name=str(place), world_files=_world_files(place.parent), items=items)
        made.append(_placed_file(loaded, place))
        listed = [case.case.id for case in loaded.cases if not case.case.kind.endswith("_control")]
        return (*listed, *sorted(loaded.failed)), ()

    return generate


def _placed_file(loaded: LoadedFile, path: Path) -> CaseFile:
    problems = list(loaded.problems)
    placed: list[PlacedCase] = []
    failed = set(loaded.failed)
    for case in loaded.cases:
        problems += _unknown_servers(case)
        try:
            placed.append(_placed(case, path.parent))
        except OyerError as error:
            failed.add(case.case.id)
            problems += [_at_world(case, problem) for problem in error.problems]
    return CaseFile(
        str(path),
        tuple(placed),
        loaded.rubrics,
        loaded.suites,
        loaded.others,
        tuple(problems),
        frozenset(failed),
        loaded.families,
    )


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UsageError("E-PATH", "a directory, not a file", where=str(path), hint="name a case file in it")
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            # A pipe that nobody writes to would be waited for without end.
            raise UsageError("E-PATH", "not a plain file", where=str(path), hint="save the case in a file")
        size = found.st_size
        if size > _LARGEST_BYTES:
            raise UsageError("E-PATH", f"{size} bytes are no case file", where=str(path))
        return path.read_bytes()
    except OSError as error:
        hint = (
            ""
            if is_file_name(str(path))
            else "a file ends in .yaml, .yml or .json; `oyer library` lists packaged cases"
        )
        raise UsageError("E-PATH", f"cannot be read: {error.strerror or error}", where=str(path), hint=hint) from error


def _world_files(base: Path) -> Callable[[str], tuple[str, ...]]:
    def listed(reference: str) -> tuple[str, ...]:
        place = base / reference
        if not place.is_dir():
            return ()
        return tuple(sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()))

    return listed


def _placed(loaded: LoadedCase, base: Path) -> PlacedCase:
    world = None if loaded.case.world is None else base / loaded.case.world
    seen = None if world is None else _world_digest(loaded, world)
    return PlacedCase(loaded, base.resolve(), None if world is None else world.resolve(), seen)


_PACKAGED_SERVER = "oyer.library.servers."


def _unknown_servers(case: LoadedCase) -> list[Problem]:
    """A packaged server that is none would only be missed once its trial is blocked."""
    from oyer.library import packaged_servers

    known = packaged_servers()
    named = [
        (name, server.command[-1]) for name, server in case.case.servers.items() if server.command[1:3] == ("-P", "-m")
    ]
    hint = "there is " + ", ".join(f"oyer:{each}" for each in known)
    return [
        case.document.problem(
            "E-CASE-NAME",
            ("servers", name),
            f"'oyer:{module.removeprefix(_PACKAGED_SERVER)}' is no packaged server",
            hint,
        )
        for name, module in named
        if module.startswith(_PACKAGED_SERVER) and module.removeprefix(_PACKAGED_SERVER) not in known
    ]


def _at_world(case: LoadedCase, problem: Problem) -> Problem:
    place = f"{case.document.where(('world',))}: world"
    inner = f"{problem.where}: " if problem.where else ""
    return Problem(problem.code, f"{inner}{problem.message}", place, problem.hint)


def _world_digest(loaded: LoadedCase, place: Path) -> str | None:
    """Look at the world as the engine will: it must be there, readable, and hold nothing that cannot be pinned."""
    if place.is_dir():
        return _directory_digest(loaded, place)
    if not place.is_file():
        told = f"there is no {place}"
        raise RecordError("E-WORLD-MISSING", told, hint="the path of a world starts from its case file")
    try:
        with tarfile.open(place, mode="r:") as archive:
            archive.getmembers()
    except (tarfile.TarError, OSError) as error:
        raise RecordError("E-WORLD-ARCHIVE", f"not a readable tar archive: {error}", where=str(place)) from error
    return None


def _directory_digest(loaded: LoadedCase, place: Path) -> str:
    try:
        seen = take_snapshot(place)
    except OSError as error:
        raise RecordError("E-WORLD-READ", f"cannot be read: {error.strerror or error}", where=str(place)) from error
    problems = [
        Problem("E-WORLD-SPECIAL", "neither a file, a directory nor a link", f"{place}/{path}") for path in seen.special
    ]
    told, hint = "a symbolic link that is not declared", "list its path under `symlinks`, or replace it"
    problems += [
        Problem("E-DIRECTORY-SYMLINK", told, f"{place}/{entry.path}", hint)
        for entry in seen.entries
        if entry.kind == "symlink" and entry.path not in loaded.case.symlinks
    ]
    if problems:
        raise RecordError.of(problems)
    return seen.digest
