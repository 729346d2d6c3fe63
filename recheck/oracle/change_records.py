"""Debezium's envelopes and upserts as inserts and deletes of rows: read by Spark, with nothing of the runtime.

A line is an object with ``before``, ``after``, ``op`` and a time, or with ``key``, ``value`` and a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import ChangeFormat
from streambound.analyzer.types import Family
from streambound.recheck.oracle.relation_states import Row, RowChange
from streambound.recheck.oracle.spark_batch import quoted, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MICROSECONDS = {"ts_ms": "{} * 1000", "ts_us": "{}", "ts_ns": "{} DIV 1000"}


def changes_in_records(spark: SparkSession, table: DeclaredTable, folder: Path) -> list[RowChange]:
    """All changes of a relation; of an update the row before goes, and the row after comes."""
    assert table.changes is not None, "a relation that changes"
    reader = spark.read.option("mode", "FAILFAST")
    found = _envelopes if table.changes.format is ChangeFormat.DEBEZIUM else _upserts
    return [*found(reader.schema(_schema(table)).json(str(folder / table.name)), table)]


def _schema(table: DeclaredTable) -> str:
    changes = table.changes
    assert changes is not None, "a relation that changes"
    time, image = changes.timestamp, f"STRUCT<{_members(schema_of(table.columns))}>"
    if changes.format is ChangeFormat.UPSERT:
        return f"key {image}, value {image}, {quoted(time.name)} {time.type.name}"
    *path, name = time.name.split(".")
    beside = table.source is not None and time.name in dict(table.source.metadata)
    told = f"{quoted(name)} {time.type.name if beside else 'BIGINT'}"
    told = f"source STRUCT<{_members(told)}>" if path else told
    return f"before {image}, after {image}, op STRING, {told}"


def _members(columns: str) -> str:
    """Columns as the members of a struct."""
    return columns.replace("` ", "`: ")


def _envelopes(rows: DataFrame, table: DeclaredTable) -> Iterator[RowChange]:
    names = [column.name for column in table.columns]
    images = [*_image("before", names), *_image("after", names)]
    picked = rows.selectExpr(*_times(_time_of_envelope(table), table), "op", *images)
    for time, moment, op, *cells in picked.collect():
        before, after = cells[: len(names)], cells[len(names) :]
        if op in ("d", "u") and any(cell is not None for cell in before):
            yield RowChange(time, True, _row(before, table, moment), images=True)
        if op != "d":
            yield RowChange(time, False, _row(after, table, moment), images=True)


def _upserts(rows: DataFrame, table: DeclaredTable) -> Iterator[RowChange]:
    names = [column.name for column in table.columns]
    declared = table.changes is not None and table.column(table.changes.timestamp.name) is not None
    time = _number("coalesce({0}, value.{0}, key.{0})" if declared else "{0}", table)
    images = [*_image("key", names), *_image("value", names)]
    picked = rows.selectExpr(*_times(time, table), "value IS NULL AS gone", *images)
    for when, moment, gone, *cells in picked.collect():
        yield RowChange(when, gone, _row(cells[: len(names)] if gone else cells[len(names) :], table, moment))


def _image(part: str, names: Sequence[str]) -> list[str]:
    return [f"{part}.{quoted(name)} AS {part}_{number}" for number, name in enumerate(names)]


def _times(number: str, table: DeclaredTable) -> list[str]:
    """The time of a change, in SQL: as a number, and as a column of a row has it."""
    assert table.changes is not None, "a relation that changes"
    kind = table.changes.timestamp.type
    moment = f"timestamp_micros({number})" if kind.family is Family.TIMESTAMP else number
    return [f"{number} AS t", f"CAST({moment} AS {kind.name}) AS moment"]


def _row(cells: Sequence[object], table: DeclaredTable, moment: object) -> Row:
    """A row, whose column of the time of its change, if there is one, need not be in the row itself."""
    assert table.changes is not None, "a relation that changes"
    own = table.changes.timestamp.name
    return tuple(moment if column.name == own else cell for column, cell in zip(table.columns, cells, strict=True))


def _number(form: str, table: DeclaredTable) -> str:
    """A time as a number, in SQL."""
    assert table.changes is not None, "a relation that changes"
    time = table.changes.timestamp
    told = form.format(quoted(time.name))
    return f"unix_micros(CAST({told} AS TIMESTAMP))" if time.type.family is Family.TIMESTAMP else told


def _time_of_envelope(table: DeclaredTable) -> str:
    assert table.changes is not None, "a relation that changes"
    time = table.changes.timestamp
    if table.source is not None and time.name in dict(table.source.metadata):
        return _number("{0}", table)
    *path, name = time.name.split(".")
    told = ".".join([*path, quoted(name)])
    return _MICROSECONDS[name].format(told) if time.type.family is Family.TIMESTAMP else told
