"""One case written once and pinned many times: `vary:` in a case, and the items of a file over a template.

Owns how many cases a document stands for, and the id of each: the same words give the same ids, in whatever order they
are listed. Controls go along: that of a varied case is made from the same values, where it varies in the same way.

Must never read a file: lines come in as bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from oyer.errors import OyerError, Problem
from oyer.records.canonical import digest
from oyer.records.document import Document
from oyer.records.strict_json import parse_json

__all__ = ["Item", "Varied", "read_items", "vary_documents"]

_MOST_CASES = 10_000
_DIGITS = 10
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
_HINT = "write vary: {NAME: [TEXT, TEXT]}, and use it as {var.NAME}"


class Item(NamedTuple):
    """One line of an items file: what its cases are called, and the variables that it gives them."""

    id: str
    vars: Mapping[str, str]


class Varied(NamedTuple):
    """Documents, one for each case; and for each id that stands for several cases, theirs."""

    documents: tuple[Document, ...]
    families: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...]


def read_items(data: bytes, *, name: str) -> tuple[tuple[Item, ...], tuple[Problem, ...]]:
    """Read a file of one JSON object a line; an empty line is none. Every bad line is named with its number."""
    items: list[Item] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        found = _item(line, f"{name}:{number}")
        if isinstance(found, Item) and found.id in seen:
            told = f"item {found.id!r} stands in line {seen[found.id]} already"
            problems.append(Problem("E-ITEMS-TWICE", told, f"{name}:{number}", "give it another id"))
        elif isinstance(found, Item):
            seen[found.id] = number
            items.append(found)
        else:
            problems += found
    if not items and not problems:
        problems.append(Problem("E-ITEMS-FORM", "the file holds no item", name, 'a line is {"NAME": "TEXT"}'))
    return tuple(items), tuple(problems)


def _item(line: bytes, where: str) -> Item | list[Problem]:
    hint = 'a line is one object of texts: {"id": "first", "NAME": "TEXT"}'
    try:
        value = parse_json(line.strip(), name=where).value
    except OyerError as error:
        return [Problem("E-ITEMS-FORM", problem.message, where, hint) for problem in error.problems]
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return [Problem("E-ITEMS-FORM", "not an object of texts", where, hint)]
    own = {key: text for key, text in value.items() if key != "id"}
    name = value.get("id", _short(own, "i"))
    if not _ID.fullmatch(name):
        return [Problem("E-ITEMS-FORM", f"{name!r} is no id", where, "small letters, digits and . _ -")]
    return Item(name, own)


def vary_documents(documents: Sequence[Document], items: Sequence[Item] | None = None) -> Varied:
    """Return a document for every case that the given ones stand for; with `items`, each once for every item."""
    raw = {
        d.value["id"]: d.value for d in documents if isinstance(d.value, dict) and isinstance(d.value.get("id"), str)
    }
    problems: list[Problem] = []
    ways: dict[str, Mapping[str, Any]] = {}
    for document in documents:
        if isinstance(document.value, dict) and isinstance(document.value.get("id"), str):
            vary = _vary_of(document.value, raw)
            wrong = list(_wrong(document, vary))
            problems += wrong if "vary" in document.value else []
            ways[document.value["id"]] = {} if wrong or not isinstance(vary, dict) else vary
    found: list[Document] = []
    families: dict[str, tuple[str, ...]] = {}
    for document in documents:
        value = document.value
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            found.append(document)
            continue
        made = [_made(document, suffix, bindings, ways) for suffix, bindings in _points(ways[value["id"]], items)]
        found += made
        if len(made) != 1 or made[0].value["id"] != value["id"]:
            families[value["id"]] = tuple(one.value["id"] for one in made)
    return Varied(tuple(found), families, tuple(problems))


def _vary_of(value: Mapping[str, Any], raw: Mapping[str, Mapping[str, Any]]) -> Any:
    """What a case varies: its own, or that of the nearest case it is like."""
    seen: set[str] = set()
    while "vary" not in value:
        name = value.get("like")
        if not isinstance(name, str) or name in seen or name not in raw:
            return None
        seen.add(name)
        value = raw[name]
    return value["vary"]


def _wrong(document: Document, vary: Any) -> Iterator[Problem]:
    if vary is None:
        return
    if not isinstance(vary, dict) or not vary:
        yield document.problem("E-CASE-VARY", ("vary",), "not a mapping of variables to lists", _HINT)
        return
    count = 1
    for name, values in vary.items():
        path = ("vary", name)
        if not isinstance(values, list) or not values or not all(isinstance(text, str) for text in values):
            yield document.problem("E-CASE-VARY", path, "not a list of texts", _HINT)
            continue
        count *= len(values)
        for index, text in enumerate(values):
            if text in values[:index]:
                yield document.problem("E-CASE-VARY", (*path, index), "the same text stands in this list before it")
    if count > _MOST_CASES:
        yield document.problem("E-CASE-VARY", ("vary",), f"{count} cases; at most {_MOST_CASES} are made of one")


def _points(vary: Mapping[str, Any], items: Sequence[Item] | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what each case adds to the id, and its variables."""
    for item in items if items is not None else [None]:
        for values in product(*vary.values()):
            varied = dict(zip(vary, values, strict=True))
            parts = [*([item.id] if item is not None else []), *([_short(varied, "v")] if varied else [])]
            yield "".join(f"/{part}" for part in parts), {**(dict(item.vars) if item is not None else {}), **varied}


def _short(bindings: Mapping[str, str], mark: str) -> str:
    return f"{mark}-{digest(dict(bindings)).removeprefix('sha256:')[:_DIGITS]}"


def _made(document: Document, suffix: str, bindings: Mapping[str, str], ways: Mapping[str, Any]) -> Document:
    value = {key: item for key, item in document.value.items() if key != "vary"}
    if not suffix:
        return document._replace(value=value)
    own = value.get("vars")
    value["vars"] = {**(own if isinstance(own, dict) else {}), **bindings}
    way = ways[value["id"]]
    if isinstance(value.get("controls"), dict):
        value["controls"] = {side: _along(names, suffix, way, ways) for side, names in value["controls"].items()}
    value["id"] = f"{value['id']}{suffix}"
    return document._replace(value=value)


def _along(names: Any, suffix: str, way: Any, ways: Mapping[str, Any]) -> Any:
    if isinstance(names, list):
        return [_along(name, suffix, way, ways) for name in names]
    return f"{names}{suffix}" if isinstance(names, str) and names in ways and ways[names] == way else names
