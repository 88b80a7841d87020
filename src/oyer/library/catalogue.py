"""The packaged cases: what there is, and which file holds a case.

Owns finding them by id. Must never validate or expand a case (that is `oyer.records`): it reads only the lines that
give a document its id and title, so that listing the catalogue loads no YAML or schema library.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oyer.errors import UsageError

__all__ = ["PackagedCase", "demo_case", "find_case", "packaged_cases", "packaged_servers"]

_DEMO = "cascade-memo"


class PackagedCase(NamedTuple):
    """One packaged case: its id, a line for people, and the file it stands in (which may hold several)."""

    name: str
    title: str
    path: Path


@cache
def packaged_cases() -> tuple[PackagedCase, ...]:
    """List every packaged case, in the order of files and of documents within them."""
    from importlib.resources import files

    # A zipped install has no paths to give; the wheel is installed unzipped, which zip-safe loaders do not promise.
    cases = Path(str(files("oyer.library") / "cases"))
    return tuple(case for path in sorted(cases.rglob("*.yaml")) for case in _documents(path))


@cache
def packaged_servers() -> tuple[str, ...]:
    """List the names that may stand after `oyer:` where a case names a server."""
    from importlib.resources import files

    place = Path(str(files("oyer.library") / "servers"))
    return tuple(sorted(path.stem for path in place.glob("*.py") if not path.name.startswith("_")))


def find_case(name: str) -> Path:
    """Return the file that holds a packaged case. Raises: UsageError E-CASE-UNKNOWN, naming what there is."""
    for case in packaged_cases():
        if case.name == name:
            return case.path
    known = ", ".join(case.name for case in packaged_cases())
    raise UsageError("E-CASE-UNKNOWN", f"there is no packaged case {name!r}", hint=f"name a file, or one of {known}")


def demo_case() -> str:
    """Return the name of the packaged experiment that `oyer demo` runs."""
    return _DEMO


def _documents(path: Path) -> Iterator[PackagedCase]:
    for document in path.read_bytes().decode().split("\n---\n"):
        fields = _top_level(document)
        if "id" in fields:
            yield PackagedCase(fields["id"], fields.get("title") or fields.get("prompt", ""), path)


def _top_level(document: str) -> dict[str, str]:
    """Read the plain `key: text` lines at the left margin; deeper values are not looked at."""
    fields: dict[str, str] = {}
    for line in document.split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key.isidentifier():
            fields.setdefault(key, value.strip().strip("\"'"))
    return fields
