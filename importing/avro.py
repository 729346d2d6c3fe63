"""Avro schemas (`.avsc`), with the types that Spark's Avro reader gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from streambound.analyzer.errors import InputError
from streambound.analyzer.json_models import parsed
from streambound.importing.tables import ImportedColumn, ImportedTable, column

_PLAIN = {
    "boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double", "bytes": "binary",
    "string": "string", "fixed": "binary", "enum": "string",
}  # fmt: skip
_LOGICAL = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("string", "uuid"): "string",
}
_WIDER = ({"int", "long"}, "bigint"), ({"float", "double"}, "double")


class _LeftOutFieldError(Exception):
    """Why a field has no column."""


def avro_schema(text: str, name: str, file: str) -> tuple[ImportedTable, ...]:
    """The records of a schema, or of a list of them; raises InputError for what is none.

    A schema registry answers with a schema as text in an envelope, `{"subject": …, "schema": "…"}`.
    """
    document, remedy = parsed(text, file), 'it starts with {"type": "record", …}'
    what = "not an Avro schema of a record"
    if isinstance(document.value, dict) and isinstance(document.value.get("schema"), str):
        envelope = document.read(RegisteredSchema, what, remedy, closed=False)
        if envelope.schemaType != "AVRO":
            raise InputError(f"the schema is of {envelope.schemaType}", file=file, line=1, remedy="Avro's are read")
        return avro_schema(envelope.schema, name or envelope.subject.removesuffix("-value"), file)
    if isinstance(document.value, list):
        records = document.read(tuple[AvroRecord, ...], what, remedy, closed=False)
    else:
        records = (document.read(AvroRecord, what, remedy, closed=False),)
    if not records:
        raise InputError(what, file=file, line=1, remedy=remedy)
    names = _RecordReader(file)
    names.learn(document.value, "")
    several = len(records) > 1
    return tuple(names.table(record, name if name and not several else record.name) for record in records)


class RegisteredSchema(Struct, frozen=True):
    """A schema registry's answer for a schema."""

    schema: str
    subject: str = ""
    schemaType: str = "AVRO"  # as the registry writes it


class AvroField(Struct, frozen=True):
    """A field of a record; its type is a name, an object with a type of its own, or a list of alternatives."""

    name: str
    type: Any = None


class AvroRecord(Struct, frozen=True):
    """A record: what a table is made of."""

    type: Literal["record"]
    name: str
    fields: tuple[AvroField, ...]


class _RecordReader(Struct):
    """Reads records; named types may be referred to by their name."""

    file: str
    known: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def learn(self, schema: Any, namespace: str) -> None:
        """Remember every named type in a schema, by its name with and without its namespace."""
        if isinstance(schema, list):
            for item in schema:
                self.learn(item, namespace)
        if not isinstance(schema, dict):
            return
        space = str(schema.get("namespace", namespace))
        if isinstance(schema.get("name"), str) and schema.get("type") in ("record", "enum", "fixed"):
            self.known.setdefault(schema["name"], schema)
            self.known[f"{space}.{schema['name']}"] = schema
        for inner in (schema.get("type"), schema.get("items"), schema.get("values"), *self.types(schema)):
            if isinstance(inner, dict | list):
                self.learn(inner, space)

    def types(self, record: Mapping[str, Any]) -> list[Any]:
        fields = record.get("fields")
        return [one.get("type") for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []

    def table(self, record: AvroRecord, name: str) -> ImportedTable:
        columns: list[ImportedColumn] = []
        notes: list[str] = []
        for one in record.fields:
            found = self.column(one, notes)
            if isinstance(found, str):
                notes.append(found)
            else:
                columns.append(found)
        return ImportedTable(name, tuple(columns), self.file, notes=tuple(notes))

    def column(self, one: AvroField, notes: list[str]) -> ImportedColumn | str:
        name, schema = one.name, self.resolved(one.type)
        try:
            kind = self.type_name(schema, frozenset())
        except _LeftOutFieldError as reason:
            return f"column {name} is left out: {reason}"
        inner = self.without_null(schema)
        symbols = inner.get("symbols", []) if isinstance(inner, dict) and inner.get("type") == "enum" else []
        logical = inner.get("logicalType") if isinstance(inner, dict) else None
        if logical is not None and (inner.get("type"), logical) not in _LOGICAL and logical != "decimal":
            notes.append(f"{name} is declared as the {kind} that its logical type {logical} is stored in")
        return column(name, kind, tuple(map(str, symbols)))

    def resolved(self, schema: Any) -> Any:
        return self.known.get(schema, schema) if isinstance(schema, str) else schema

    def without_null(self, schema: Any) -> Any:
        """The other type of a union with null; any other schema as it is."""
        if isinstance(schema, list):
            others = [item for item in schema if item != "null"]
            return self.resolved(others[0]) if len(others) == 1 else schema
        return schema

    def type_name(self, schema: Any, inside: frozenset[int]) -> str:
        """A schema's type in Spark SQL; raises _LeftOutError where it has none."""
        schema = self.without_null(self.resolved(schema))
        if isinstance(schema, list):
            return self.union(schema)
        if isinstance(schema, str):
            schema = {"type": schema}
        if not isinstance(schema, dict):
            raise _LeftOutFieldError(f"{json.dumps(schema)} is no type")
        kind = schema.get("type")
        if isinstance(kind, dict | list):
            return self.type_name(kind, inside)
        if id(schema) in inside:
            raise _LeftOutFieldError(f"its type {schema.get('name')} contains itself")
        inside |= {id(schema)}
        match kind:
            case "record":
                fields = schema.get("fields") or []
                parts = (f"`{one['name']}`:{self.type_name(one.get('type'), inside)}" for one in fields)
                return f"struct<{','.join(parts)}>"
            case "array":
                return f"array<{self.type_name(schema.get('items'), inside)}>"
            case "map":
                return f"map<string,{self.type_name(schema.get('values'), inside)}>"
        return self.plain(schema, kind)

    def plain(self, schema: Mapping[str, Any], kind: Any) -> str:
        logical = schema.get("logicalType")
        if logical == "decimal" and kind in ("bytes", "fixed") and isinstance(schema.get("precision"), int):
            return f"decimal({schema['precision']},{schema.get('scale', 0)})"
        if (known := _LOGICAL.get((str(kind), str(logical)))) is not None:
            return known
        if kind not in _PLAIN:
            raise _LeftOutFieldError(f"there is no type {json.dumps(kind)}")
        return _PLAIN[kind]

    def union(self, schema: list[Any]) -> str:
        """Spark widens numbers; for other unions it makes structs, which are left out."""
        kinds = {item for item in schema if item != "null" and isinstance(item, str)}
        for these, kind in _WIDER:
            if kinds == these and all(isinstance(item, str) for item in schema):
                return kind
        raise _LeftOutFieldError("it is a union of several types")
