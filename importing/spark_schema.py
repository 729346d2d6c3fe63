"""Spark's schemas as JSON: what `StructType.json()` writes, and `df.schema.json()` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streambound.analyzer.errors import InputError
from streambound.importing.tables import ImportedColumn, ImportedTable, column

_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
_DELAY = "spark.watermarkDelayMs"


def spark_schema(text: str, name: str, file: str) -> tuple[ImportedTable, ...]:
    """The one table of a schema, which has no name of its own; raises InputError for what is no schema."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", file=file, line=error.lineno, column=error.colno) from error
    if not (
        isinstance(document, dict) and document.get("type") == "struct" and isinstance(document.get("fields"), list)
    ):
        remedy = 'write one with df.schema.json(); it starts with {"type": "struct", "fields": […]}'
        raise InputError("not a schema of Spark", file=file, line=1, remedy=remedy)
    return (table_of(document, name, file),)


def table_of(schema: Mapping[str, Any], name: str, place: str, relation: bool | None = None) -> ImportedTable:
    """A table of a schema's fields; a watermark that Spark noted in a field is its application time."""
    columns: list[ImportedColumn] = []
    notes: list[str] = []
    timestamp = lateness = None
    for number, field in enumerate(schema["fields"]):
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            raise InputError(f"field {number + 1} has no name", file=place)
        read = _read(field)
        if isinstance(read, str):
            notes.append(read)
            continue
        columns.append(read)
        delay = (field.get("metadata") or {}).get(_DELAY)
        if isinstance(delay, int):
            timestamp, lateness = read.name, f"{delay} milliseconds"
    required = [f["name"] for f in schema["fields"] if f.get("nullable") is False]
    if required:
        notes.append(f"that {', '.join(required)} cannot be NULL is left out: a catalog does not say so")
    return ImportedTable(name, tuple(columns), place, timestamp, lateness, relation, None, tuple(notes))


def _read(field: Mapping[str, Any]) -> ImportedColumn | str:
    name, kind = field["name"], type_name(field.get("type"))
    if kind is None:
        return f"column {name} is left out: its type {json.dumps(field.get('type'))} has no name in Spark SQL"
    return column(name, kind)


def type_name(kind: Any) -> str | None:
    """A type's name in Spark SQL; None for one that has none, as a user-defined type."""
    if isinstance(kind, str):
        return _NAMES.get(kind, kind)
    if not isinstance(kind, dict):
        return None
    match kind.get("type"):
        case "array":
            element = type_name(kind.get("elementType"))
            return None if element is None else f"array<{element}>"
        case "map":
            key, value = type_name(kind.get("keyType")), type_name(kind.get("valueType"))
            return None if key is None or value is None else f"map<{key},{value}>"
        case "struct":
            return _struct(kind.get("fields"))
    return None


def _struct(fields: Any) -> str | None:
    if not isinstance(fields, list):
        return None
    parts = []
    for field in fields:
        inner = type_name(field.get("type")) if isinstance(field, dict) else None
        if inner is None:
            return None
        parts.append(f"`{str(field.get('name')).replace('`', '``')}`:{inner}")
    return f"struct<{','.join(parts)}>"
