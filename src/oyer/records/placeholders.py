"""Placeholders: `{world}`, `{var.NAME}` and their kind inside the texts of a record.

Owns the grammar. `{NAME}` is a placeholder when NAME looks like one (words joined by dots); every other brace is
text, so that JSON and code inside a prompt need no escapes. Doubled braces around a name are text: `{{world}}` (or
`{{world}`) stands for `{world}`, and `{{{world}}}` for the value of `world` in braces.

Must never look inside what it inserted: a value is data, and a placeholder in it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from oyer.errors import Problem, RecordError
from oyer.records.source_text import Path, nearest, path_text

__all__ = [
    "PLACEHOLDER_FORMS",
    "escape",
    "expand",
    "expand_tree",
    "fill_family",
    "fill_family_tree",
    "names_in",
    "names_in_tree",
]

PLACEHOLDER_FORMS: Final = (
    "python",
    "world",
    "var.NAME",
    "random.NAME",
    "secret.NAME",
    "sink.NAME.url",
    "sink.NAME.token",
)

_BRACED = re.compile(r"(\{+)([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*)(\}+)")

Resolve = Callable[[str], str | None]


class _Name(NamedTuple):
    """A placeholder between two pieces of text."""

    name: str


def names_in(text: str) -> tuple[str, ...]:
    """List the placeholders of a text, in order, each once, without their braces."""
    return tuple(dict.fromkeys(token.name for token in _tokens(text) if isinstance(token, _Name)))


def names_in_tree(value: Any) -> tuple[str, ...]:
    """List the placeholders of every text in a plain value, in order, each once."""
    return tuple(dict.fromkeys(name for text in _texts(value) for name in names_in(text)))


def escape(text: str) -> str:
    """Return a text that `expand` turns back into `text`, whatever it holds."""
    return _BRACED.sub(lambda match: match[1] * 2 + match[2] + match[3] + "}" * len(match[1]), text)


def expand(text: str, resolve: Resolve, *, known: Iterable[str] = (), where: str = "") -> str:
    """Replace every placeholder by what `resolve` says for its name.

    `known` are names to suggest when one is unknown. Raises `RecordError` (`E-PLACEHOLDER-UNKNOWN`) with all names
    for which `resolve` returned None.
    """
    pass_ = _Pass(resolve, None, known)
    result = pass_.text(text, where)
    pass_.require_none()
    return result


def expand_tree(
    value: Any,
    resolve: Resolve,
    *,
    only: Iterable[str] | None = None,
    known: Iterable[str] = (),
    where: Callable[[Path], str] | None = None,
) -> Any:
    """Expand every text in a plain value (keys stay as they are; tuples become lists).

    `only` names families (`{"var"}`): all other placeholders are left for a later call, and what is inserted is
    escaped for it, so that the number of passes makes no difference. `where` names the place of a path, as
    `Document.where` does. Raises `RecordError` with every unknown placeholder.
    """
    pass_ = _Pass(resolve, only, known)
    result = pass_.tree(value, (), where)
    pass_.require_none()
    return result


def fill_family(text: str, family: str, resolve: Resolve) -> str:
    """Replace the placeholders of one family (`random`) in a text in which every other brace is text.

    Nothing else is touched: doubled braces are undone around names of the family only, and a name for which `resolve`
    says None stays as it is. `resolve` is given the name without its family.
    """

    def put(match: re.Match[str]) -> str:
        found, _, name = match[2].partition(".")
        if found != family or not name:
            return match[0]
        tokens = tuple(_tokens(match[0]))
        named = any(isinstance(token, _Name) for token in tokens)
        value = resolve(name) if named else ""
        return match[0] if value is None else "".join(value if isinstance(one, _Name) else one for one in tokens)

    return _BRACED.sub(put, text) if "{" in text else text


def fill_family_tree(value: Any, family: str, resolve: Resolve) -> Any:
    """Do as `fill_family` with every text of a plain value; keys stay, tuples become lists."""
    if isinstance(value, str):
        return fill_family(value, family, resolve)
    if isinstance(value, Mapping):
        return {key: fill_family_tree(item, family, resolve) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill_family_tree(item, family, resolve) for item in value]
    return value


class _Pass:
    """One walk over a value with one resolver."""

    __slots__ = ("_known", "_only", "_problems", "_resolve")

    def __init__(self, resolve: Resolve, only: Iterable[str] | None, known: Iterable[str]) -> None:
        self._resolve = resolve
        self._only = None if only is None else frozenset(only)
        self._known = tuple(known)
        self._problems: list[Problem] = []

    def require_none(self) -> None:
        if self._problems:
            raise RecordError.of(self._problems)

    def tree(self, value: Any, path: Path, where: Callable[[Path], str] | None) -> Any:
        if isinstance(value, str):
            place = ": ".join(part for part in (where(path) if where else "", path_text(path)) if part)
            return self.text(value, place)
        if isinstance(value, dict):
            return {key: self.tree(item, (*path, key), where) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(item, (*path, index), where) for index, item in enumerate(value)]
        return value

    def text(self, text: str, where: str) -> str:
        if "{" not in text:
            return text
        tokens = [self._token(token, where) for token in _tokens(text)]
        return "".join(map(str, tokens)) if self._only is None else _write(tokens)

    def _token(self, token: str | _Name, where: str) -> str | _Name:
        if isinstance(token, str) or (self._only is not None and token.name.partition(".")[0] not in self._only):
            return token
        found = self._resolve(token.name)
        if found is None:
            self._problems.append(_unknown(token.name, self._known, where))
            return ""
        return found


def _tokens(text: str) -> Iterator[str | _Name]:
    """Split a text into what it says literally (escapes undone) and its placeholders."""
    end = 0
    for match in _BRACED.finditer(text):
        opening, name, closing = match.groups()
        yield text[end : match.start()]
        end = match.end()
        pairs, single = divmod(len(opening), 2)
        yield "{" * pairs
        # One closing brace belongs to the name; each doubled opening brace may take a doubled closing one with it.
        rest = len(closing) - 1
        rest -= min(pairs, rest)
        if single:
            yield _Name(name)
        else:
            yield name + "}"
        yield "}" * rest
    yield text[end:]


def _write(tokens: Iterable[str | _Name]) -> str:
    """Write a text whose tokens are these: the inverse of `_tokens`."""
    merged: list[str | _Name] = [""]
    for token in tokens:
        if isinstance(token, str) and isinstance(merged[-1], str):
            merged[-1] += token
        else:
            merged.append(token)
    if isinstance(merged[-1], _Name):
        merged.append("")
    return _join(merged)


def _join(merged: list[str | _Name]) -> str:
    parts: list[str] = []
    doubled = 0
    for index, token in enumerate(merged):
        if isinstance(token, _Name):
            parts.append(token.name)
            continue
        before, after = index > 0, index < len(merged) - 1
        literal = token
        if before:
            # Literal closing braces behind a placeholder, which must not be taken for halves of doubled ones.
            body = literal.lstrip("}")
            parts.append("}" * (1 + doubled + len(literal) - len(body)))
            literal = body
        body = literal.rstrip("{") if after else literal
        doubled = len(literal) - len(body)
        parts.append(escape(body))
        if after:
            parts.append("{" * (2 * doubled + 1))
    return "".join(parts)


def _unknown(name: str, known: tuple[str, ...], where: str) -> Problem:
    middle = name.split(".")[1] if "." in name else "NAME"
    close = nearest(name, known or tuple(form.replace("NAME", middle) for form in PLACEHOLDER_FORMS))
    listed = ", ".join(f"{{{form}}}" for form in known or PLACEHOLDER_FORMS)
    hint = f"did you mean {{{close}}}" if close else f"known are {listed}"
    message = f"the placeholder {{{name}}} is unknown"
    return Problem("E-PLACEHOLDER-UNKNOWN", message, where, f"{hint}; for the text itself write {{{{{name}}}}}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
