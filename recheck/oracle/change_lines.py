"""Debezium's envelopes and upserts as inserts and deletes of rows: `change_records` without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import ChangeFormat
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.types import Family
from streambound.recheck.oracle.recorded_values import Object, objects, value, values
from streambound.recheck.oracle.relation_states import RowChange

_MICROSECONDS = {"ts_ms": Fraction(1_000), "ts_us": Fraction(1), "ts_ns": Fraction(1, 1_000)}


def changes_in_lines(table: DeclaredTable, folder: Path) -> Iterator[RowChange]:
    """All changes of a relation; of an update the row before goes, and the row after comes."""
    assert table.changes is not None, "a relation that changes"
    read = _envelope if table.changes.format is ChangeFormat.DEBEZIUM else _upsert
    for record in objects(folder / table.name):
        yield from read(record, table)


def _envelope(record: Object, table: DeclaredTable) -> Iterator[RowChange]:
    time, op = _time_of_envelope(record, table), record.get("op")
    if op in ("d", "u") and record.get("before"):
        yield _change(record["before"], table, time, deletes=True, images=True)
    if op != "d":
        yield _change(record.get("after") or {}, table, time, deletes=False, images=True)


def _upsert(record: Object, table: DeclaredTable) -> Iterator[RowChange]:
    assert table.changes is not None, "a relation that changes"
    row, name = record.get("value"), table.changes.timestamp.name
    parts = (record, row or {}, record.get("key") or {})
    time = next((part[name] for part in parts if part.get(name) is not None), None)
    number = value(time, table.changes.timestamp.type)
    yield _change(record["key"] if row is None else row, table, number, deletes=row is None, images=False)


def _change(image: Object, table: DeclaredTable, time: Any, deletes: bool, images: bool) -> RowChange:
    """A change; a column of its time, if there is one, need not be in the row itself."""
    assert table.changes is not None and isinstance(time, Fraction), "a change has a time"
    own, found = table.changes.timestamp.name, values(image, table.columns)
    row = tuple(time if column.name == own else cell for column, cell in zip(table.columns, found, strict=True))
    return RowChange(int(time), deletes, row, images)


def _time_of_envelope(record: Object, table: DeclaredTable) -> Any:
    assert table.changes is not None, "a relation that changes"
    time = table.changes.timestamp
    if table.source is not None and time.name in dict(table.source.metadata):
        return value(record.get(time.name), time.type)
    *path, name = time.name.split(".")
    number = value((record[path[0]] if path else record).get(name), BIGINT)
    if number is None or time.type.family is not Family.TIMESTAMP:
        return number
    return Fraction(int(number) * _MICROSECONDS[name] // 1)
