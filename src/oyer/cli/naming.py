"""What a name on a command line means: a file, a suite of the project, a packaged record; or what it may have meant.

Owns the order in which a name is looked up and the refusal of one that means nothing. Must never read what is in a
suite: that is `oyer.cli.scopes`'.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oyer.cli.loading import is_file_name
from oyer.errors import UsageError
from oyer.records import nearest

if TYPE_CHECKING:
    from oyer.cli.project import PlacedProject
    from oyer.cli.scopes import PlacedSuite

__all__ = ["no_suite", "own_suites", "packaged_file", "shown_name", "suite_file"]

_LARGEST_BYTES = 16 * 1024 * 1024


def packaged_file(name: str, kind: str) -> Path | None:
    """Return the file of a packaged record, None where there is none."""
    from oyer.library import find_record

    return find_record(name, kind)


def suite_file(name: str, project: PlacedProject | None = None) -> Path | None:
    """Return the file of the suite that a name means, the project's own first; None where it means none."""
    if not is_file_name(name) or Path(name).is_dir():
        own = None if project is None else project.suite(name)
        return own or packaged_file(name, "TrialSuite@1")
    return Path(name) if _holds_suite(Path(name)) else None


def _holds_suite(path: Path) -> bool:
    """Whether a file may hold a suite; what cannot be read is for its reader to say."""
    try:
        return path.is_file() and path.stat().st_size < _LARGEST_BYTES and b"TrialSuite@" in path.read_bytes()
    except OSError:
        return False


def own_suites(project: PlacedProject | None) -> tuple[str, ...]:
    """Return the ids of the suites of the project; none where there is no project."""
    return () if project is None else tuple(name for name, _, _ in project.listed())


def no_suite(name: str, project: PlacedProject | None) -> UsageError:
    """Return the refusal of a name that means no suite, with every one that could be meant."""
    from oyer.library import packaged_suites

    packaged = tuple(one.name for one in packaged_suites())
    own = own_suites(project)
    close = nearest(name, (*own, *packaged))
    meant = f"did you mean {close}? " if close else ""
    ours = f"{project.path} has {', '.join(own)}; " if project is not None and own else ""
    hint = f"{meant}{ours}packaged are {', '.join(packaged)}; or name a file"
    return UsageError("E-SUITE-NONE", f"there is no suite {name}", where=name, hint=hint)


def shown_name(suite: PlacedSuite) -> str:
    """Return the name by which a command takes this suite: of a packaged one its id, else its file."""
    return suite.suite.id if packaged_file(suite.suite.id, "TrialSuite@1") == suite.path else str(suite.path)
