"""The entries of a table as columns, as pairs of a key and a number, and as Arrow, as which state travels."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Mask, Numbers, Values
from streambound_runtime.operators.exact import LARGEST, integers
from streambound_runtime.operators.frame import ColumnFrame
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa

State = dict[str, "pa.Table"]
"""What an operator has to remember: Arrow tables by name."""

COUNT = "#"
"""The column of the numbers."""
Pairs = Iterable[tuple[tuple[Value, ...], int]]


def frame_of_pairs(pairs: Pairs, names: tuple[str, ...], texts: Collection[str]) -> ColumnFrame:
    """Keys of these columns with their numbers as columns."""
    found = list(pairs)
    columns, nulls = {}, {}
    for place, name in enumerate(names):
        columns[name], null = column_of([key[place] for key, _ in found], name in texts)
        if null is not None:
            nulls[name] = null
    return ColumnFrame(np.zeros(len(found), dtype=np.int64), integers([n for _, n in found]), columns, nulls)


def column_of(values: Sequence[Value], text: bool = False) -> tuple[Values, Mask | None]:
    """Values as an array, and where they are NULL; None where none is."""
    null = np.array([value is None for value in values], dtype=bool)
    if text:
        found = np.array(["" if value is None else value for value in values], dtype=object)
    elif any(isinstance(value, float) for value in values):
        found = np.array([0.0 if value is None else float(value) for value in values])
    else:
        found = integers([0 if value is None else int(value) for value in values])
    return found, null if null.any() else None


# --- Arrow -----------------------------------------------------------------------------------------------------------


def arrow_of_frame(frame: ColumnFrame, names: tuple[str, ...]) -> pa.Table:
    """A frame as an Arrow table; integers beyond 64 bits are decimals of 76 digits."""
    import pyarrow as pa

    arrays = [_array(frame.columns[name], frame.nulls.get(name)) for name in names]
    n = np.ones(frame.size, dtype=np.int64) if frame.n is None else frame.n
    return pa.table([*arrays, _array(n, None)], names=[*names, COUNT])


def _array(values: Values, null: Mask | None) -> pa.Array:
    import pyarrow as pa

    if values.dtype != object:
        return pa.array(values, mask=null)
    found = values.tolist()
    if null is not None:
        found = [None if gone else value for value, gone in zip(found, null, strict=True)]
    if any(isinstance(value, str) for value in found) or all(value is None for value in found):
        return pa.array(found, type=pa.string())
    large = any(value is not None and not -LARGEST - 1 <= value <= LARGEST for value in found)
    return pa.array(found, type=pa.decimal256(76) if large else pa.int64())


def frame_of_arrow(table: pa.Table, names: tuple[str, ...], texts: Collection[str]) -> ColumnFrame:
    """The frame that `arrow_of_frame` made a table of."""
    columns, nulls = {}, {}
    for name in names:
        column = table.column(name).combine_chunks()
        if column.null_count:
            nulls[name] = column.is_null().to_numpy(zero_copy_only=False)
        if name in texts:
            columns[name] = np.array([value or "" for value in column.to_pylist()], dtype=object)
        else:
            columns[name] = _numbers(column)
    n = _numbers(table.column(COUNT).combine_chunks())
    return ColumnFrame(np.zeros(table.num_rows, dtype=np.int64), n, columns, nulls)


def _numbers(column: pa.ChunkedArray) -> Numbers:
    import pyarrow as pa

    if pa.types.is_decimal(column.type) or pa.types.is_string(column.type):
        return integers([0 if value is None else int(value) for value in column.to_pylist()])
    found: Numbers = (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)
    return found


def pairs_of_arrow(table: pa.Table) -> list[tuple[tuple[Value, ...], int]]:
    """The keys of an Arrow table with their numbers."""
    *keys, counts = [_plain(column) for column in table.columns]
    rows = list(zip(*keys, strict=True)) if keys else [()] * table.num_rows
    return list(zip(rows, map(integer, counts), strict=True))


def _plain(column: pa.ChunkedArray) -> list[Value]:
    import pyarrow as pa

    values: list[Value] = column.to_pylist()
    if pa.types.is_decimal(column.type):
        return [None if value is None else int(value) for value in values]
    return values


def arrow_of_pairs(pairs: Pairs, names: tuple[str, ...]) -> pa.Table:
    """Keys of these columns with their numbers as an Arrow table."""
    import pyarrow as pa

    found = list(pairs)
    arrays = [_array_of_values([key[place] for key, _ in found]) for place in range(len(names))]
    arrays.append(_array_of_values([n for _, n in found]))
    return pa.table(arrays, names=[*names, COUNT])


def _array_of_values(values: list[Value]) -> pa.Array:
    import pyarrow as pa

    if any(isinstance(value, float) for value in values):
        return pa.array(values, type=pa.float64())
    return _array(np.array(values, dtype=object), None)


def lines_of_json(entries: Sequence[object]) -> pa.Table:
    """Entries as lines of JSON, whose integers have any number of digits."""
    import pyarrow as pa

    return pa.table({"entry": pa.array([json.dumps(one) for one in entries], pa.string())})


def from_lines_of_json(table: pa.Table) -> list[list[object]]:
    """What `lines_of_json` was given, with lists for tuples."""
    return [json.loads(one) for one in table.column(0).to_pylist()]
