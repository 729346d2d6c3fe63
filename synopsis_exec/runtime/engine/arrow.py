"""Deltas as Arrow tables, in which they go to DuckDB and come back: the time ``t``, the columns, the weight ``w``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers, Values
from streambound_runtime.engine.tables import BIGINT, DOUBLE, EXACT, HUGEINT, VARCHAR, places
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.exact import LARGEST, greatest, integers
from streambound_runtime.operators.ordered import coded, order_of

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type of a column of the engine: integers beyond 64 bits travel as decimals."""
    import pyarrow as pa

    known = {BIGINT: pa.int64(), HUGEINT: pa.decimal128(38, 0), DOUBLE: pa.float64(), VARCHAR: pa.string()}
    return known[kind]


def table_of(delta: Delta, types: Sequence[str]) -> pa.Table:
    """A delta whose columns, in their order, have these types."""
    import pyarrow as pa

    columns = [_array(delta, name, kind) for name, kind in zip(delta.columns, types, strict=True)]
    weights = pa.array(np.ones(delta.size, dtype=np.int64)) if delta.weight is None else _weights(delta.weight)
    return pa.table([pa.array(delta.time), *columns, weights], names=["t", *places(len(types)), "w"])


def delta_of(table: pa.Table, names: Sequence[str]) -> Delta:
    """Rows in order of time as a delta whose columns have these names."""
    found: dict[str, Values] = {}
    nulls: dict[str, Mask] = {}
    for name, column in zip(names, table.columns[1:-1], strict=True):
        values = column.combine_chunks()
        if values.null_count:
            nulls[name] = values.is_null().to_numpy(zero_copy_only=False)
        found[name] = _values(values)
    return Delta(
        table.column(0).to_numpy(), _integers(table.column(table.num_columns - 1).combine_chunks()), found, nulls
    )


def consolidated(table: pa.Table, names: Sequence[str]) -> Delta:
    """As `delta_of`, in order of time and of the values, NULL first; equal rows are one, and of weight 0 none.

    A sort of codes of whole rows takes a fifth of DuckDB's GROUP BY and ORDER BY of all columns.
    """
    delta = delta_of(table, names)
    values = [_comparable(delta, name, column) for name, column in zip(names, table.columns[1:-1], strict=True)]
    codes, _ = coded([(delta.time, None), *values], delta.size)
    order = order_of(codes)
    codes, weights = codes[order], delta.weights()[order]
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    if len(starts) < delta.size:
        fit = weights.dtype == object or greatest(weights) * len(weights) <= LARGEST
        weights = np.add.reduceat(weights if fit else weights.astype(object), starts)
    there = np.flatnonzero(weights != 0)
    return replace(delta.take(order[starts[there]]), weight=weights[there])


def in_order(table: pa.Table, names: Sequence[str]) -> Delta:
    """As `delta_of`, in order of the values, NULL first; no two rows are equal."""
    delta = delta_of(table, names)
    order = np.arange(delta.size)
    for name, column in reversed([*zip(names, table.columns[1:-1], strict=True)]):
        codes, _ = coded([_comparable(delta, name, column)], delta.size)
        order = order[order_of(codes[order])]
    return delta.take(order)


def narrowed(table: pa.Table) -> pa.Table:
    """A table whose columns of whole decimals are of 64 bits where all fit."""
    import pyarrow as pa

    for place, column in enumerate(table.columns):
        if pa.types.is_decimal(column.type):
            try:
                found = column.cast(pa.int64())
            except pa.ArrowInvalid:
                continue
            plain = found if found.null_count else pa.array(found.to_numpy())  # without bits that say what is NULL
            table = table.set_column(place, table.column_names[place], plain)
    return table


def _comparable(delta: Delta, name: str, column: pa.ChunkedArray) -> tuple[Values, Mask | None]:
    """A column in which values are as large as they are in order: of texts their places among these."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return delta.columns[name], delta.nulls.get(name)
    encoded = column.combine_chunks().dictionary_encode()
    places = np.empty(len(encoded.dictionary), dtype=np.int64)
    places[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(places))
    found = places[encoded.indices.fill_null(0).to_numpy()] if len(places) else np.zeros(delta.size, dtype=np.int64)
    return found, delta.nulls.get(name)


def _array(delta: Delta, name: str, kind: str) -> pa.Array:
    """A column of a delta; what operators of rows give are Python's values, doubles and their sums as fractions."""
    import pyarrow as pa

    values, null, type = delta.columns[name], delta.nulls.get(name), arrow_type(kind)
    if not delta.size:
        return pa.array([], type)
    if name in delta.dictionary:
        return delta.texts(name)
    if values.dtype != object:
        if kind == HUGEINT:
            return pa.array(values, pa.int64(), mask=null).cast(type)
        return pa.array(values, type, mask=null)
    listed = values.tolist() if null is None else [None if n else v for v, n in zip(values.tolist(), null, strict=True)]
    if kind == DOUBLE:
        listed = [None if value is None else float(value) for value in listed]
    if kind == EXACT:
        from streambound_runtime.engine.exact_sums import exact_text

        listed = [exact_text(value) if isinstance(value, int | Fraction) else value for value in listed]
    return pa.array(listed, type)


def _weights(weight: Values) -> pa.Array:
    import pyarrow as pa

    if weight.dtype != object:
        return pa.array(weight, pa.int64())
    return pa.array([int(n) for n in weight.tolist()], pa.decimal128(38, 0))


def _values(column: pa.Array) -> Values:
    """Values as an array, with anything where they are NULL."""
    import pyarrow as pa

    if column.null_count:
        column = column.fill_null("" if pa.types.is_string(column.type) else 0)
    if pa.types.is_decimal(column.type):
        return _integers(column)
    found: Values = column.to_numpy(zero_copy_only=False)
    return found


def _integers(column: pa.Array) -> Numbers:
    """Decimals without fractions: in 64 bits, or as Python's integers where some do not fit."""
    import pyarrow as pa

    try:
        found: Integers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return integers([int(value) for value in column.to_pylist()])
    return found if not len(found) or greatest(found) <= LARGEST else found.astype(object)
