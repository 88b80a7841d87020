"""Loading one-file plug-ins: exactly the bytes that are digested are executed, and what does not load is an error.

Owns the reading of these files. Must never look for plug-ins that nobody named, and never run one twice.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from oyer.errors import OyerError, Problem, UsageError
from oyer.evaluators.declare import MARK, Declared
from oyer.evaluators.plugin import PluginJudge
from oyer.records import BUILT_IN_EVALUATOR, RANKS

__all__ = ["Plugins", "declared_ids", "load_plugins", "load_revisions"]


class Plugins(NamedTuple):
    """What was loaded: evaluators by id, and the digest of every file by the path as it was given."""

    judges: Mapping[str, PluginJudge]
    sources: Mapping[str, str]


def load_plugins(paths: Iterable[Path]) -> Plugins:
    """Load files of evaluators, each once, in order; one id stands for one evaluator.

    Raises: UsageError with everything that is wrong: `E-PLUGIN-READ`, `E-PLUGIN-IMPORT`, `E-PLUGIN-EMPTY`,
    `E-PLUGIN-DECLARED`, `E-PLUGIN-TWICE`.
    """
    files = _load(paths, revisions=False)
    judges = {judge.evaluator.id: judge for _, _, found in files for judge in found}
    return Plugins(judges, {str(path): code for path, code, _ in files})


def load_revisions(paths: Iterable[Path]) -> tuple[PluginJudge, ...]:
    """Load files of evaluators of which several may have one id, where their code differs: they judge side by side.

    Raises: as `load_plugins`.
    """
    return tuple(judge for _, _, found in _load(paths, revisions=True) for judge in found)


def _load(paths: Iterable[Path], *, revisions: bool) -> list[tuple[Path, str, list[PluginJudge]]]:
    files: list[tuple[Path, str, list[PluginJudge]]] = []
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            source = path.read_bytes()
            code = f"sha256:{sha256(source).hexdigest()}"
            if revisions and any(code == other for _, other, _ in files):
                continue  # the same bytes under another name
            taken = {judge.evaluator.id for _, _, found in files for judge in found}
            found = _judges(path, source, code)
            _require_once(found, set() if revisions else taken, path)
            files.append((path, code, found))
        except OSError as error:
            told = f"the plug-in cannot be read: {error.strerror or error}"
            problems.append(Problem("E-PLUGIN-READ", told, str(path), "name a file of Python"))
        except OyerError as error:
            problems += error.problems
    if problems:
        raise UsageError.of(problems)
    return files


def _require_once(found: Iterable[PluginJudge], taken: set[str], path: Path) -> None:
    """Raises: UsageError `E-PLUGIN-TWICE`."""
    taken = {BUILT_IN_EVALUATOR, *taken}
    for judge in found:
        name = judge.evaluator.id
        if name in taken:
            hint = "name one file of them; `verify` and `judge` take revisions of one evaluator side by side"
            raise UsageError("E-PLUGIN-TWICE", f"evaluator {name} is there twice", where=str(path), hint=hint)
        taken.add(name)


def declared_ids(path: Path) -> tuple[str, ...]:
    """Return the ids that a file declares with `@...evaluator(id="...")`, from its text alone; nothing of it is run.

    Raises: UsageError `E-PLUGIN-READ`, `E-PLUGIN-IMPORT` for what is no Python.
    """
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        told = f"the plug-in cannot be read: {error.strerror or error}"
        raise UsageError("E-PLUGIN-READ", told, where=str(path), hint="name a file of Python") from error
    except (SyntaxError, ValueError) as error:
        raise UsageError("E-PLUGIN-IMPORT", f"the plug-in does not load: {error}", where=str(path)) from error
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    named = (call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "evaluator")
    ids = (word.value for call in named for word in call.keywords if word.arg == "id")
    return tuple(node.value for node in ids if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _judges(path: Path, source: bytes, code: str) -> list[PluginJudge]:
    """Execute a file and return its evaluators in the order in which it declares them. Raises: UsageError."""
    module = ModuleType(f"oyer_plugin_{code[7:19]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - a plug-in is code that somebody named
    except Exception as failure:
        told = f"the plug-in does not load: {type(failure).__name__}: {failure}"
        raise UsageError("E-PLUGIN-IMPORT", told, where=str(path)) from failure
    found = [d for each in vars(module).values() if isinstance(d := getattr(each, MARK, None), Declared)]
    if not found:
        hint = "put @oyer.evaluator(id=...) above a function"
        raise UsageError("E-PLUGIN-EMPTY", "the plug-in declares no evaluator", where=str(path), hint=hint)
    return [_judge(declared, path, code) for declared in dict.fromkeys(found)]


def _judge(declared: Declared, path: Path, code: str) -> PluginJudge:
    if declared.needs is not None and declared.needs not in RANKS:
        told = f"evaluator {declared.id} needs {declared.needs!r}, which is no rank"
        raise UsageError("E-PLUGIN-DECLARED", told, where=str(path), hint=f"one of {', '.join(RANKS)}")
    try:
        return PluginJudge(declared, code)
    except ValueError as error:
        told = f"evaluator {declared.id!r} is declared wrongly: {str(error).splitlines()[-1].strip()}"
        raise UsageError("E-PLUGIN-DECLARED", told, where=str(path), hint="ids are lower case words") from error
