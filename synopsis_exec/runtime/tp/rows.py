"""Rows of a temporal-probabilistic relation in Arrow batches, and those of them that a sweep still needs.

A row is its values, its period from ``_b`` to before ``_e``, as integers, and its lineage in two columns: of a base row
``_lineage`` is the variable's name and ``_p`` its probability; of a derived one ``_lineage`` is what `encoding.encoded`
wrote, and ``_p`` is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streambound_runtime.arrays import Mask
from streambound_runtime.lineage.encoding import decoded
from streambound_runtime.lineage.formulas import Formula, variable

BEGIN, END, LINEAGE, P = "_b", "_e", "_lineage", "_p"


def formula_of(lineage: str, p: float | None) -> Formula:
    """The formula of a row."""
    return _decoded(lineage) if p is None else variable(lineage, p)


_decoded = lru_cache(maxsize=1024)(decoded)


def starts(columns: Sequence[pa.Array], count: int) -> list[bool]:
    """For each row whether it differs from the one before, as the first does; NULLs are equal, and so are NaNs."""
    changes = np.zeros(count, dtype=bool)
    if count:
        changes[0] = True
    for column in columns:
        changes[1:] |= _differs(column)
    found: list[bool] = changes.tolist()
    return found


def same(left: Sequence[pa.Scalar], right: Sequence[pa.Scalar]) -> bool:
    """Whether two rows, each a scalar a column, have equal values."""
    return not any(
        _differs(pa.concat_arrays([_array(one), _array(other)])).any() for one, other in zip(left, right, strict=True)
    )


def _array(scalar: pa.Scalar) -> pa.Array:
    return pa.array([scalar.as_py()], scalar.type)


def _differs(column: pa.Array) -> Mask:
    """Whether each value but the first differs from the one before."""
    if pa.types.is_nested(column.type):
        values = column.to_pylist()
        return np.array([one != other for one, other in pairwise(values)], dtype=bool)
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    unequal = pc.fill_null(pc.not_equal(before, after), False)
    if pa.types.is_floating(column.type):
        unequal = pc.and_(unequal, pc.invert(pc.fill_null(pc.and_(pc.is_nan(before), pc.is_nan(after)), False)))
    one_is_null = pc.xor(pc.is_null(before), pc.is_null(after))
    found: Mask = pc.or_(unequal, one_is_null).to_numpy(zero_copy_only=False)
    return found


class Carried:
    """The rows of earlier batches that are still needed, before those of the current one."""

    def __init__(self) -> None:
        self.table: pa.Table | None = None

    def add(self, batch: pa.RecordBatch) -> int:
        """Take in a batch; returns the place of its first row."""
        table = pa.Table.from_batches([batch])
        before = 0 if self.table is None else self.table.num_rows
        self.table = table if not before else pa.concat_tables([self.table, table]).combine_chunks()
        return before

    def keep(self, places: Sequence[int]) -> None:
        """Forget all rows but these; the first of them is at place 0 now."""
        if self.table is not None:
            self.table = self.table.take(pa.array(places, pa.int64()))

    def column(self, name: str, places: Sequence[int | None]) -> pa.Array:
        """A column's values at some places; NULL at None."""
        assert self.table is not None, "there is a batch"
        found = self.table.column(name).take(pa.array(places, pa.int64()))
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
