"""A SEQ VT statement as batch queries in Spark at single points of time, and the rows with periods of a run.

At a point of time the SQL inside of the block is run over the rows that are valid then, without their periods; the
run's rows that are valid then must be the same multiset. That is the definition (Dignös et al., Definition 5.3), and
nothing is shared with what evaluates periods.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.recheck.oracle.spark_batch import (
    BatchComparison,
    BatchStatement,
    Cell,
    Snapshots,
    first_difference,
    quoted,
    refusals,
    show,
)
from streambound.recheck.oracle.spark_prefixes import comparable, counted
from streambound.recheck.oracle.stamped import NUMBER, TIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_SNAPSHOTS = 24
"""Points of time that are compared; of more, that many at random."""
_TOGETHER = 6
"""Points of time that are evaluated in one job."""
_BEGIN, _END = "_begin", "_end"


def compare_snapshots(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, seed: int = 0
) -> BatchComparison:
    """A run's output, JSON lines with ``_begin``, ``_end`` and ``_mult``, against the snapshots of the same rows.

    ``folder`` has a directory of JSON lines for each table. Results are counted by point of time. Where the run's rows
    are the longest, one that could be longer is a difference, too: 2 rows where 1 is expected. Raises StreamboundError
    for what Spark refuses.
    """
    with refusals():
        try:
            return _Snapshots.of(spark, statement, folder, output).compared(Random(f"snapshots {seed}"))
        finally:
            spark.catalog.clearCache()


class _Snapshots(Struct, frozen=True):
    """The rows of each table, and what the run has printed, with its time as numbers."""

    spark: SparkSession
    text: str
    line: Snapshots
    names: list[str]
    tables: list[tuple[DeclaredTable, DataFrame]]
    found: DataFrame

    @staticmethod
    def of(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> _Snapshots:
        line = statement.snapshots
        assert line is not None, "the statement is evaluated at points of time"
        shown = show(spark, statement.tree, statement.catalog, folder)
        tables = [(table, spark.table(quoted(table.name)).persist()) for table in shown]
        for table, rows in tables:
            visible(table, rows).createOrReplaceTempView(quoted(table.name))
        written = spark.sql(statement.text)
        kind = next(column for table in shown for column in bounds(table))
        names = [f"c{number}" for number in range(len(statement.columns))]
        found = _printed(spark, statement, written, output, kind)
        periods = [_BEGIN, _END] if not line.as_of else []
        found = comparable(found.toDF(*names, *periods, NUMBER)).persist()
        return _Snapshots(spark, statement.text, line, names, tables, found)

    def compared(self, random: Random) -> BatchComparison:
        """The chosen points of time, and whether rows could be longer."""
        points = self._points()
        strays = [] if self.line.as_of else self._strays(points)
        chosen = points
        if len(points) > MOST_SNAPSHOTS:
            inner = random.sample(points[1:-1], MOST_SNAPSHOTS - 2)
            chosen = [points[0], *sorted(inner), points[-1]]
        chosen = sorted({*chosen, *strays[:MOST_SNAPSHOTS]})
        if not chosen:
            return self._against([], 0)
        result = self._against(chosen, points[-1] if points else None)
        return result if result.cells or self.line.as_of or self.line.summed else self._longest(result)

    def _points(self) -> list[int]:
        """Where something may change, in order; the last one is where all is over."""
        if self.line.as_of:  # which looks at no row
            return self.line.points(set())
        return self.line.points(
            {
                row[0]
                for table, rows in self.tables
                for column in bounds(table)
                for row in rows.selectExpr(as_number(quoted(column.name), column.type.family)).distinct().collect()
            }
        )

    def _strays(self, points: Sequence[int]) -> list[int]:
        """Where the run's rows begin or end, and nothing changes."""
        rows = self.found.selectExpr(f"explode(array({_BEGIN}, {_END})) AS t").distinct().collect()
        return sorted({row[0] for row in rows} - {*points})

    def _against(self, chosen: Sequence[int], last: int | None) -> BatchComparison:
        """The run's rows that are valid at points of time, against the SQL; from the last one on there are none."""
        over = None if self.line.as_of else last
        parts = [self._at(point) for point in chosen if over is None or point < over]
        # A join is a sort of its own at each point of time, and a task has one memory for all of them.
        several = [parts[n : n + _TOGETHER] for n in range(0, len(parts), _TOGETHER)]
        made = [reduce(lambda left, right: left.unionAll(right), some).localCheckpoint() for some in several]
        expected = reduce(lambda left, right: left.unionAll(right), made, self._none())
        expected = counted(expected, [*self.names, TIME]).persist()
        size = expected.selectExpr(f"coalesce(sum({NUMBER}), 0) AS n", f"count(DISTINCT {TIME}) AS t").first()
        assert size is not None
        found = self._valid(chosen)
        different = first_difference(self.names, expected, counted(found, [*self.names, TIME]))
        return BatchComparison(size.n, size.t, *(different or ()))

    def _none(self) -> DataFrame:
        rows = self.found.selectExpr(*self.names, f"0L AS {TIME}", NUMBER)
        return rows.where("false")

    def _valid(self, chosen: Sequence[int]) -> DataFrame:
        """The run's rows at points of time."""
        if self.line.as_of:
            return self.found.selectExpr(*self.names, f"{chosen[0] if chosen else 0}L AS {TIME}", NUMBER)
        times = self.spark.createDataFrame([(point,) for point in chosen], f"{TIME} BIGINT")
        rows = self.found.join(times, (times[TIME] >= self.found[_BEGIN]) & (times[TIME] < self.found[_END]))
        return rows.select(*self.names, TIME, NUMBER)

    def _at(self, point: int) -> DataFrame:
        """The SQL's result on the rows that are valid at a point of time."""
        for table, rows in self.tables:
            ends = bounds(table)
            if ends:
                begin, end = (as_number(quoted(one.name), one.type.family) for one in ends)
                rows = rows.where(f"{begin} <= {point}L AND {point}L < {end}")
            visible(table, rows).createOrReplaceTempView(quoted(table.name))
        rows = comparable(self.spark.sql(self.text).toDF(*self.names))
        return rows.selectExpr(*self.names, f"{point}L AS {TIME}", f"1L AS {NUMBER}")

    def _longest(self, result: BatchComparison) -> BatchComparison:
        """The result, or a row that goes on as the same one."""
        keys = ", ".join(self.names) or "1"
        window = f"OVER (PARTITION BY {keys} ORDER BY {_BEGIN}, {_END})"
        rows = self.found.selectExpr("*", f"lag({_END}) {window} AS e", f"lag({NUMBER}) {window} AS n")
        cut = f"e > {_BEGIN}" + (f" OR (e = {_BEGIN} AND n = {NUMBER})" if self.line.whole else "")
        first = rows.where(cut).orderBy(_BEGIN).first()
        if first is None:
            return result
        values = tuple("NULL" if first[name] is None else str(first[name]) for name in self.names)
        return BatchComparison(result.results, result.timestamps, first[_BEGIN], (Cell(values, 1, 2),))


def bounds(table: DeclaredTable) -> list[Column]:
    """The columns of a table's begin and end."""
    if table.period is None:
        return []
    names = (table.period.begin, table.period.end)
    return [column for name in names for column in table.columns if column.name == name]


def visible(table: DeclaredTable, rows: DataFrame, probabilistic: bool = False) -> DataFrame:
    """The columns that SQL in a block sees: no periods, and for ``probabilistic`` rows no keys and probabilities."""
    return rows if table.period is None else rows.drop(*table.period.hidden(probabilistic))


def _printed(
    spark: SparkSession, statement: BatchStatement, written: DataFrame, output: Path, kind: Column
) -> DataFrame:
    """A run's output: its columns, of Spark's types for the statement, its periods as numbers, and how many."""
    names = [quoted(column) for column in statement.columns]
    kinds = ["STRING" if k == "void" else k for k in (field.dataType.simpleString() for field in written.schema)]
    periods = [] if statement.snapshots is not None and statement.snapshots.as_of else [_BEGIN, _END]
    schema = [f"{name} {type}" for name, type in zip(names, kinds, strict=True)]
    schema += [f"{name} {kind.type.name}" for name in periods]
    rows = spark.read.schema(", ".join([*schema, f"{NUMBER} BIGINT"])).option("mode", "FAILFAST").json(str(output))
    numbers = [f"{as_number(quoted(name), kind.type.family)} AS {name}" for name in periods]
    return rows.selectExpr(*names, *numbers, NUMBER)


def as_number(name: str, family: Family) -> str:
    """A column of points of time as a number, in SQL."""
    match family:
        case Family.TIMESTAMP:
            return f"unix_micros(CAST({name} AS TIMESTAMP))"
        case Family.DATE:
            return f"CAST(unix_date({name}) AS BIGINT)"
    return f"CAST({name} AS BIGINT)"
