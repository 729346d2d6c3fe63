"""Changes of a relation as lines of JSON: Debezium's envelopes, and upserts with a key and a value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streambound.analyzer.types import Family
from streambound.analyzer.values import to_json
from streambound.synopsis_exec.nested_values import as_text
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.promises import UPDATE, ChangeRecords

_MICROSECONDS = {"ts_ms": 1000, "ts_us": 1}


def change_writer(item: Input) -> Callable[[Mapping[str, Any]], str]:
    """A function from an encoded change to its line, for a relation whose changes are in records."""
    records = item.records
    assert records is not None, "a relation whose changes are in records"
    kinds = {column.name: column.type for column in item.declared}

    def text(name: str, value: Any) -> str:
        nested = value is not None and kinds[name].family is Family.OTHER
        return as_text(value, kinds[name]) if nested else json.dumps(to_json(value, kinds[name]), ensure_ascii=False)

    def image(row: Mapping[str, Any], names: Iterable[tuple[str, str]]) -> str:
        return _object((shown, text(name, row[name])) for shown, name in names)

    plain = [(name, name) for name in records.columns if name not in _beside(records)]
    old = [(name, mine) for name, mine in zip(records.columns, records.before, strict=False) if (name, name) in plain]
    key = [(name, name) for name in records.key]

    def line(row: Mapping[str, Any]) -> str:
        beside = [(name, text(name, row[name])) for name in records.beside]
        deleted = row[records.op] == records.delete
        if not records.debezium:
            value = "null" if deleted else image(row, plain)
            return _object([("key", image(row, key)), ("value", value), *beside]) + "\n"
        kind = "d" if deleted else "u" if row[records.op] == UPDATE else "c"
        before = {"d": image(row, plain), "u": image(row, old), "c": "null"}[kind]
        after = "null" if deleted else image(row, plain)
        envelope = [("before", before), ("after", after), ("op", json.dumps(kind)), *_time(row, records)]
        return _object([*envelope, *beside]) + "\n"

    return line


def _beside(records: ChangeRecords) -> tuple[str, ...]:
    """What no row has, as its record does."""
    return (*records.beside, records.time)


def _time(row: Mapping[str, Any], records: ChangeRecords) -> list[tuple[str, str]]:
    """The time that the envelope has."""
    if records.time in records.beside:
        return []
    *path, name = records.time.split(".")
    value = row[records.time]
    if records.moment:
        value = value * 1000 if name == "ts_ns" else value // _MICROSECONDS[name]
    return [(path[0], _object([(name, str(value))]))] if path else [(name, str(value))]


def _object(members: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in members) + "}"
