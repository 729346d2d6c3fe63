"""Part of every job: rows as they come from Spark, in columns that the streams share, as a kernel takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound.synopsis_exec.job.batch import Rows
from streambound.synopsis_exec.job.exact import integers
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SLOTS = sorted({slot for source in STREAMS for slot in source.slots.values()})
"""The columns that values travel in, each named after the kind of its values."""
COUNT = "n"
"""The column that says how often a row came, where rows that are the same are one."""
SLOT_TYPES = {"integer": "BIGINT", "float": "DOUBLE", "text": "STRING"}


def slot_type(slot: str) -> str:
    """The Spark SQL type of a slot.

    >>> slot_type("integer_2")
    'BIGINT'
    """
    return SLOT_TYPES[slot.partition("_")[0]]


def no_rows() -> Any:
    """An Arrow table of rows, without any."""
    import pyarrow as pa

    types = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "STRING": pa.string()}
    slots = [(slot, types[slot_type(slot)]) for slot in SLOTS]
    return pa.schema([("source", pa.int32()), ("ts", pa.int64()), *slots]).empty_table()


def together(tables: list[Any]) -> Any:
    """Some tables of rows as one; with ``n``, how often each row came, where one of them has that."""
    import pyarrow as pa

    counted = any(COUNT in table.column_names for table in tables)
    schema = schema_of(counted)
    tables = [with_counts(table) for table in tables] if counted else tables
    return pa.concat_tables([table.select(schema.names).cast(schema) for table in tables])


def on_spark(spark: SparkSession, table: Any) -> DataFrame:
    """An Arrow table as Spark's, made of one piece: Spark takes an empty piece after the first for the end of all."""
    return spark.createDataFrame(table.combine_chunks())


def schema_of(counted: bool) -> Any:
    """The schema of rows."""
    import pyarrow as pa

    schema = no_rows().schema
    return schema.append(pa.field(COUNT, pa.int64())) if counted else schema


def with_counts(table: Any) -> Any:
    """Rows with how often each came, once where nothing else is said."""
    import pyarrow as pa

    if COUNT in table.column_names:
        return table
    return table.append_column(COUNT, pa.array(np.ones(table.num_rows, dtype=np.int64)))


def table_of(columns: dict[str, list[Any]]) -> Any:
    """The rows of a state: what `to_pydict` gave."""
    import pyarrow as pa

    return pa.table(columns, schema=schema_of(COUNT in columns))


def slices(table: Any, size: int) -> Iterator[Any]:
    """Rows about so many at a time, in order of time, none of a timestamp's rows apart from the others."""
    if table.num_rows <= size:
        yield from [table] if table.num_rows else []
        return
    table = table.sort_by("ts")
    times = table.column("ts").to_numpy()
    start = 0
    while start < len(times):
        stop = int(np.searchsorted(times, times[min(start + size, len(times)) - 1], side="right"))
        yield table.slice(start, stop - start)
        start = stop


def batch_of(table: Any) -> dict[str, Rows]:
    """The rows of an Arrow table by stream, in order of time."""
    sources, times = table.column("source").to_numpy(), table.column("ts").to_numpy()
    batch = {}
    for number, source in enumerate(STREAMS):
        rows = np.flatnonzero(sources == number)
        time = times[rows]
        if len(rows) and not (time[1:] >= time[:-1]).all():
            rows = rows[np.argsort(time, kind="stable")]
        batch[source.name] = _rows(table, source, times, rows)
    return batch


def _rows(table: Any, source: Source, times: Any, rows: Any) -> Rows:
    columns: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    words: dict[str, list[str]] = {}
    for name, slot in source.slots.items():
        column = table.column(slot).combine_chunks()
        null = column.is_null().to_numpy(zero_copy_only=False)[rows] if column.null_count else np.zeros(0, dtype=bool)
        if null.any():
            nulls[name] = null
        if slot_type(slot) == "STRING":
            found = column.take(rows).dictionary_encode()
            texts = found.dictionary.to_pylist()
            codes = found.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            if name in source.large:
                columns[name] = integers([int(text) for text in texts] or [0])[codes]
            else:
                columns[name], words[name] = codes, texts
        else:
            values = column.fill_null(0) if column.null_count else column
            columns[name] = values.to_numpy(zero_copy_only=False)[rows]
    counted = COUNT in table.column_names
    return Rows(times[rows], columns, nulls, words, table.column(COUNT).to_numpy()[rows] if counted else None)
