"""Rows whose timestamps are still open, and how they become deltas once these are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Values
from streambound_runtime.decoding.sql_types import SqlType, sql_type
from streambound_runtime.operators.delta import Delta, distinct_times
from streambound_runtime.operators.exact import integers
from streambound_runtime.spec import Stream

if TYPE_CHECKING:
    import pyarrow as pa

Tables = dict[str, "pa.Table"]


class Pending:
    """The rows of each stream that no closed timestamp has taken.

    Tables of the timestamp, the columns that are needed, and perhaps, last, of how many rows each one stands for.
    """

    def __init__(self, streams: Sequence[Stream], tables: Mapping[str, pa.Table] | None = None) -> None:
        self.kinds = {stream.name: _kinds(stream) for stream in streams}
        self.tables: Tables = {stream.name: _empty(stream) for stream in streams} | dict(tables or {})

    def add(self, stream: str, more: Sequence[pa.Table]) -> None:
        """Add rows of a stream, as tables that `open_rows` or `combined` gives."""
        import pyarrow as pa

        parts = [table for table in (self.tables[stream], *more) if table.num_rows]
        if len({table.num_columns for table in parts}) > 1:
            most = 2 + len(self.kinds[stream])
            parts = [table if table.num_columns == most else _each_once(table) for table in parts]
        if parts:
            self.tables[stream] = pa.concat_tables(parts)

    def open(self) -> Integers:
        """The timestamps that have rows."""
        return distinct_times([_times(table) for table in self.tables.values()])

    def rows(self) -> int:
        """How many rows there are, equal ones as one where they have been combined."""
        return sum(table.num_rows for table in self.tables.values())

    def timestamps(self) -> int:
        """How many timestamps have rows."""
        return len(self.open())

    def closed(self, until: int | None) -> dict[str, Delta]:
        """Take out the rows before a timestamp, or all, in order of time; empty without rows."""
        import pyarrow as pa

        closing: Tables = {}
        for name, table in self.tables.items():
            if until is None:
                closing[name], self.tables[name] = table, table.slice(0, 0)
            else:
                early = _times(table) < until
                everything = bool(early.all())
                closing[name] = table if everything else table.filter(pa.array(early))
                self.tables[name] = table.slice(0, 0) if everything else table.filter(pa.array(~early))
        if not any(table.num_rows for table in closing.values()):
            return {}
        return {name: delta_of_table(_in_order(table), self.kinds[name]) for name, table in closing.items()}


def delta_of_table(table: pa.Table, kinds: Mapping[str, SqlType]) -> Delta:
    """Rows in order of time as a delta; texts are places among them."""
    columns: dict[str, Values] = {}
    nulls, dictionary = {}, {}
    weight = table.column(len(kinds) + 1).to_numpy() if table.num_columns > len(kinds) + 1 else None
    for (name, kind), column in zip(kinds.items(), table.columns[1:], strict=False):
        values = column.combine_chunks()
        if values.null_count:
            nulls[name] = values.is_null().to_numpy(zero_copy_only=False)
        if kind.family == "string":
            columns[name], dictionary[name] = np.arange(len(values)), values
        else:
            columns[name] = _numbers(values, kind)
    return Delta(_times(table), weight, columns, nulls, dictionary)


def _numbers(values: pa.Array, kind: SqlType) -> Values:
    """Encoded values as an array, with anything where they are NULL."""
    if not kind.large:
        plain: Values = (values.fill_null(0) if values.null_count else values).to_numpy(zero_copy_only=False)
        return plain
    found = values.dictionary_encode()
    distinct = integers([int(value) for value in found.dictionary.to_pylist()] or [0])
    places: Integers = found.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return distinct[places]


def _kinds(stream: Stream) -> dict[str, SqlType]:
    types = {column.name: column.type for column in stream.columns}
    types |= {column.name: column.type for column in stream.derived}
    return {name: sql_type(types[name]) for name in stream.needs}


def _empty(stream: Stream) -> pa.Table:
    import pyarrow as pa

    fields = [pa.field("", pa.int64()), *(pa.field(name, kind.encoded) for name, kind in _kinds(stream).items())]
    return pa.schema(fields).empty_table()


def open_rows(stream: Stream, good: pa.Table) -> pa.Table:
    """The rows that a decoder gives, without their partitions, as `Pending` has them."""
    import pyarrow as pa

    schema = _empty(stream).schema
    columns = [column.cast(field.type) for column, field in zip(good.columns[1:], schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def combined(rows: pa.Table) -> pa.Table:
    """Open rows that are the same as one, with how many they are."""
    import pyarrow as pa

    names = [str(place) for place in range(rows.num_columns)]
    found = rows.rename_columns(names).group_by(names, use_threads=False).aggregate([([], "count_all")])
    columns = [*(found.column(name) for name in names), found.column("count_all")]
    return pa.table(columns, schema=_with_number(rows.schema))


def _each_once(rows: pa.Table) -> pa.Table:
    import pyarrow as pa

    ones = pa.array(np.ones(rows.num_rows, dtype=np.int64))
    return pa.table([*rows.columns, ones], schema=_with_number(rows.schema))


def _with_number(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return schema.append(pa.field("#", pa.int64()))


def _times(table: pa.Table) -> Integers:
    times: Integers = table.column(0).to_numpy()
    return times


def _in_order(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    times = _times(table)
    if (times[1:] >= times[:-1]).all():
        return table
    return table.take(pa.array(np.argsort(times, kind="stable")))
