"""Part of every job: columns of files with types, of which the driver tells by itself whether their rows are good.

Reading Parquet costs Spark next to nothing, and making a reason and a test of each row more than that. What the types
do not say already, ranges and lists and whether there is a timestamp, the driver sees from the columns faster. Where it
is not sure of all rows of a batch, Spark tells which are bad, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound.synopsis_exec.job.arrivals import PLACES, Arrived, per_source, said_of, with_rows
from streambound.synopsis_exec.job.cells import within
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.json_text import quoted
from streambound.synopsis_exec.job.near import columns_near
from streambound.synopsis_exec.job.source import Source
from streambound.synopsis_exec.job.whole import good_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def used(source: Source) -> set[str]:
    """The columns that a query, or what tells partitions apart, needs."""
    return {*source.slots, source.time or "", source.parted} - {""}


def unused(source: Source) -> list[str]:
    """What breaks a contract in other than the columns that are used, in Spark SQL over `row`."""
    mine = [f"raw_0.{quoted(column)}" for column in used(source)]
    return [broken for broken in source.invalid.values() if not any(column in said_of(0, broken) for column in mine)]


def rows_of_columns(arrived: Arrived) -> Any:
    """All rows of a batch as `whole_columns`; None where not all are good, as far as the driver can tell."""
    import pyarrow as pa

    wanted = [used(source) for source in STREAMS]
    # What is read here is told apart here, other columns, too; Spark tells those apart on the way.
    every = [
        {cell.column for cell in source.cells} if unused(source) else names
        for source, names in zip(STREAMS, wanted, strict=True)
    ]
    parts = columns_near(arrived, every)
    if parts is None:
        parts, every = columns_fetched(arrived), wanted
    if parts is None:
        return None
    tables = []
    for number, (source, rows, names) in enumerate(zip(STREAMS, parts, every, strict=True)):
        values = encoded_columns(number, rows, names)
        if values is None:
            return None
        tables.append(good_rows(number, source, values, rows.num_rows))
    return pa.concat_tables([table.cast(tables[0].schema) for table in tables])


def columns_fetched(arrived: Arrived) -> list[Any] | None:
    """The columns of each stream that are used, in their places; None where another one breaks its contract."""
    import pyarrow as pa

    fetched = wanted_columns(arrived.frame).toArrow()
    if "broken" in fetched.column_names and fetched.column("broken").to_numpy().any():
        return None
    numbers = fetched.column("source").to_numpy()
    mine = [numbers == number for number in range(len(STREAMS))]
    return [fetched if rows.all() else fetched.filter(pa.array(rows)) for rows in mine]


def wanted_columns(frame: DataFrame) -> DataFrame:
    """The columns that are used, and `broken`, whether another one breaks its contract, where one can."""
    there = {place for places in PLACES for place in places.values()}
    wanted = {places[column] for source, places in zip(STREAMS, PLACES, strict=True) for column in used(source)}
    rest = [" OR ".join(f"({broken})" for broken in unused(source)) for source in STREAMS]
    if any(rest):
        broken = f"coalesce({per_source([text or 'FALSE' for text in rest])}, FALSE) AS broken"
        return with_rows(frame).selectExpr("source", *sorted(wanted), broken)
    return frame if wanted == there else frame.select("source", *sorted(wanted))


def encoded_columns(number: int, rows: Any, names: set[str]) -> dict[str, Any] | None:
    """Column -> its values as the kernel takes them; None where one is not within its contract, or is no text."""
    import pyarrow as pa

    values, source = {}, STREAMS[number]
    for cell in source.cells:
        if cell.column in names:
            column = rows.column(PLACES[number][cell.column]).combine_chunks()
            try:
                values[cell.column] = TYPED[cell.kind](column)
            except pa.ArrowInvalid:
                return None
            if not within(cell, values[cell.column]).all():
                return None
    return values


def as_number(column: Any) -> Any:
    """Times as microseconds since 1970, booleans as 0 and 1."""
    import pyarrow as pa

    return column.cast(pa.int64())


def as_days(column: Any) -> Any:
    """Days since 1970."""
    import pyarrow as pa

    return column.cast(pa.int32()).cast(pa.int64())


def as_text(column: Any) -> Any:
    """Texts; raises ArrowInvalid where one is no UTF-8."""
    column.validate(full=True)
    return column


def as_float(column: Any) -> Any:
    """Numbers; raises ArrowInvalid where one is none."""
    import pyarrow as pa

    if np.isnan(column.fill_null(0.0).to_numpy(False)).any():
        raise pa.ArrowInvalid("not a number")
    return column


TYPED: dict[str, Callable[[Any], Any]] = {
    "integer": as_number,
    "boolean": as_number,
    "float": as_float,
    "text": as_text,
    "date": as_days,
    "timestamp": as_number,
    "timestamp_ntz": as_number,
}
"""Kind of a cell -> its values as the kernel takes them, of a column as Spark gives it."""
