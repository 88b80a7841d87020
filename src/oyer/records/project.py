"""`Project@1`: the file `oyer.yaml` beside a team's suites: subjects, suites, plug-ins, what may happen, defaults.

Owns the shape. Keys of endpoints never stand here: only the name of the environment variable or the file of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.endpoint import ModelApiName, ModelFaultText, Price
from oyer.records.model import Flaw, Json, Record, refuse
from oyer.records.pins import Admits, Delimiters

__all__ = ["Project", "ProjectDefaults", "ProjectEnvironment", "ProjectSubject"]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ProjectSubject(Record):
    """A subject by a name of the team's own. `driver: scripted` takes `double`, `driver: model` the endpoint."""

    driver: Literal["scripted", "model"]
    double: str | None = None
    model: str | None = None
    base_url: str | None = None
    api: ModelApiName = "chat"
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    parameters: Mapping[str, Json] = Field(default_factory=dict)
    key_env: str | None = None
    key_file: str | None = None
    reports: Mapping[str, str] = Field(default_factory=dict)
    reasoning_delimiters: Delimiters = ()
    faults: tuple[ModelFaultText, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        flaws: list[Flaw] = []
        if self.driver == "scripted" and not self.double:
            flaws.append(Flaw(("double",), "a scripted subject names its double", "for instance obedient"))
        scripted = self.base_url is not None and self.base_url.startswith("scripted:")
        if self.driver == "model" and not (self.base_url and (self.model or scripted)):
            flaws.append(Flaw((), "a model subject names its model and base_url"))
        if self.key_env and self.key_file:
            flaws.append(Flaw(("key_file",), "the key is named once: key_env or key_file"))
        if flaws:
            refuse(*flaws)
        return self


class ProjectEnvironment(Record):
    """What surrounds every run of the project: what may happen at all, and who says so."""

    isolation: Literal["none", "process", "sandbox"] | None = None
    admits: Admits | None = None


class ProjectDefaults(Record):
    """What a command takes where its flag is not given."""

    jobs: int | None = Field(default=None, ge=1, le=256)
    out: str | None = None
    subject: str | None = None


class Project(Record):
    """The project file."""

    oyer: Literal["Project@1"]
    subjects: Mapping[str, ProjectSubject] = Field(default_factory=dict)
    suites: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    environment: ProjectEnvironment = ProjectEnvironment()
    prices: Mapping[str, Price] = Field(default_factory=dict)
    defaults: ProjectDefaults = ProjectDefaults()

    @model_validator(mode="after")
    def _names(self) -> Self:
        flaws = [
            Flaw(("subjects", name), f"{name!r} is no name for a subject", "letters, digits and . _ -; not model")
            for name in self.subjects
            if not _NAME.fullmatch(name) or name == "model"
        ]
        wanted = self.defaults.subject
        if wanted is not None and wanted not in self.subjects and not wanted.startswith("scripted:"):
            known = ", ".join(self.subjects) or "none"
            flaws.append(Flaw(("defaults", "subject"), f"there is no subject {wanted!r} here", f"there is {known}"))
        if flaws:
            refuse(*flaws)
        return self
