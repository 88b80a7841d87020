"""Loading one-file plug-ins: exactly the bytes that are digested are executed, and what does not load is an error.

Owns the reading of these files. Must never look for plug-ins that nobody named, and never run one twice.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from oyer.errors import OyerError, Problem, UsageError
from oyer.evaluators.declare import MARK, Declared
from oyer.evaluators.guard import PATIENCE_S, Failure, guarded, plain_text, told_of
from oyer.evaluators.plugin import PluginJudge
from oyer.records import BUILT_IN_EVALUATOR, RANKS

__all__ = ["Plugins", "load_plugins", "load_revisions"]


class Plugins(NamedTuple):
    """What was loaded: evaluators by id, and the digest of every file by the path as it was given."""

    judges: Mapping[str, PluginJudge]
    sources: Mapping[str, str]


def load_plugins(paths: Iterable[Path], patience_s: float = PATIENCE_S) -> Plugins:
    """Load files of evaluators, each once, in order; one id stands for one evaluator.

    Raises: UsageError with everything that is wrong: `E-PLUGIN-READ`, `E-PLUGIN-IMPORT`, `E-PLUGIN-EMPTY`,
    `E-PLUGIN-DECLARED`, `E-PLUGIN-TWICE`.
    """
    files = _load(paths, patience_s, revisions=False)
    judges = {judge.evaluator.id: judge for _, _, found in files for judge in found}
    return Plugins(judges, {str(path): code for path, code, _ in files})


def load_revisions(paths: Iterable[Path], patience_s: float = PATIENCE_S) -> tuple[PluginJudge, ...]:
    """Load files of evaluators of which several may have one id, where their code differs: they judge side by side.

    Raises: as `load_plugins`.
    """
    return tuple(judge for _, _, found in _load(paths, patience_s, revisions=True) for judge in found)


def _load(paths: Iterable[Path], patience_s: float, *, revisions: bool) -> list[tuple[Path, str, list[PluginJudge]]]:
    files: list[tuple[Path, str, list[PluginJudge]]] = []
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            source = path.read_bytes()
            code = f"sha256:{sha256(source).hexdigest()}"
            if revisions and any(code == other for _, other, _ in files):
                continue  # the same bytes under another name
            taken = {judge.evaluator.id for _, _, found in files for judge in found}
            found = _judges(path, source, code, patience_s)
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


def _judges(path: Path, source: bytes, code: str, patience_s: float) -> list[PluginJudge]:
    """Execute a file and return its evaluators in the order in which it declares them. Raises: UsageError."""
    module = ModuleType(f"oyer_plugin_{code[7:19]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module

    def execute() -> list[Declared]:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - a plug-in is code that somebody named
        found = {id(declared): declared for each in list(vars(module).values()) for declared in _marked(each)}
        return list(found.values())

    try:
        found = guarded(execute, patience_s)
    except Failure as failure:
        raise UsageError("E-PLUGIN-IMPORT", f"the plug-in does not load: {failure.told}", where=str(path)) from failure
    if not found:
        hint = "put @oyer.evaluator(id=...) above a function"
        raise UsageError("E-PLUGIN-EMPTY", "the plug-in declares no evaluator", where=str(path), hint=hint)
    return [_judge(declared, path, code, patience_s) for declared in found]


def _marked(value: object) -> Iterator[Declared]:
    """What a value of a module is declared as; a value that cannot be asked is no evaluator."""
    with contextlib.suppress(Exception):
        declared = getattr(value, MARK, None)
        if isinstance(declared, Declared):
            yield declared


def _judge(declared: Declared, path: Path, code: str, patience_s: float) -> PluginJudge:
    """Make a judge of what a file declares; what is declared is foreign too. Raises: UsageError."""

    def make() -> PluginJudge | str:
        if declared.needs is not None and declared.needs not in RANKS:
            return f"evaluator {plain_text(declared.id)} needs {plain_text(declared.needs)!r}, which is no rank"
        try:
            return PluginJudge(_plain(declared), code, patience_s)
        except (TypeError, ValueError) as error:
            last = told_of(error).splitlines()[-1].strip()
            return f"evaluator {plain_text(declared.id)!r} is declared wrongly: {last}"

    try:
        made = guarded(make, patience_s)
    except Failure as failure:
        made = f"an evaluator is declared wrongly: {failure.told}"
    if isinstance(made, str):
        hint = f"ids are lower case words, ranks {', '.join(RANKS)}"
        raise UsageError("E-PLUGIN-DECLARED", made, where=str(path), hint=hint)
    return made


def _plain(declared: Declared) -> Declared:
    """The same in values that are nothing but values. Raises: TypeError, ValueError."""
    texts = (declared.id, *declared.limits, *(word for word in (declared.needs, declared.family) if word is not None))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("id, needs, family and limits are texts")
    for text in texts:
        text.encode()
    family = None if declared.family is None else plain_text(declared.family)
    limits = tuple(map(plain_text, declared.limits))
    needs = next((rank for rank in RANKS if rank == declared.needs), None)
    return Declared(plain_text(declared.id), declared.revision, needs, family, limits, declared.judge)
