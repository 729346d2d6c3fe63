"""Pairs of rows of two sides that agree in keys and are valid together, by one scan in order of begin.

Rows of both sides lie in one order, by key and begin. A row makes pairs with the rows of the other side that follow it
and begin before it ends: they lie side by side, so that a batch's pairs are found by two searches. What is still valid
at the end of a batch is carried to the next one. Only pairs that overlap are looked at, and only what is valid is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    Batches = Iterator[pa.RecordBatch]

_PAIRS = 65_536
"""Pairs that are given at a time, or more where one row has more."""
_BEGIN, _END, _COUNT, _SIDE = "_begin", "_end", "_count", "_side"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def can_scan(left: DataFrame, right: DataFrame, keys: Sequence[tuple[str, str]]) -> bool:
    """Whether equal keys have equal values in one column: those of one type, and numbers."""
    kinds = [(dict(left.dtypes)[mine], dict(right.dtypes)[theirs]) for mine, theirs in keys]
    return all(one == two or (one in _NUMBERS and two in _NUMBERS) for one, two in kinds)


def overlapping(left: DataFrame, right: DataFrame, keys: Sequence[tuple[str, str]]) -> DataFrame:
    """All columns of both sides, for each pair; ``lb``, ``le``, ``rb`` and ``re`` are when they are valid.

    ``keys`` are columns of either side. Rows with a NULL among them match nothing.
    """
    from pyspark.sql.types import StructField, StructType

    sides = (left, right)
    kinds = [{field.name: field.dataType for field in side.schema.fields} for side in sides]
    tagged = []
    for number, side in enumerate(sides):
        own = [pair[number] for pair in keys]
        cells = [f"{_normal(name, kinds[number][name])} AS _k{place}" for place, name in enumerate(own)]
        cells += [f"{'lr'[number]}b AS {_BEGIN}", f"{'lr'[number]}e AS {_END}", f"{number} AS {_SIDE}"]
        for other, columns in enumerate(kinds):
            cells += [
                name if other == number else f"CAST(NULL AS {kind.simpleString()}) AS {name}"
                for name, kind in columns.items()
            ]
        there = " AND ".join(f"{name} IS NOT NULL" for name in own)
        tagged.append((side.where(there) if there else side).selectExpr(*cells))
    names = [f"_k{place}" for place in range(len(keys))]
    rows = tagged[0].unionAll(tagged[1])
    rows = (rows.repartition(*names) if names else rows.coalesce(1)).sortWithinPartitions(*names, _BEGIN)
    fields = [StructField(name, kind) for part in kinds for name, kind in part.items()]
    scan = PairScan(tuple(names), tuple(kinds[0]), tuple(kinds[1]))
    return rows.mapInArrow(scan.pairs, StructType(fields))


def _normal(name: str, kind: DataType) -> str:
    """A key with one value for each that is equal."""
    floating = kind.simpleString() in ("float", "double")
    return f"nanvl({name} + 0.0D, double('NaN'))" if floating else name


class PairScan:
    """The scan over the rows of a partition, sorted by keys and begin."""

    def __init__(self, keys: tuple[str, ...], left: tuple[str, ...], right: tuple[str, ...]) -> None:
        self.keys, self.left, self.right = keys, left, right

    def pairs(self, batches: Batches) -> Batches:
        """The pairs of all rows."""
        import pyarrow as pa

        carried: pa.Table | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            rows = pa.Table.from_batches([batch])
            before = 0
            if carried is not None and carried.num_rows:
                before = carried.num_rows
                rows = pa.concat_tables([carried, rows])
            rows = rows.combine_chunks()
            groups = self._groups(rows)
            begin, end, side = (np.asarray(rows.column(name)) for name in (_BEGIN, _END, _SIDE))
            yield from self._found(rows, groups, begin, end, side, before)
            open_ones = (groups == groups[-1]) & (end > begin[-1])
            carried = rows.filter(pa.array(open_ones))

    def _groups(self, rows: pa.Table) -> Integers:
        """The number of each row's group."""
        changed = np.zeros(rows.num_rows, dtype=np.int64)
        for name in self.keys:
            changed[1:] |= _differs(rows.column(name).combine_chunks())
        return np.cumsum(changed)

    def _found(
        self, rows: pa.Table, groups: Integers, begin: Integers, end: Integers, side: Integers, before: int
    ) -> Batches:
        """The pairs of which one row, at least, is none of those that were carried."""
        size = len(begin)
        _, ranks = np.unique(np.concatenate([begin, end]), return_inverse=True)
        starts, ends = (groups * (2 * size + 1) + part for part in (ranks[:size], ranks[size:]))
        until = np.searchsorted(starts, ends, side="left")  # of the rows that begin before each ends
        places = np.arange(size)
        for mine in (0, 1):
            firsts, others = np.flatnonzero(side == mine), np.flatnonzero(side != mine)
            low = np.searchsorted(others, np.maximum(places[firsts] + 1, before))
            high = np.searchsorted(others, until[firsts])
            counts = np.maximum(high - low, 0)
            for part in _parts(counts):
                number = counts[part]
                total = int(number.sum())
                if not total:
                    continue
                first = np.repeat(firsts[part], number)
                offsets = np.arange(total) - np.repeat(np.cumsum(number) - number, number)
                other = others[np.repeat(low[part], number) + offsets]
                yield from self._batch(rows, *((first, other) if mine == 0 else (other, first)))

    def _batch(self, rows: pa.Table, left: Integers, right: Integers) -> Batches:
        import pyarrow as pa

        sides = ((self.left, left), (self.right, right))
        columns = [table for names, at in sides for table in rows.select(list(names)).take(pa.array(at)).columns]
        made = pa.Table.from_arrays(columns, [*self.left, *self.right])
        yield from made.combine_chunks().to_batches()


def _parts(counts: Integers) -> Iterator[slice]:
    """Stretches of rows with about as many pairs as are given at a time."""
    totals, start = np.cumsum(counts), 0
    while start < len(counts):
        before = int(totals[start - 1]) if start else 0
        stop = max(int(np.searchsorted(totals, before + _PAIRS, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def _differs(column: pa.Array) -> Mask:
    """Whether each value but the first is another than the one before it; all NaNs are one value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        bits = np.asarray(column.cast(pa.float64())).view(np.int64)
        changed: Mask = bits[1:] != bits[:-1]
        return changed
    if pa.types.is_nested(column.type):
        values = column.to_pylist()
        return np.array([one != other for one, other in zip(values[1:], values, strict=False)], dtype=bool)
    unequal = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)).cast(pa.int8())
    found: Mask = np.asarray(unequal).astype(bool)
    return found
