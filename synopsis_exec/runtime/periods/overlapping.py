"""Pairs of rows of two DataFrames that agree in keys and are valid together, by one scan of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from streambound_runtime.arrays import Integers
from streambound_runtime.periods.frames import BEGIN, END
from streambound_runtime.periods.scanning import SIDE, scanned

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    Batches = Iterator[pa.RecordBatch]

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
        cells += [f"{'lr'[number]}b AS {BEGIN}", f"{'lr'[number]}e AS {END}", f"{number} AS {SIDE}"]
        for other, columns in enumerate(kinds):
            cells += [
                name if other == number else f"CAST(NULL AS {kind.simpleString()}) AS {name}"
                for name, kind in columns.items()
            ]
        there = " AND ".join(f"{name} IS NOT NULL" for name in own)
        tagged.append((side.where(there) if there else side).selectExpr(*cells))
    names = [f"_k{place}" for place in range(len(keys))]
    rows = tagged[0].unionAll(tagged[1])
    rows = (rows.repartition(*names) if names else rows.coalesce(1)).sortWithinPartitions(*names, BEGIN)
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
        for found in scanned(self.keys, batches):
            if len(found.left):
                yield from self._batch(found.rows, found.left, found.right)

    def _batch(self, rows: pa.Table, left: Integers, right: Integers) -> Batches:
        import pyarrow as pa

        sides = ((self.left, left), (self.right, right))
        columns = [table for names, at in sides for table in rows.select(list(names)).take(pa.array(at)).columns]
        made = pa.Table.from_arrays(columns, [*self.left, *self.right])
        yield from made.combine_chunks().to_batches()
