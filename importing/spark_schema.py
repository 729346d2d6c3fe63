"""Spark's schemas as JSON: what `StructType.json()` writes, and `df.schema.json()` prints."""

from __future__ import annotations

import json
from typing import Any, Literal

from msgspec import Struct

from streambound.analyzer.json_models import parsed
from streambound.importing.tables import ImportedColumn, ImportedTable, column

_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
_DELAY = "spark.watermarkDelayMs"


class SparkField(Struct, frozen=True):
    """A field of a schema; its type is a name, or an object of other types, or one that only Python or Java knows."""

    name: str
    type: Any = None
    nullable: bool = True
    metadata: dict[str, Any] | None = None


class SparkSchema(Struct, frozen=True):
    """A schema of Spark: a struct of fields."""

    type: Literal["struct"]
    fields: tuple[SparkField, ...]


def spark_schema(text: str, name: str, file: str) -> tuple[ImportedTable, ...]:
    """The one table of a schema, which has no name of its own; raises InputError for what is no schema."""
    remedy = 'write one with df.schema.json(); it starts with {"type": "struct", "fields": […]}'
    found = parsed(text, file).read(SparkSchema, "not a schema of Spark", remedy, closed=False)
    return (table_of(found, name, file),)


def table_of(schema: SparkSchema, name: str, place: str, relation: bool | None = None) -> ImportedTable:
    """A table of a schema's fields; a watermark that Spark noted in a field is its application time."""
    columns: list[ImportedColumn] = []
    notes: list[str] = []
    timestamp = lateness = None
    for field in schema.fields:
        read = _read(field)
        if isinstance(read, str):
            notes.append(read)
            continue
        columns.append(read)
        delay = (field.metadata or {}).get(_DELAY)
        if isinstance(delay, int):
            timestamp, lateness = read.name, f"{delay} milliseconds"
    required = [field.name for field in schema.fields if not field.nullable]
    if required:
        notes.append(f"that {', '.join(required)} cannot be NULL is left out: a catalog does not say so")
    return ImportedTable(name, tuple(columns), place, timestamp, lateness, relation, None, tuple(notes))


def _read(field: SparkField) -> ImportedColumn | str:
    kind = type_name(field.type)
    if kind is None:
        return f"column {field.name} is left out: its type {json.dumps(field.type)} has no name in Spark SQL"
    return column(field.name, kind)


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
