"""The packaged cases and suites: what there is, and which file holds which.

Owns finding them by id. Must never validate or expand a case (that is `oyer.records`): it reads only the lines that
give a document its id and title, so that listing the catalogue loads no YAML or schema library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oyer.errors import UsageError

__all__ = [
    "Packaged",
    "cases_with",
    "demo_case",
    "find_case",
    "find_record",
    "find_suite",
    "packaged_cases",
    "packaged_servers",
    "packaged_suites",
    "project_files",
    "start_files",
]

_DEMO = "cascade-memo"


class Packaged(NamedTuple):
    """One packaged case or suite: its id, a line for people, and the file it stands in (which may hold several).

    `kind` is the kind of a case as it is written, `suite` for a packaged suite, and empty where nothing says it.
    """

    name: str
    title: str
    path: Path
    kind: str = ""


@cache
def packaged_cases() -> tuple[Packaged, ...]:
    """List every packaged case, in the order of files and of documents within them: single ones, then suites'."""
    return tuple(found for place in ("cases", "suites") for found in _listed(place, "Case@1"))


@cache
def packaged_suites() -> tuple[Packaged, ...]:
    """List every packaged suite by name, so that the parts of one come after it."""
    return tuple(sorted(_listed("suites", "TrialSuite@1"), key=lambda suite: suite.name))


def _listed(place: str, kind: str) -> Iterator[Packaged]:
    from importlib.resources import files

    # A zipped install has no paths to give; the wheel is installed unzipped, which zip-safe loaders do not promise.
    for path in sorted(Path(str(files("oyer.library") / place)).rglob("*.yaml")):
        yield from _documents(path, kind)


@cache
def packaged_servers() -> tuple[str, ...]:
    """List the names that may stand after `oyer:` where a case names a server."""
    from importlib.resources import files

    place = Path(str(files("oyer.library") / "servers"))
    return tuple(sorted(path.stem for path in place.glob("*.py") if not path.name.startswith("_")))


def cases_with(suite: Packaged) -> tuple[Packaged, ...]:
    """List the packaged cases that stand with a suite, in its directory or below."""
    return tuple(case for case in packaged_cases() if case.path.is_relative_to(suite.path.parent))


def find_case(name: str, own: Sequence[str] = ()) -> Path:
    """Return the file that holds a packaged case. Raises: UsageError E-CASE-UNKNOWN, naming what there is, the caller's
    `own` suites first.
    """
    for case in packaged_cases():
        if case.name == name:
            return case.path
    from oyer.records import nearest

    suites = tuple(suite.name for suite in packaged_suites())
    every = tuple(case.name for case in packaged_cases())
    # The cases of a family go by its name: nobody reads a list of all of them.
    packaged = tuple(
        case for case in every if not any("/" in suite and case.startswith(f"{suite}/") for suite in suites)
    )
    close = nearest(name, (*own, *every, *suites))
    meant = f"did you mean {close}? " if close else ""
    ours = f"a suite of the project ({', '.join(own)}), " if own else ""
    hint = f"{meant}name a file, {ours}a packaged suite ({', '.join(suites)}) or case: {', '.join(packaged)}"
    told = f"there is no packaged suite or case {name!r}{', and none of the project' if own else ''}"
    raise UsageError("E-CASE-UNKNOWN", told, hint=hint)


def find_suite(name: str) -> Path | None:
    """Return the file that holds a packaged suite, None where there is none of this name."""
    return next((suite.path for suite in packaged_suites() if suite.name == name), None)


@cache
def find_record(name: str, kind: str) -> Path | None:
    """Return the file that holds a packaged record of this kind (`Rubric@1`), None where there is none."""
    listed = (found for place in ("cases", "suites") for found in _listed(place, kind))
    return next((found.path for found in listed if found.name == name), None)


def project_files() -> dict[str, bytes]:
    """Return the files of the example project, by their paths in it."""
    from importlib.resources import files

    root = Path(str(files("oyer.library") / "project"))
    moved = {"workflow.yaml": ".github/workflows/oyer.yaml", "gitignore.txt": ".gitignore"}
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return {moved.get(name, name): (root / name).read_bytes() for name in names}


def start_files() -> dict[str, bytes]:
    """Return the files of a project that begins with a copy of a suite, its own apart, by their paths in it.

    SUITE, FOLDER and ORIGIN stand in three of them for what the copy is called, where it lies and what it is of.
    """
    from importlib.resources import files

    root = Path(str(files("oyer.library") / "start"))
    ours = {path.name: path.read_bytes() for path in sorted(root.iterdir()) if path.is_file()}
    project = project_files()
    return {**ours, **{name: project[name] for name in (".gitignore", ".github/workflows/oyer.yaml")}}


def demo_case() -> str:
    """Return the name of the packaged experiment that `oyer demo` runs."""
    return _DEMO


def _documents(path: Path, kind: str) -> Iterator[Packaged]:
    for document in path.read_bytes().decode().split("\n---\n"):
        fields = _top_level(document)
        if "id" in fields and fields.get("oyer") == kind:
            written = "suite" if kind == "TrialSuite@1" else fields.get("kind", "")
            yield Packaged(fields["id"], fields.get("title") or fields.get("prompt", ""), path, written)


def _top_level(document: str) -> dict[str, str]:
    """Read the plain `key: text` lines at the left margin; deeper values are not looked at."""
    fields: dict[str, str] = {}
    for line in document.split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key.isidentifier():
            fields.setdefault(key, value.partition(" #")[0].strip().strip("\"'"))
    return fields
