"""Entries as Arrow, as which state travels: pairs of a key and a number, and lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Mask, Values
from streambound_runtime.operators.exact import LARGEST, integers
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa

State = dict[str, "pa.Table"]
"""What an operator has to remember: Arrow tables by name."""

COUNT = "#"
"""The column of the numbers."""
Pairs = Iterable[tuple[tuple[Value, ...], int]]


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
    """Values of one type; integers beyond 64 bits are decimals of 76 digits."""
    import pyarrow as pa

    some = [value for value in values if value is not None]
    if any(isinstance(value, float) for value in some):
        return pa.array(values, type=pa.float64())
    if not some or isinstance(some[0], str):
        return pa.array(values, type=pa.string())
    large = any(not -LARGEST - 1 <= value <= LARGEST for value in map(integer, some))
    return pa.array(values, type=pa.decimal256(76) if large else pa.int64())


def lines_of_json(entries: Sequence[object]) -> pa.Table:
    """Entries as lines of JSON, whose integers have any number of digits."""
    import pyarrow as pa

    return pa.table({"entry": pa.array([json.dumps(one) for one in entries], pa.string())})


def from_lines_of_json(table: pa.Table) -> list[list[object]]:
    """The argument of `lines_of_json`, with lists for tuples."""
    return [json.loads(one) for one in table.column(0).to_pylist()]
