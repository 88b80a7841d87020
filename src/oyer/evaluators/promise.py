"""What a plug-in promises, read from its text alone: which evaluators it declares, and what will keep it from loading.

Owns the looking before anything of a file is run. Must never execute a line of it; what only running it can show is for
the loading to say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from oyer.errors import Problem, UsageError
from oyer.records import BUILT_IN_EVALUATOR, RANKS, Evaluator, nearest

__all__ = ["declared_ids"]

_KEYWORDS = frozenset({"id", "revision", "needs", "family", "limits"})
_NO_CODE = "sha256:" + "0" * 64


def declared_ids(path: Path) -> tuple[str, ...]:
    """Return the ids that a file declares with `@...evaluator(id="...")`; nothing of it is run.

    Raises: UsageError with everything that is wrong: `E-PLUGIN-READ`; `E-PLUGIN-IMPORT` for what is no Python or
    imports what is not there; `E-PLUGIN-EMPTY`; `E-PLUGIN-DECLARED`; `E-PLUGIN-TWICE`.
    """
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        told = f"the plug-in cannot be read: {error.strerror or error}"
        raise UsageError("E-PLUGIN-READ", told, where=str(path), hint="name a file of Python") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError("E-PLUGIN-IMPORT", f"the plug-in does not load: {error}", where=str(path)) from error
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _declares(node)]
    problems = [*_imports(tree, path), *(found for call in calls for found in _wrong(call, path))]
    if not calls:
        hint = "put @oyer.evaluator(id=...) above a function"
        problems.append(Problem("E-PLUGIN-EMPTY", "the plug-in declares no evaluator", str(path), hint))
    ids = tuple(name for call in calls if isinstance(name := _constants(call).get("id"), str))
    twice = [name for name in dict.fromkeys(ids) if ids.count(name) > 1 or name == BUILT_IN_EVALUATOR]
    problems += [Problem("E-PLUGIN-TWICE", f"evaluator {name} is there twice", str(path)) for name in twice]
    if problems:
        raise UsageError.of(problems)
    return ids


def _declares(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "evaluator"


def _constants(call: ast.Call) -> dict[str, object]:
    """The words of a call whose values are written out."""
    return {word.arg: word.value.value for word in call.keywords
            if word.arg is not None and isinstance(word.value, ast.Constant)}  # fmt: skip


def _imports(tree: ast.Module, path: Path) -> Iterator[Problem]:
    """Yield what a file imports at its top, whatever happens, and what is not there. Nothing is imported for this."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = [node.module]
        else:
            continue
        for name in dict.fromkeys(full.partition(".")[0] for full in names):
            if not _is_there(name):
                told = f"the plug-in does not load: there is no module {name}"
                hint = "install it where Oyer runs, or do without it: a plug-in is one file"
                yield Problem("E-PLUGIN-IMPORT", told, f"{path}:{node.lineno}", hint)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return True  # nobody can tell without importing it


def _wrong(call: ast.Call, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with one declaration, as far as it is written out."""
    where, said = f"{path}:{call.lineno}", _constants(call)
    named = str(said.get("id", "of this line"))
    unknown = [word.arg for word in call.keywords if word.arg is not None and word.arg not in _KEYWORDS]
    if call.args or unknown:
        told = f"evaluator {named} is declared with {unknown[0] if unknown else 'a value that has no name'}"
        yield Problem("E-PLUGIN-DECLARED", told, where, f"its words are {', '.join(sorted(_KEYWORDS))}")
    needs = said.get("needs")
    if needs is not None and needs not in RANKS:
        close = nearest(str(needs), RANKS)
        hint = f"did you mean {close}? " if close else ""
        told = f"evaluator {named} needs {needs!r}, which is no rank"
        yield Problem("E-PLUGIN-DECLARED", told, where, f"{hint}one of {', '.join(RANKS)}")
    if "id" in said:
        try:
            Evaluator(id=said["id"], kind="mechanical", code=_NO_CODE)  # type: ignore[arg-type]
        except ValueError:
            told = f"evaluator {named!r} is declared wrongly: its id"
            yield Problem("E-PLUGIN-DECLARED", told, where, "ids are lower case words")
