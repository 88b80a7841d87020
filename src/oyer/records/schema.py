"""JSON Schemas of the record types, for editors and for other languages.

Owns the export: draft 2020-12, one schema per kind and version, with the titles and descriptions of the types.

Must never be what validation rests on: the types decide, the schema describes them.

Source: JSON Schema draft 2020-12.
"""

from __future__ import annotations

import inspect
from typing import Any, Final, get_args

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, core_schema

from oyer.records.model import Record

__all__ = ["SCHEMA_BASE", "json_schema", "kind_of"]

SCHEMA_BASE: Final = "https://oyer.invalid/schema/"


def kind_of(kind: type[Record]) -> str:
    """Return the `Kind@version` of a top-level record type. Raises `TypeError` for a part of one."""
    field = kind.model_fields.get("oyer")
    names = get_args(field.annotation) if field else ()
    if len(names) != 1:
        raise TypeError(f"{kind.__name__} has no field `oyer: Literal['Kind@version']`")
    return str(names[0])


def json_schema(kind: type[Record]) -> dict[str, Any]:
    """Return the JSON Schema of one top-level record type, as documents of that kind are written."""
    schema = kind.model_json_schema(by_alias=True, mode="validation", schema_generator=_Generator)
    name = kind_of(kind)
    required = ["oyer", *(field for field in schema.get("required", ()) if field != "oyer")]
    first = {
        "$schema": _Generator.schema_dialect,
        "$id": f"{SCHEMA_BASE}{name.replace('@', '-')}.json",
        "title": name,
    }
    return {**first, **{key: item for key, item in schema.items() if key not in first}, "required": required}


class _Generator(GenerateJsonSchema):
    """Leaves out titles that only repeat a field's name, and cleans descriptions."""

    def get_title_from_name(self, name: str) -> str:
        return name

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate_inner(self, schema: CoreSchema | core_schema.ModelField | Any) -> dict[str, Any]:
        result = super().generate_inner(schema)
        described = result.get("description")
        if isinstance(described, str):
            result["description"] = inspect.cleandoc(described)
        return result
