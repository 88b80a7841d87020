"""Arguments that a Case gives to tools by names that their listed schemas do not have, and needed ones left out.

Owns the comparison of names; which values will do is the server's to say. Must never refuse what a schema does not rule
out: where it allows further properties, another name is none of its own and may still be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from oyer.records.case import Case
from oyer.records.case_rules import Breach
from oyer.records.chain import CalledLink
from oyer.records.matchers import OPERATORS
from oyer.records.source_text import Path, nearest
from oyer.records.tool_names import matchers_of, steps_of

__all__ = ["argument_breaches"]

_NO_CALL = "the pattern of the action does not name it: no call can match"
_WRITE_CHAIN = "; name it, or list it in allow_extra; instead of `effect`, which names path and content, write `chain`"

Schemas = Mapping[str, Mapping[str, Any]]
"""By server and tool, the schema of its arguments as it was listed."""


def argument_breaches(case: Case, listed: Mapping[str, Schemas]) -> Iterator[Breach]:
    """Yield every argument that cannot be meant; of servers and tools that are not in `listed` nothing is known.

    A double's call is held against all of a schema's names. What a matcher looks for has to be one of them.
    """
    for path, step in steps_of(case):
        server, _, tool = (step.call or "").partition(".")
        schema = listed.get(server, {}).get(tool)
        if schema is not None:
            yield from _unknown(path, f"{server}.{tool}", step.arguments, schema)
            yield from _missing(path, f"{server}.{tool}", step.arguments, schema)
    for path, matcher in matchers_of(case):
        called, pattern = matcher.called, matcher.arguments
        schema = None if called is None else listed.get(called.server, {}).get(called.tool)
        if called is None or schema is None or not isinstance(pattern, Mapping) or set(pattern) & OPERATORS:
            continue
        wanted = {name: value for name, value in pattern.items() if value != {"absent": True}}
        yield from _unknown((*path, "arguments"), f"{called.server}.{called.tool}", wanted, schema)
    yield from _of_the_action(case, listed)


def _of_the_action(case: Case, listed: Mapping[str, Schemas]) -> Iterator[Breach]:
    """An action matches exactly, so that a needed argument which its pattern does not name keeps it from ever matching.

    The short form `effect` writes such a pattern, with the names of the packaged files server.
    """
    for index, link in enumerate(() if case.chain is None else case.chain.promotion):
        if (
            not isinstance(link, CalledLink)
            or not isinstance(link.arguments, Mapping)
            or set(link.arguments) & OPERATORS
        ):
            continue
        schema = listed.get(link.called.server, {}).get(link.called.tool)
        path, tool = ("chain", "promotion", index, "arguments"), f"{link.called.server}.{link.called.tool}"
        wanted = {name: value for name, value in link.arguments.items() if value != {"absent": True}}
        named = {**link.arguments, **dict.fromkeys(link.allow_extra)}
        yield from _unknown(path, tool, wanted, schema)
        yield from _missing(path, tool, named, schema, _NO_CALL, _WRITE_CHAIN)


def _properties(schema: Any) -> Mapping[str, Any] | None:
    """The named properties of a schema that is plain enough to be read by its names."""
    if not isinstance(schema, Mapping) or set(schema) & {"$ref", "anyOf", "oneOf", "allOf", "patternProperties"}:
        return None
    properties = schema.get("properties", {})
    return properties if isinstance(properties, Mapping) else None


def _unknown(path: Path, tool: str, given: Mapping[str, Any], schema: Any) -> Iterator[Breach]:
    properties = _properties(schema)
    if properties is None or schema.get("additionalProperties") is not False:
        return
    known = sorted(properties)
    for name in (name for name in given if name not in properties):
        close = nearest(name, known)
        hint = f"did you mean {close}?" if close else f"it takes {', '.join(known) or 'none'}"
        yield Breach(path, "E-TOOL-ARGUMENT", f"{tool} takes no argument {name!r}", hint)


def _missing(
    path: Path, tool: str, given: Mapping[str, Any], schema: Any, why: str = "it is not given", do: str = ""
) -> Iterator[Breach]:
    properties = _properties(schema)
    required = schema.get("required", ()) if properties is not None else ()
    for name in required if isinstance(required, list | tuple) else ():
        if name not in given:
            hint = f"it takes {', '.join(sorted(properties or ()))}{do}"
            yield Breach(path, "E-TOOL-ARGUMENT", f"{tool} needs the argument {name!r}, and {why}", hint)
