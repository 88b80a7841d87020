"""The locks: hashed, free of addresses, and in step with what pyproject.toml and the .in files ask for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "requirements"
LOCKS = sorted(path.name for path in FOLDER.glob("*.txt"))


def entries(name: str) -> list[tuple[Requirement, list[str]]]:
    """Read a lock: each requirement with its hashes."""
    text = (FOLDER / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            requirement, *hashes = line.split("--hash=")
            found.append((Requirement(requirement.strip()), [value.strip() for value in hashes]))
    return found


def asked(name: str) -> list[Requirement]:
    """Read an .in file."""
    lines = (FOLDER / name).read_text(encoding="utf-8").split("\n")
    return [Requirement(line.split(" #")[0]) for line in lines if line.strip() and not line.startswith("#")]


def dependencies() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(text) for text in project["dependencies"]]


def test_there_are_the_locks_we_know() -> None:
    others = ["fastmcp.txt", "fuzz.txt", "git-server.txt", "mcp-proxy.txt", "node24.txt", "smollm.txt"]
    assert sorted(["dev.txt", "run.txt", *others]) == LOCKS


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_exact_hashed_and_names_no_address(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert not re.search(r"://|^-|\s@\s|index-url|find-links", text, re.MULTILINE)
    found = entries(name)
    assert found
    for requirement, hashes in found:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), requirement


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("run.txt", ["build.in"]),
        ("dev.txt", ["build.in", "dev.in"]),
        ("fuzz.txt", ["build.in", "fuzz.in"]),
        ("fastmcp.txt", ["fastmcp.in"]),
        ("git-server.txt", ["git-server.in"]),
        ("mcp-proxy.txt", ["mcp-proxy.in"]),
        ("node24.txt", ["node24.in"]),
        ("smollm.txt", ["smollm.in"]),
    ],
)
def test_a_lock_holds_what_is_asked_for(name: str, inputs: list[str]) -> None:
    wanted = [requirement for source in inputs for requirement in asked(source)]
    if "build.in" in inputs:
        wanted += dependencies()
    found = {canonicalize_name(requirement.name): str(requirement.specifier)[2:] for requirement, _ in entries(name)}
    for requirement in wanted:
        version = found.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not in {name}: python3 tools/dev.py lock"
        assert requirement.specifier.contains(version), f"{name} has {requirement.name} {version}, asked: {requirement}"


def test_run_and_dev_hold_the_same_versions() -> None:
    dev = {(canonicalize_name(requirement.name), str(requirement.specifier)) for requirement, _ in entries("dev.txt")}
    run = {(canonicalize_name(requirement.name), str(requirement.specifier)) for requirement, _ in entries("run.txt")}
    assert run <= dev


@pytest.mark.parametrize("python", ["3.11.2", "3.12.0", "3.13.0", "3.14.0"])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_every_platform_gets_each_package_once(python: str, platform: str) -> None:
    environment = {
        "python_version": ".".join(python.split(".")[:2]),
        "python_full_version": python,
        "sys_platform": platform,
        "platform_system": platform.capitalize(),
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    names = [
        canonicalize_name(requirement.name)
        for requirement, _ in entries("dev.txt")
        if requirement.marker is None or Marker(str(requirement.marker)).evaluate(environment)
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folder", ["npm", "conformance"])
def test_an_npm_lock_names_no_registry_and_pins_what_is_asked_for(folder: str) -> None:
    lock = json.loads((FOLDER / folder / "package-lock.json").read_text(encoding="utf-8"))
    manifest = json.loads((FOLDER / folder / "package.json").read_text(encoding="utf-8"))
    packages = {path: entry for path, entry in lock["packages"].items() if path}
    assert packages
    for path, entry in packages.items():
        assert "resolved" not in entry, path
        assert entry["integrity"].startswith("sha512-"), path
    for name, version in manifest["dependencies"].items():
        assert packages[f"node_modules/{name}"]["version"] == version
