"""The parts of the reference about packaged servers and about what an evaluator is given, from the code itself.

Owns their form and nothing they say: tools come from the servers' own tables, what a server is from its docstring,
methods and values from the classes that a plug-in sees.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

from oyer.evaluators import evidence as values
from oyer.library import packaged_servers
from oyer.library.servers._loop import TextTool
from oyer.library.servers._place import Place
from oyer.observe import Found
from oyer.records.matchers import _FIELDS_OF_FORM, MATCHER_FORMS

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

_TOOLS: Mapping[str, Callable[[ModuleType], tuple[TextTool, ...]]] = {
    "files": lambda module: module.tools(Place()),
    "git": lambda module: module.tools(module.repository_from({})),
    "office": lambda module: module.tools(module.office_from({"OFFICE_TOOLS": ",".join(module.GROUPS)})),
    "ops": lambda module: module.tools(module.desk_from({"OPS_HOME": "."})),
    "orders": lambda module: module.tools("shop.db"),
    "report": lambda module: module.tools(),
}
_VALUES = (values.Call, values.File, values.Table, values.SinkEffect, values.Exit, Found)


def servers(table: Table) -> str:
    """Describe every packaged server: what it is, and its tools with their arguments."""
    if set(_TOOLS) != set(packaged_servers()):
        raise SystemExit(f"the packaged servers and _TOOLS differ: {sorted(set(_TOOLS) ^ set(packaged_servers()))}")
    parts = []
    for name in packaged_servers():
        module = importlib.import_module(f"oyer.library.servers.{name}")
        rows = ((f"`{tool.name}`", tool.description, _arguments(tool)) for tool in _TOOLS[name](module))
        listed = table(("tool", "does", "arguments, all texts"), rows)
        parts.append(f"## oyer:{name}\n\n{_told(module)}\n\n{listed}")
    return "\n".join(parts)


def _told(module: ModuleType) -> str:
    """What a server is and has; what its docstring says of other modules is for who works on it."""
    first, owns, *_ = inspect.getdoc(module).split("\n\n")  # type: ignore[union-attr]
    sentences = re.split(r"(?<=\.)\s+", " ".join(owns.split()))
    kept = [one for one in sentences if not one.startswith("Must never") and "`_" not in one]
    return f"{first} It has {' '.join(kept).removeprefix('Owns ')}"


def _arguments(tool: TextTool) -> str:
    told = (
        f"`{name}`{' (may be left out)' if name in tool.optional else ''}: {words}"
        for name, words in tool.arguments.items()
    )
    return "; ".join(told) or "none"


_FORMS: Mapping[str, str] = {
    "called": "a tool call of the subject, as `server.tool`",
    "world_path": "files of the world at the end, by path; `**` and `*` stand for any",
    "witnessed": "an effect in this sink",
    "rows": "rows of a table of this SQLite file of the world at the end",
    "exited": "how this validator, or `subject`, ended",
    "measured": "this measurement",
    "provider": "what the gateway kept of a model response",
}


def facts(table: Table) -> str:
    """Describe every form of a fact, with the fields that it looks at, as authors write them."""
    if set(_FORMS) != set(MATCHER_FORMS):
        raise SystemExit(f"_FORMS and MATCHER_FORMS differ: {sorted(set(_FORMS) ^ set(MATCHER_FORMS))}")
    rows = ((f"`{form}`", _FORMS[form], _looked_at(form)) for form in MATCHER_FORMS)
    return table(("fact", "is", "narrowed by"), rows)


def _looked_at(form: str) -> str:
    fields = sorted(_FIELDS_OF_FORM[form] - {form, "id"})
    return ", ".join(f"`{'json' if name == 'json_value' else name}`" for name in fields) or "nothing"


def evidence(table: Table) -> str:
    """Describe every method of `Evidence`, and the values that they return."""
    rows = ((f"`{head}`", told) for head, told in _methods())
    parts = [table(("method", "is"), rows)]
    named = ((f"`{one.__name__}`", _fields(one), _line(one)) for one in _VALUES)
    parts.append(table(("value", "fields", "is"), named))
    return "\n".join(parts)


def _methods() -> Iterator[tuple[str, str]]:
    for name, member in vars(values.Evidence).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, _line(member)
        else:
            yield f"{name}({_given(member)})", _line(member)


def _given(member: Callable[..., object]) -> str:
    """Write the parameters without their types, as they are given."""
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in inspect.signature(member).parameters.values()]
    return str(inspect.Signature(bare[1:]))[1:-1]


def _fields(kind: type) -> str:
    own = [*kind._fields, *(name for name, one in vars(kind).items() if isinstance(one, property))]  # type: ignore[attr-defined]
    return ", ".join(f"`{name}`" for name in own)


def _line(thing: object) -> str:
    return " ".join((inspect.getdoc(thing) or "").split()).replace("|", "\\|")
