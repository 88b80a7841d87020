#!/usr/bin/env python3
"""One door to everything a developer or a first visitor runs: `python3 tools/dev.py demo`.

Owns: finding a Python, making `.venv` from the hashed locks in `requirements/`, and starting the tools in it.
Must never: need anything beyond the standard library, touch the network when `.venv` is up to date, or leave a
half-made `.venv` that looks whole. The stamp is written last; without a matching stamp the environment starts anew.

The syntax stays that of Python 3.8, so that an old Python can still say what to install.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "oyer-stamp.json"
LOCKS = {"run": ROOT / "requirements" / "run.txt", "dev": ROOT / "requirements" / "dev.txt"}
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11")
OLDEST = (3, 11)
UV = "uv==0.13.9"
LOCK_INPUTS = {
    "run": ["pyproject.toml", "requirements/build.in"],
    "dev": ["pyproject.toml", "requirements/build.in", "requirements/dev.in", "-c", "requirements/run.txt"],
    "fastmcp": ["requirements/fastmcp.in"],
    "mcp-proxy": ["requirements/mcp-proxy.in"],
    "git-server": ["requirements/git-server.in"],
    "node24": ["requirements/node24.in"],
    "smollm": ["requirements/smollm.in", "--no-deps"],
    "fuzz": ["pyproject.toml", "requirements/build.in", "requirements/fuzz.in", "-c", "requirements/run.txt"],
}
PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3]); import venv, ensurepip, ssl, sqlite3"

INSTALL_PYTHON = """\
Oyer needs Python 3.11, 3.12, 3.13 or 3.14, with venv and ensurepip. Install one and run this again:
  Debian, Ubuntu   sudo apt-get install python3 python3-venv
  Fedora           sudo dnf install python3.13
  macOS            brew install python@3.13
  with pyenv       pyenv install 3.13 && pyenv global 3.13"""


class Stop(Exception):
    """Something the reader has to put right. Printed as it stands, without a traceback."""


class Python(NamedTuple):
    """An interpreter that was tried and runs."""

    command: str
    version: str


def say(text: str) -> None:
    """Print one progress line at once."""
    print("oyer: " + text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- finding a Python


def probe(command: str) -> Tuple[Optional[str], str]:
    """Return (version, complaint) of an interpreter. No version: it does not run; a complaint: it is not usable."""
    try:
        done = subprocess.run(
            [command, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, env=clean_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    printed = done.stdout.decode("utf-8", "replace").split()
    version = printed[0] if printed else None
    if done.returncode == 0 and version:
        return version, ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return version, lines[-1] if lines else "it ended with code %d" % done.returncode


def find_python() -> Python:
    """Take the first supported interpreter on PATH that really runs; a name on PATH may be an empty shim."""
    refused = []
    for command in (*PYTHONS, "python3", sys.executable):
        found = shutil.which(command)
        if not found:
            continue
        version, complaint = probe(found)
        if version is None:
            continue
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
            continue
        if complaint:
            refused.append("%s (%s) cannot make environments: %s" % (found, version, complaint))
            continue
        return Python(found, version)
    if refused:
        raise Stop("\n".join(["no usable Python.", *refused, debian_hint(), "", INSTALL_PYTHON]))
    raise Stop("no Python 3.11 or newer was found (this one is %d.%d).\n" % sys.version_info[:2] + INSTALL_PYTHON)


def debian_hint() -> str:
    """Name the package that Debian keeps apart."""
    return "On Debian and Ubuntu venv is a package of its own: sudo apt-get install python3-venv"


# ---------------------------------------------------------------- the environment


def clean_environment() -> Dict[str, str]:
    """Copy the environment without what would make one Python load another one's files."""
    dropped = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return dict(kept, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")


def digest(*paths: Path) -> str:
    """Hash the bytes of files, each with its length so that they cannot run into one another."""
    total = hashlib.sha256()
    for path in paths:
        data = path.read_bytes()
        total.update(b"%d\n" % len(data) + data)
    return total.hexdigest()


def wanted_stamp(kind: str, version: str) -> Dict[str, str]:
    """Say what the stamp of an up-to-date environment holds. The place counts: a moved environment is broken."""
    return {
        "kind": kind,
        "python": version,
        "place": str(VENV),
        "lock": digest(LOCKS[kind]),
        "project": digest(ROOT / "pyproject.toml"),
    }


def read_stamp() -> Dict[str, str]:
    """Read the stamp; an absent or unreadable one is an empty one, which matches nothing."""
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_stamp(stamp: Dict[str, str]) -> None:
    """Write the stamp in one step, after everything it vouches for."""
    draft = STAMP.with_suffix(".tmp")
    draft.write_text(json.dumps(stamp, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(STAMP)


def tool(name: str) -> str:
    """Return the path of a program of the environment."""
    return str(VENV / "bin" / name)


def ensure(kind: str) -> None:
    """Make the environment hold what `kind` ("run" or "dev") needs. One process at a time."""
    with Path(__file__).open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another run is setting up .venv; waiting for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        ensure_alone(kind)


def ensure_alone(kind: str) -> None:
    """Do the least that brings the environment up to date: nothing, the project, more packages, or all anew."""
    stamp = read_stamp()
    version = probe(tool("python"))[0] if stamp else None
    if version is not None:
        for sufficient in ("run", "dev") if kind == "run" else ("dev",):
            wanted = wanted_stamp(sufficient, version)
            if stamp == wanted:
                return
            if dict(stamp, project="") == dict(wanted, project=""):
                STAMP.unlink()
                install_project()
                write_stamp(wanted)
                return
        if kind == "dev" and stamp == wanted_stamp("run", version):
            STAMP.unlink()
            finish(kind, version)
            return
    start_anew(kind)


def start_anew(kind: str) -> None:
    """Make the environment from nothing with the first Python that runs."""
    python = find_python()
    if VENV.exists():
        say("removing .venv: unfinished, moved, or made for other locks")
        shutil.rmtree(VENV)
    say("making .venv with %s (%s)" % (python.command, python.version))
    try:
        done = subprocess.run(
            [python.command, "-m", "venv", str(VENV)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
        )
    except OSError as error:
        raise Stop("cannot start %s: %s" % (python.command, error)) from error
    if done.returncode:
        output = done.stdout.decode("utf-8", "replace").strip()
        raise Stop("%s -m venv failed:\n%s\n%s" % (python.command, output, debian_hint()))
    finish(kind, python.version)


def finish(kind: str, version: str) -> None:
    """Install the lock, then the project, then vouch for both."""
    install_lock(LOCKS[kind])
    install_project()
    write_stamp(wanted_stamp(kind, version))


def install_lock(lock: Path) -> None:
    """Install exactly what the lock names. Wheels only: building one would fetch what no lock names."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    total = sum(1 for line in lines if line[:1].isalnum())
    name = str(lock.relative_to(ROOT))
    say("installing %s (at most %d packages; the first time takes a minute or two)" % (name, total))
    options = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip(
        ["install", *options, "-r", str(lock)],
        what=name,
        hint="Is the package index within reach? Run the same command again: it starts anew.",
    )


def install_project() -> None:
    """Install the project as a link to its sources; everything it needs is there already."""
    say("installing oyer itself")
    pip(
        ["install", "--no-build-isolation", "--no-deps", "--no-index", "-e", str(ROOT)],
        what="oyer itself",
        hint="Is pyproject.toml in order?",
    )


def pip(arguments: List[str], what: str, hint: str) -> None:
    """Run the environment's pip, with a sign of life every few seconds and its last words when it fails."""
    command = [tool("python"), "-m", "pip", *arguments, "--progress-bar", "off"]
    began = spoke = time.monotonic()
    name, seen = "", 0
    tail = []  # type: List[str]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment(), cwd=str(ROOT)
    )
    assert child.stdout is not None
    try:
        for raw in child.stdout:
            line = raw.decode("utf-8", "replace").rstrip()
            tail = [*tail[-19:], line]
            if line.startswith("Collecting "):
                name, seen = line.split()[1], seen + 1
            elif line.startswith("Installing collected"):
                say("  unpacking")
                spoke = time.monotonic()
            if seen and time.monotonic() - spoke > 3:
                say("  %d: %s" % (seen, name))
                spoke = time.monotonic()
        code = child.wait()
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()
    if code:
        raise Stop("pip could not install %s:\n%s\n%s" % (what, "\n".join("  " + line for line in tail), hint))
    say("  done in %.0f s" % (time.monotonic() - began))


# ---------------------------------------------------------------- the targets


def become(*command: str) -> NoReturn:
    """Replace this process by a program, so that signals and the exit code are the program's own."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(str(ROOT))
    try:
        os.execve(command[0], list(command), activated())
    except OSError as error:
        raise Stop("cannot start %s: %s" % (command[0], error)) from error


def run(*command: str) -> int:
    """Run a program to its end and return its exit code."""
    say("$ " + " ".join([Path(command[0]).name, *command[1:]]))
    try:
        return subprocess.call(list(command), cwd=str(ROOT), env=activated())
    except OSError as error:
        raise Stop("cannot start %s: %s" % (command[0], error)) from error


def activated() -> Dict[str, str]:
    """Return the environment in which the programs of `.venv` come first, and keep what they compile."""
    kept = clean_environment()
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling the tests anew takes every process several seconds
    return dict(kept, VIRTUAL_ENV=str(VENV), PATH=tool("") + os.pathsep + kept.get("PATH", os.defpath))


def demo(extra: Sequence[str]) -> int:
    """run the packaged demonstration, offline"""
    ensure("run")
    become(tool("oyer"), "demo", *extra)


def test(extra: Sequence[str]) -> int:
    """run the fast tests; arguments go to pytest"""
    ensure("dev")
    become(tool("python"), "-m", "pytest", *(list(extra) or workers()))


def workers() -> List[str]:
    """Share the tests out: to one process more than there are cores, since some wait, and neighbours together."""
    return ["-n", str(min((os.cpu_count() or 1) + 1, 8)), "--dist", "worksteal"]


def lint(extra: Sequence[str]) -> int:
    """check style and formatting with ruff"""
    ensure("dev")
    return run(tool("ruff"), "check", *extra) or run(tool("ruff"), "format", "--check", *extra)


def types(extra: Sequence[str]) -> int:
    """check types with mypy --strict"""
    ensure("dev")
    return run(tool("mypy"), *extra)


def contracts(extra: Sequence[str]) -> int:
    """check floors, fronts and the I/O line"""
    ensure("dev")
    checked = run(tool("lint-imports")) if not extra else 0
    return checked or run(tool("python"), str(ROOT / "tools" / "contracts.py"), *extra)


def docs(extra: Sequence[str]) -> int:
    """build the documentation into site/, strictly"""
    ensure("dev")
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    return run(tool("mkdocs"), "build", "--strict", *extra)


def bench(extra: Sequence[str]) -> int:
    """measure, and print ratios"""
    ensure("dev")
    return run(tool("python"), str(ROOT / "bench" / "run.py"), *extra)


def coverage(extra: Sequence[str]) -> int:
    """run the fast tests and say which lines and branches none of them reached"""
    ensure("dev")
    program = [tool("python"), "-m", "coverage"]
    tested = run(*program, "run", "-m", "pytest", "-q", *extra)
    return tested or run(*program, "combine", "-q") or run(*program, "report")


def laws(extra: Sequence[str]) -> int:
    """run the property tests with many examples, then 100,000 ablations of two kinds; arguments go to the latter"""
    ensure("dev")
    tested = run(tool("python"), "-m", "pytest", "tests/property", "--hypothesis-profile=laws") if not extra else 0
    counted = list(extra) or ["--count", "100000"]
    return tested or run(tool("python"), "tests/laws/ablations.py", *counted)


def stats(extra: Sequence[str]) -> int:
    """hold the statistics to independent libraries, then simulate what they promise; arguments go to the latter"""
    ensure("dev")
    tested = run(tool("python"), "-m", "pytest", "-q", "tests/unit/stats") if not extra else 0
    return tested or run(tool("python"), "tests/simulations/coverage_of_numbers.py", *extra)


def fuzz(extra: Sequence[str]) -> int:
    """fuzz: random, then guided by coverage; arguments: seconds for each harness (20), names of harnesses"""
    ensure("dev")
    seconds = extra[0] if extra and extra[0].isdigit() else "20"
    names = list(extra[1:] if extra and extra[0].isdigit() else extra)
    fuzzer = guided_python()
    random = [] if names else ["tests/fuzz", "--hypothesis-profile=fuzz"]
    code = run(tool("python"), "-m", "pytest", *random) if random else 0
    runner = str(ROOT / "tests" / "fuzz" / "guided" / "guided_run.py")
    return run(tool("python"), runner, "--python", fuzzer, "--seconds", seconds, *names) or code


def guided_python() -> str:
    """Return a Python that has the fuzzer: the one that is named, or one of its own, made where `.ci/run` makes it."""
    given = os.environ.get("OYER_ATHERIS_PYTHON")
    if given:
        return given
    place, lock = ROOT / "build" / "ci" / "fuzz", ROOT / "requirements" / "fuzz.txt"
    python, stamp = place / "bin" / "python", place / "stamp"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest() + "  -\n"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return str(python)
    if place.exists():
        shutil.rmtree(str(place))
    options = ["--disable-pip-version-check", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    if run(tool("python"), "-m", "venv", str(place)) or run(
        str(python), "-m", "pip", "install", "-q", *options, "-r", str(lock)
    ):
        raise Stop("the fuzzer could not be installed; atheris is for Linux and Python 3.11 to 3.13")
    stamp.write_text(wanted, encoding="utf-8")
    return str(python)


def attacks(extra: Sequence[str]) -> int:
    """try every attack of the catalogue on good bundles and print which check caught it; words choose some"""
    ensure("dev")
    return run(tool("python"), str(ROOT / "tests" / "golden" / "attacks"), *extra)


def transparency(extra: Sequence[str]) -> int:
    """ask the protocol's conformance suite with and without the tap; needs `bash .ci/run tools`; --write: its page"""
    node = Path(os.environ.get("OYER_NODE24") or ROOT / "build" / "ci" / "node24" / "node")
    if not node.exists():  # said before a minute of installing, not after it
        raise Stop("{} does not exist; set OYER_NODE24, or install it with: bash .ci/run tools".format(node))
    ensure("dev")
    return run(tool("python"), str(ROOT / "tests" / "kits" / "transparency"), *extra)


def format_sources(extra: Sequence[str]) -> int:
    """rewrite the sources in the house style"""
    ensure("dev")
    return run(tool("ruff"), "check", "--fix", *extra) or run(tool("ruff"), "format", *extra)


def lock(extra: Sequence[str]) -> int:
    """write requirements/*.txt anew (needs the network); --upgrade takes newer versions"""
    place = ROOT / "build" / "uv"
    if not (place / "bin" / "uv").exists():
        python = find_python()
        if run(python.command, "-m", "venv", str(place)) or run(
            str(place / "bin" / "python"), "-m", "pip", "install", "-q", UV
        ):
            raise Stop("could not install %s" % UV)
    common = ["--generate-hashes", "--universal", "--python-version", "3.11", "--no-emit-index-url", "--no-annotate"]
    for name, inputs in LOCK_INPUTS.items():
        code = run(
            str(place / "bin" / "uv"),
            *["pip", "compile", *inputs, *common, *extra, "--quiet"],
            *["--custom-compile-command", "python3 tools/dev.py lock", "-o", "requirements/%s.txt" % name],
        )
        if code:
            raise Stop("uv could not resolve requirements/%s.txt; its reason is above" % name)
    return 0


def clean(_extra: Sequence[str]) -> int:
    """remove .venv, caches and everything built; evidence under runs/ stays"""
    names = [".venv", "build", "dist", "site", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"]
    for path in [ROOT / name for name in [*names, ".import_linter_cache"]]:
        if path.is_dir():
            say("removing " + path.name)
            shutil.rmtree(path)
    return 0


def show_help(_extra: Sequence[str]) -> int:
    """list the targets"""
    print("usage: python3 tools/dev.py TARGET [ARGUMENT ...]   (or: make TARGET)\n")
    for name, target in TARGETS.items():
        print("  %-10s %s" % (name, target.__doc__))
    return 0


TARGETS = {
    "demo": demo,
    "test": test,
    "lint": lint,
    "types": types,
    "contracts": contracts,
    "docs": docs,
    "bench": bench,
    "coverage": coverage,
    "laws": laws,
    "stats": stats,
    "fuzz": fuzz,
    "attacks": attacks,
    "transparency": transparency,
    "format": format_sources,
    "lock": lock,
    "clean": clean,
    "help": show_help,
}  # type: Dict[str, Callable[[Sequence[str]], int]]


def main(arguments: Sequence[str]) -> int:
    """Run one target and return its exit code."""
    name = arguments[0] if arguments else "help"
    target = TARGETS.get("help" if name in ("-h", "--help") else name)
    try:
        if target is None:
            raise Stop("no target %r. There are: %s" % (name, ", ".join(TARGETS)))
        return target(arguments[1:])
    except Stop as stop:
        say(str(stop))
        return 2
    except KeyboardInterrupt:
        say("interrupted; the same command starts again where it is safe to")
        return 130
    except OSError as error:
        say("%s\nThe disk may be full or a file not yours; put that right and run the same command again." % error)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
