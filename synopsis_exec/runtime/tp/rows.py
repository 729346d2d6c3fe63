"""Rows of a temporal-probabilistic relation in Arrow batches, and those of them that a sweep still needs.

A row is its values, its period from ``_b`` to before ``_e``, as integers, and its lineage in two columns: of a base row
``_lineage`` is the variable's name and ``_p`` its probability; of a derived one ``_lineage`` is what `encoding.encoded`
wrote, and ``_p`` is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

from streambound_runtime.arrays import Integers
from streambound_runtime.lineage.encoding import decoded
from streambound_runtime.lineage.formulas import Formula, variable
from streambound_runtime.periods.scanning import changes

BEGIN, END, LINEAGE, P = "_b", "_e", "_lineage", "_p"


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
