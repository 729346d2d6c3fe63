"""Rows of a temporal-probabilistic relation in Arrow batches, and those of them that are still needed.

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

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.lineage.encoding import decoded
from streambound_runtime.lineage.formulas import Formula, variable

BEGIN, END, LINEAGE, P = "_b", "_e", "_lineage", "_p"
SIDE = "_side"
"""Whether a row of a set operation is one of its right side."""


def formula_of(lineage: str, p: float | None) -> Formula:
    """The formula of a row."""
    return _decoded(lineage) if p is None else variable(lineage, p)


_decoded = lru_cache(maxsize=1024)(decoded)


def same(left: Sequence[pa.Scalar], right: Sequence[pa.Scalar]) -> bool:
    """Whether two rows, each a scalar a column, have equal values."""
    pairs = zip(left, right, strict=True)
    return not changes([pa.array([one.as_py(), other.as_py()], one.type) for one, other in pairs], 2)[1]


def values_at(rows: pa.Table, name: str, places: pa.Array) -> pa.Array:
    """A column's values at some places; NULL at NULL."""
    found = rows.column(name).take(places)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


class Carried:
    """The rows of earlier batches that are still needed, before those of the current one."""

    def __init__(self) -> None:
        self._rows: pa.Table | None = None

    @property
    def rows(self) -> pa.Table:
        """All of them, once there is a batch."""
        assert self._rows is not None, "there is a batch"
        return self._rows

    def add(self, batch: pa.RecordBatch) -> int:
        """Take in a batch; returns the place of its first row."""
        rows = pa.Table.from_batches([batch])
        before = 0 if self._rows is None else self._rows.num_rows
        self._rows = pa.concat_tables([self._rows, rows]).combine_chunks() if before else rows
        return before

    def keep(self, places: Sequence[int] | Integers) -> None:
        """Forget all rows but these; the first of them is at place 0 now."""
        if self._rows is not None:
            self._rows = self._rows.take(pa.array(places, pa.int64()))


def changes(columns: Sequence[pa.Array], size: int) -> Mask:
    """For each row whether it differs from the one before, as the first does; NULLs are equal, and so are NaNs."""
    found = np.zeros(size, dtype=bool)
    found[:1] = True
    for column in columns:
        found[1:] |= _differs(column)
    return found


def _differs(column: pa.Array) -> Mask:
    """Whether each value but the first is another than the one before it."""
    if pa.types.is_nested(column.type):
        return np.array([one != other for one, other in pairwise(column.to_pylist())], dtype=bool)
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    unequal = pc.fill_null(pc.not_equal(before, after), False)
    if pa.types.is_floating(column.type):
        unequal = pc.and_(unequal, pc.invert(pc.fill_null(pc.and_(pc.is_nan(before), pc.is_nan(after)), False)))
    if column.null_count:
        unequal = pc.or_(unequal, pc.xor(pc.is_null(before), pc.is_null(after)))
    found: Mask = unequal.to_numpy(zero_copy_only=False)
    return found
