#!/usr/bin/env python3
"""The parts of the reference that follow from the code, written between marks in the pages.

Owns the form of these parts and nothing they say: commands come from the command line's own table, events from the
vocabulary, reasons from their table, doubles from theirs, fields of records from their JSON Schemas.

    python tools/reference.py            write every part anew
    python tools/reference.py --check    end with 1 if a part is not current, and name it

A part stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
"""

from __future__ import annotations

import argparse
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from oyer.adjudicate import FORMULAS, REASONS, VERDICT_REASONS
from oyer.cli.commands import COMMANDS, oyer_group
from oyer.errors import EvidenceError
from oyer.evidence import KINDS as EVENT_KINDS
from oyer.evidence.payloads import PayloadForm
from oyer.evidence.vocabulary import REF_PATTERN, check_writer_kind
from oyer.records import KINDS, json_schema
from oyer.subjects import subject_names
from reference_servers import evidence, facts, servers
from reference_sphinx import sphinx
from reference_words import AFTER, EVENT_WORDS, STEPS, VERDICT_AFTER

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
FAMILIES = {
    "harness": "harness",
    "tap": "tap:x",
    "gateway": "gateway",
    "sink": "sink:x",
    "world": "world",
    "meter": "meter",
}


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out a table."""
    names = list(heads)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Set a text as code inside a table cell."""
    return f"`{text}`".replace("|", "\\|")


# ------------------------------------------------------------------------------------------------- commands


def commands() -> str:
    """Describe every command with its arguments and options."""
    context = click.Context(oyer_group, info_name="oyer")
    return "\n".join(_command(context, name) for name in COMMANDS)


def _command(parent: click.Context, name: str) -> str:
    command = oyer_group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100)
    usage = " ".join(["oyer", name, *command.collect_usage_pieces(context)])
    told = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    options = [option for option in command.params if isinstance(option, click.Option)]
    rows = ((_option(option, context), _meaning(option)) for option in options)
    return f"### oyer {name}\n\n```text\n{usage}\n```\n\n{told}\n\n{table(('option', 'means'), rows)}"


def _option(option: click.Option, context: click.Context) -> str:
    names = ", ".join(code(name) for name in option.opts)
    if option.is_flag:
        return names
    shown = option.make_metavar(context)
    word = {"INTEGER": "N", "INTEGER RANGE": "N", "FLOAT": "N"}.get(shown, shown)
    return f"{names} {code(word)}"


def _meaning(option: click.Option) -> str:
    told = [option.help or ""]
    if option.required:
        told.append("Required.")
    if option.multiple:
        told.append("May be given several times.")
    if option.show_default and option.default is not None:
        told.append(f"Default: {code(str(option.default))}.")
    if isinstance(option.type, click.IntRange):
        low, high = option.type.min, option.type.max
        told.append(f"At least {low}." if high is None else f"From {low} to {high}.")
    return " ".join(filter(None, told)).replace("|", "\\|")


# ------------------------------------------------------------------------------------------ reasons and doubles


def reasons() -> str:
    """Describe every reason, step by step of the scoring law, with what to do about it."""
    given = [name for names in STEPS.values() for name in names]
    if sorted(given) != sorted(REASONS):
        raise SystemExit(f"STEPS and the table of reasons differ: {sorted(set(given) ^ set(REASONS))}")
    if set(AFTER) != set(REASONS):
        raise SystemExit(f"AFTER and the table of reasons differ: {sorted(set(AFTER) ^ set(REASONS))}")
    parts = []
    for step, names in STEPS.items():
        rows = ((code(name), REASONS[name], AFTER[name]) for name in names)
        parts.append(f"## {step}\n\n{table(('code', 'means', 'then'), rows)}")
    return "\n".join(parts)


def verdict_reasons() -> str:
    """Describe every reason of a verdict or a matched set, with what to do about it."""
    if set(VERDICT_AFTER) != set(VERDICT_REASONS):
        raise SystemExit(f"VERDICT_AFTER and the table differ: {sorted(set(VERDICT_AFTER) ^ set(VERDICT_REASONS))}")
    rows = ((code(name), told, VERDICT_AFTER[name]) for name, told in VERDICT_REASONS.items())
    return table(("code", "means", "then"), rows)


def formulas() -> str:
    """Describe how every number is computed."""
    rows = (
        (name.replace("_", " "), told.formula, told.source, told.estimand, told.offered)
        for name, told in FORMULAS.items()
    )
    return table(("number", "formula", "source", "about", "offered"), rows)


def doubles() -> str:
    """Describe every subject that can be named."""
    return table(("subject", "does"), ((code(name), does) for name, does in subject_names().items()))


# ---------------------------------------------------------------------------------------------------- events


def events() -> str:
    """Describe every kind of event: who may write it, and what its body holds."""
    if set(EVENT_WORDS) != set(EVENT_KINDS):
        raise SystemExit(f"EVENT_WORDS and the vocabulary differ: {sorted(set(EVENT_WORDS) ^ set(EVENT_KINDS))}")
    parts = []
    for kind, body in EVENT_KINDS.items():
        writers = [family for family, writer in FAMILIES.items() if _may_write(writer, kind)]
        who = "every writer" if len(writers) == len(FAMILIES) else ", ".join(writers)
        keys = table(("key", "holds"), (_key(name, shape) for name, shape in body.items()))
        parts.append(f"### {kind}\n\n{EVENT_WORDS[kind]} Written by: {who}.\n\n{keys}")
    return "\n".join(parts)


def _may_write(writer: str, kind: str) -> bool:
    try:
        check_writer_kind(writer, kind)
    except EvidenceError:
        return False
    return True


def _key(name: str, shape: Any) -> tuple[str, str]:
    told = worded(shape)
    return code(name.removesuffix("?")), f"{told}; may be absent" if name.endswith("?") else told


def worded(shape: Any) -> str:
    """Say what a type of the vocabulary is, for people."""
    origin, parts = typing.get_origin(shape), typing.get_args(shape)
    plain = {str: "text", int: "integer", bool: "true or false", type(None): "null", PayloadForm: "payload"}
    if shape in plain:
        return plain[shape]
    if origin is typing.Annotated:
        return _annotated(parts[0], parts[1])
    if origin is typing.Literal:
        return "one of " + ", ".join(code(part) for part in parts)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(worded(part) for part in parts if getattr(part, "__name__", "") != "UnsetType")
    if origin is tuple:
        return f"list of {worded(parts[0])}" if parts[-1] is Ellipsis else f"[{', '.join(map(worded, parts))}]"
    if origin is dict:
        return f"map of {worded(parts[0])} to {worded(parts[1])}"
    fields = ", ".join(
        f"{code(name.rstrip('_'))}: {worded(kind)}"
        for name, kind in typing.get_type_hints(shape, include_extras=True).items()
    )
    return f"object of {fields}"


def _annotated(base: Any, meta: Any) -> str:
    if base is int:
        return "count" if meta.ge == 0 else "integer"
    if meta.pattern == REF_PATTERN:
        return "reference"
    return "digest" if "sha256" in meta.pattern else "writer"


# --------------------------------------------------------------------------------------------------- records


def records() -> str:
    """Describe every field of every kind of record, from its JSON Schema."""
    return "\n".join(_record(kind) for kind in KINDS)


def _record(kind: str) -> str:
    schema = json_schema(KINDS[kind])
    named = schema.get("$defs", {})
    parts = [f"## {kind}\n\n{_prose(schema)}\n\n{_fields(schema)}"]
    parts += [f"### {kind}: {name}\n\n{_prose(part)}\n\n{_fields(part)}" for name, part in named.items()]
    return "\n".join(parts)


def _prose(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).replace("\n\n", "\n\n").strip()


def _fields(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = []
    for name, shape in schema.get("properties", {}).items():
        told = _shape(shape)
        extra = [str(shape["description"])] if "description" in shape and "$ref" not in shape else []
        if name in required:
            extra.append("required")
        elif "default" in shape and shape["default"] not in (None, {}, [], ""):
            extra.append(f"default {_value(shape['default'])}")
        rows.append((code(name), told, "; ".join(extra)))
    return table(("field", "holds", ""), rows) if rows else "Any value.\n"


def _value(value: Any) -> str:
    return "as its own fields say" if isinstance(value, dict | list) else code(str(value))


def _shape(shape: Mapping[str, Any]) -> str:
    for word in ("anyOf", "oneOf"):
        if word in shape:
            return " or ".join(dict.fromkeys(_shape(part) for part in shape[word]))
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if "const" in shape:
        return code(str(shape["const"]))
    if "enum" in shape:
        return " or ".join(code(str(value)) for value in shape["enum"])
    kind = shape.get("type")
    if kind == "array":
        return f"list of {_shape(shape['items'])}" if isinstance(shape.get("items"), dict) else "list"
    if kind == "object" and isinstance(shape.get("additionalProperties"), dict):
        return f"map of {_shape(shape['additionalProperties'])}"
    words = {
        "string": "text",
        "integer": "integer",
        "number": "number",
        "boolean": "true or false",
        "null": "null",
        "object": "object",
    }
    bounds = [f"from {shape['minimum']}"] if "minimum" in shape else []
    bounds += [f"to {shape['maximum']}"] if "maximum" in shape else []
    pattern = f" of the form {code(shape['pattern'])}" if "pattern" in shape else ""
    return " ".join([words.get(str(kind), "any JSON value"), *bounds]) + pattern


# ------------------------------------------------------------------------------------------------------ pages

PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "commands": ("cli.md", commands),
    "reasons": ("reasons.md", reasons),
    "verdict-reasons": ("reasons.md", verdict_reasons),
    "doubles": ("doubles.md", doubles),
    "formulas": ("statistics.md", formulas),
    "events": ("events.md", events),
    "records": ("records.md", records),
    "facts": ("records.md", lambda: facts(table)),
    "servers": ("servers.md", lambda: servers(table)),
    "sphinx": ("sphinx.md", lambda: sphinx(table)),
    "evidence": ("evaluators.md", lambda: evidence(table)),
}


def marked(name: str) -> re.Pattern[str]:
    """Return a pattern for what stands between the marks of a part."""
    return re.compile(rf"(?<=<!-- generated: {name} -->\n).*?(?=<!-- end: {name} -->)", re.DOTALL)


def renewed(page: str, name: str, text: str) -> str:
    """Return a page with one part written anew."""
    pattern = marked(name)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"the marks of {name} must stand once in its page")
    return pattern.sub(lambda _: f"\n{text.strip()}\n\n", page)


def stale() -> Iterator[tuple[Path, str, str]]:
    """Yield every part that is not current: its page, its name, and the page as it should be."""
    for name, (file, make) in PARTS.items():
        path = REFERENCE / file
        page = path.read_text(encoding="utf-8")
        wanted = renewed(page, name, make())
        if wanted != page:
            yield path, name, wanted


def main(arguments: list[str]) -> int:
    """Write what is not current, or say what it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    chosen = parser.parse_args(arguments)
    found = list(stale())
    for path, name, wanted in found:
        print(f"{path.relative_to(ROOT)}: {name}")
        if not chosen.check:
            path.write_text(wanted, encoding="utf-8")
    return 1 if found and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
