"""Observing the surroundings when a series opens: host, harness, packages, subject, servers."""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import oyer
from oyer.records import (
    Admits,
    Case,
    Environment,
    Hardware,
    Harness,
    PinSet,
    SubjectPin,
    ToolPin,
    digest,
    with_names,
)
from oyer.subjects import ModelSettings, SubjectIdentity

__all__ = [
    "dependencies",
    "harness",
    "harness_identity",
    "isolation_problem",
    "observe_environment",
    "pin_set",
    "prompts_digest",
    "subject_text",
]


@functools.cache
def harness() -> Harness:
    """Identify Oyer itself: its version and a digest over every file of the package."""
    root = Path(oyer.__file__).parent
    total = sha256()
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()}\n".encode())
        total.update(sha256(path.read_bytes()).digest())
    return Harness(version=oyer.__version__, source=f"sha256:{total.hexdigest()}")


def harness_identity() -> str:
    """Return version and source digest in one text, as a PinSet holds them."""
    return harness().identity


@functools.cache
def dependencies() -> Mapping[str, str]:
    """Return every installed package the harness could import, with its version.

    Read from the names of the `*.dist-info` directories (PEP 427): opening the metadata of each takes half a second.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        root = Path(place or ".")
        for entry in sorted(root.glob("*.dist-info")) if root.is_dir() else ():
            name, _, version = entry.name.removesuffix(".dist-info").rpartition("-")
            found.setdefault(name.lower().replace("_", "-"), version)
    return dict(sorted(found.items()))


def hardware() -> Hardware:
    """Describe the host as far as it can bear on a result."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        memory = None
    return Hardware(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        cores=os.cpu_count() or 1,
        memory_bytes=memory,
    )


def isolation_problem(case: Case) -> str | None:
    """Say why this host cannot give a case the isolation it demands, None where it can: nothing runs with less."""
    if case.isolation != "sandbox":
        return None
    return "the case demands isolation: sandbox, which this version of Oyer cannot provide"


def subject_text(identity: SubjectIdentity) -> str:
    """Return how a subject is pinned in one string: name, driver and revision."""
    return f"{identity.name} ({identity.driver} {identity.revision})"


def prompts_digest(case: Case) -> str:
    """Digest the turns in the form in which they are compared with those delivered: of two arms, the pressed one's."""
    told = [(f"{s.id}/turn/{n}", with_names(text)) for s in case.sessions for n, text in enumerate(case.turns_of(s))]
    return digest([list(turn) for turn in told])


def observe_environment(
    case: Case,
    identity: SubjectIdentity,
    tools: Mapping[str, ToolPin],
    *,
    world_digest: str | None,
    model: ModelSettings | None,
    admits: Admits | None = None,
) -> Environment:
    """Pin everything about the subject and its surroundings as it stands now."""
    packages = dependencies()
    return Environment(
        subject=SubjectPin(
            driver=identity.driver,
            name=identity.name,
            revision=identity.revision if identity.revision != "unidentified" else None,
            identified=identity.revision != "unidentified",
            model=identity.model,
            endpoint=model.base_url if model is not None else None,
            parameters=dict(identity.parameters),
        ),
        prompts=prompts_digest(case),
        tools=dict(tools),
        dependencies=dict(packages),
        dependencies_digest=digest(dict(packages)),
        hardware=hardware(),
        harness=harness(),
        python=sys.version.split()[0],
        state=world_digest,
        reasoning_delimiters=model.reasoning_delimiters if model is not None else (),
        faults=model.faults if model is not None else (),
        prices=dict(model.prices) if model is not None else {},
        budgets=case.budget.model_dump(mode="json"),
        policy=case.hardened.model_dump(mode="json") if case.hardened else {},
        isolation=case.isolation,
        admits=admits,
    )


def pin_set(
    case_digest: str, environment: Environment, identity: SubjectIdentity, reports: Mapping[str, str]
) -> PinSet:
    """Return the closed list of pinned fields, as far as they are known before the first trial.

    `reports` are the declared names that answers report, by requested name: nobody asks a model to find them out.
    """
    return PinSet(
        case=case_digest,
        world=environment.state,
        prompts=environment.prompts,
        subject=subject_text(identity),
        parameters=None,
        models=dict(reports),
        listings={name: tool.listing for name, tool in environment.tools.items() if tool.listing is not None},
        harness=environment.harness.identity,
        dependencies=environment.dependencies_digest,
        python=environment.python,
    )
