"""The project file `oyer.yaml`: found upward from the working directory, like a repository; flags win over it.

Owns finding and reading it, and what its subjects, suites and defaults come to. Must never hold a key: only where one
is to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from oyer.cli.loading import PlacedCase, read_case_file
from oyer.cli.trust import doubt, folders_of
from oyer.errors import Problem, RecordError, UsageError
from oyer.records import Document, Project, ProjectSubject, plain

if TYPE_CHECKING:
    from oyer.engine import SubjectSpec

__all__ = ["FILE", "PlacedProject", "find_project", "project_problems"]

FILE = "oyer.yaml"
_LEVELS = ("none", "process", "sandbox")


class PlacedProject(NamedTuple):
    """A project file, where it stands, and what it says."""

    path: Path
    project: Project
    document: Document | None

    @property
    def base(self) -> Path:
        """The directory that its paths start from."""
        return self.path.parent

    @property
    def plugins(self) -> tuple[Path, ...]:
        """The one-file extensions of every run here."""
        return tuple(self.base / text for text in self.project.plugins)

    def out(self) -> Path | None:
        """The directory under which new series go; None where the file says nothing."""
        return None if self.project.defaults.out is None else self.base / self.project.defaults.out

    def subject(self, name: str) -> SubjectSpec | None:
        """Return a subject by the team's name for it, None where it has none. Raises: UsageError for its key."""
        found = self.project.subjects.get(name)
        return None if found is None else _spec(name, found, self.base)

    def suite(self, name: str) -> Path | None:
        """Return the file that holds a suite of the project, by its id; None where there is none."""
        return next((path for known, _, path in self.listed() if known == name), None)

    def listed(self) -> Iterator[tuple[str, str, Path]]:
        """Yield every suite of the project: its id, its title, and the file that holds it."""
        for path in self._suite_files():
            for loaded in read_case_file(path).suites:
                yield loaded.record.id, loaded.record.title, path

    def _suite_files(self) -> Iterator[Path]:
        for text in self.project.suites:
            place = self.base / text
            for path in sorted(place.rglob("*.yaml")) if place.is_dir() else [place]:
                if path.is_file() and b"TrialSuite@" in path.read_bytes():
                    yield path

    def require_isolated(self, cases: tuple[PlacedCase, ...]) -> None:
        """Refuse cases that ask for less isolation than the project demands. Raises: RecordError."""
        floor = self.project.environment.isolation
        if floor is None:
            return
        problems = [
            placed.loaded.document.problem(
                "E-PROJECT-ISOLATION",
                ("isolation",),
                f"case {placed.loaded.case.id} asks for isolation {placed.loaded.case.isolation}; "
                f"{self.path} demands {floor} or more",
                f"write isolation: {floor}",
            )
            for placed in cases
            if _LEVELS.index(placed.loaded.case.isolation) < _LEVELS.index(floor)
        ]
        if problems:
            raise RecordError.of(problems)


def find_project(start: Path | None = None) -> PlacedProject | None:
    """Find the project file in a directory or the nearest one above it, up to the home directory.

    One above is named on standard error. Raises: RecordError; UsageError, also `E-PROJECT-OWNER` for one in the
    directory itself that is somebody else's.
    """
    try:
        here = (start or Path.cwd()).resolve()
    except OSError:
        return None  # the working directory is gone: nothing stands above it
    for path in (folder / FILE for folder in folders_of(here)):
        if not path.is_file():
            continue
        why = doubt(path, here)
        if why and path.parent == here:
            hint = "it names code that runs: make it your own, or work elsewhere"
            raise UsageError("E-PROJECT-OWNER", f"the project file is not used: {why}", where=str(path), hint=hint)
        if path.parent != here:
            _say(f"{path} is not used as the project file: {why}" if why else f"the project file is {path}")
        if not why:
            return _read(path)
    return None


def _say(text: str) -> None:
    from oyer.cli.terminal import print_note

    print_note(text)


def _read(path: Path) -> PlacedProject:
    shown = Path(os.path.relpath(path)) if path.is_relative_to(Path.cwd()) else path
    file = read_case_file(shown)
    if file.problems:
        raise (UsageError if file.unusable else RecordError).of(file.problems)
    found = [loaded for loaded in file.others if isinstance(loaded.record, Project)]
    if len(found) != 1:
        told = f"{len(found)} project files stand in it"
        raise RecordError("E-RECORD-KIND", told, where=str(shown), hint="it holds one document: oyer: Project@1")
    record = found[0].record
    assert isinstance(record, Project)
    problems = list(project_problems(record, found[0].document, shown.parent))
    if problems:
        raise RecordError.of(problems)
    return PlacedProject(shown, record, found[0].document)


def project_problems(project: Project, document: Document, base: Path) -> Iterator[Problem]:
    """Yield every path of a project file that leads nowhere."""
    for key, texts in (("suites", project.suites), ("plugins", project.plugins)):
        for index, text in enumerate(texts):
            place = base / text
            if not (place.exists() if key == "suites" else place.is_file()):
                hint = "a path starts from the project file"
                yield document.problem("E-PROJECT-PATH", (key, index), f"there is no {text}", hint)

    yield from _doubles(project, document)


def _doubles(project: Project, document: Document) -> Iterator[Problem]:
    """Yield every scripted subject of a project that there is not."""
    from oyer.subjects import require_double

    named: dict[tuple[str, ...], str] = {
        ("subjects", name, "double"): one.double for name, one in project.subjects.items() if one.double
    }
    default = project.defaults.subject or ""
    if default.startswith("scripted:"):
        named["defaults", "subject"] = default.removeprefix("scripted:")
    for path, double in named.items():
        try:
            require_double(double)
        except UsageError as error:
            yield from (document.problem(told.code, path, told.message, told.hint) for told in error.problems)


def _spec(name: str, subject: ProjectSubject, base: Path) -> SubjectSpec:
    from oyer.cli.secret_options import read_hidden
    from oyer.engine import SubjectSpec
    from oyer.subjects import ModelSettings, scripted_double, with_common

    if subject.driver == "scripted":
        return SubjectSpec(name, driver=f"scripted:{subject.double}")
    parameters: dict[str, Any] = dict(plain(subject)["parameters"])
    common = {field: getattr(subject, field) for field in ("temperature", "max_tokens", "seed")}
    settings = ModelSettings(
        subject.model or ("scripted" if scripted_double(subject.base_url or "") else ""),
        subject.base_url or "",
        with_common(subject.api, parameters, common),
        system=subject.system,
        reports=dict(subject.reports),
        api=subject.api,
        faults=subject.faults,
        reasoning_delimiters=subject.reasoning_delimiters,
    )
    key = None
    if subject.key_env is not None or subject.key_file is not None:
        file = None if subject.key_file is None else base / subject.key_file
        key = read_hidden(subject.key_env or f"{name}-key", env=subject.key_env, file=file)
    return SubjectSpec(name, model=settings, key=key, key_name=subject.key_env or f"{name}-key", driver="model")
