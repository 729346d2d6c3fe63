"""A statement as batch queries in Spark over prefixes of its streams, and the changes that a run has printed.

At a timestamp a run prints the statement's result on all rows up to it, minus its result before, as
multisets; all printed changes add up to the result on all rows. The statement is run as it is
written; nothing is shared with what computes the changes incrementally.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.changes import ChangeFormat
from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.evident import plain_value
from streambound.analyzer.types import Family
from streambound.recheck.oracle.change_records import changes_in_records
from streambound.recheck.oracle.relation_states import Row, RowChange, last_rows, states
from streambound.recheck.oracle.spark_batch import (
    BatchComparison,
    BatchStatement,
    first_difference,
    is_moment,
    printed,
    quoted,
    refusals,
    schema_of,
    show,
)
from streambound.recheck.oracle.stamped import NUMBER, TIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
from streambound.recheck.oracle.versions import FROM, TO, has_versions, over_versions, versions, view_of_versions

RETRACTING, OTHERS = 6, 2
"""Timestamps that are compared beside the first two and the last: with retractions, and others."""
DIGITS = 9
"""Digits to which doubles are compared: batch SQL adds them up in any order, and rounds each sum."""


def compare_prefixes(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, seed: int = 0
) -> BatchComparison:
    """A run's output, JSON lines with ``_ts`` and a signed ``_mult``, against the statement over the same rows.

    ``folder`` has a directory of JSON lines for each table. The first two timestamps, the last one, and some of the
    others are compared, those with retractions first; and the sum of all changes, whose first difference is searched
    for by halving. Raises StreamboundError for what Spark refuses.
    """
    with refusals():
        both = _Prefixes.of(spark, statement, folder, output)
        try:
            return both.compared(Random(f"prefixes {seed}"))
        finally:
            spark.catalog.clearCache()


def compare_final(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> BatchComparison:
    """A run's final results, as `compare_prefixes` takes them, against the statement over all rows.

    They are compared at the last timestamp, whatever theirs is: each is printed once, and none is taken back. Raises
    StreamboundError for what Spark refuses.
    """
    with refusals():
        both = _Prefixes.of(spark, statement, folder, output)
        try:
            return both.at_the_end()
        finally:
            spark.catalog.clearCache()


States = dict[str, tuple["DataFrame", list[tuple[int, list[Row]]]]]
"""Of relations that change: no row of each, and its rows from each time of a change on."""


class _Prefixes(Struct, frozen=True):
    """The streams' rows, what the run has printed, and all timestamps in order."""

    spark: SparkSession
    text: str
    names: list[str]
    streams: dict[str, tuple[DataFrame, str]]
    """All rows of each stream, and its time as a number."""
    relations: States
    found: DataFrame
    moments: list[int]

    @staticmethod
    def of(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> _Prefixes:
        names = [f"c{number}" for number in range(len(statement.columns))]
        tables, relations, text = _shown(spark, statement, folder)
        written = without_structs(spark.sql(text))
        printed_rows = printed(spark, statement, written, output, any(map(is_moment, tables)))
        found = comparable(printed_rows.toDF(*names, TIME, NUMBER)).persist()
        streams = {
            table.name: (spark.table(quoted(table.name)).persist(), _time(table))
            for table in tables
            if table.kind is not Kind.RELATION
        }
        times = {row[0] for rows, time in streams.values() for row in rows.selectExpr(time).distinct().collect()}
        times.update(time for _, mine in relations.values() for time, _ in mine)
        if statement.batches and times:
            times = {max(times)} | {row[0] for row in found.select(TIME).distinct().collect()}
        return _Prefixes(spark, text, names, streams, relations, found, sorted(times))

    def compared(self, random: Random) -> BatchComparison:
        """The chosen timestamps, those that the run has made up, and the sum."""
        if not self.moments:
            return self._compared([], self.found)
        wrong = self._beyond()
        chosen = self._chosen(random)
        known = self.found.where(self.found[TIME].isin([self.moments[place] for place in chosen]))
        result = self._compared(chosen, known.unionAll(wrong))
        if not result.equal or self._adds_up(len(self.moments) - 1):
            return result
        first = self._first_wrong_sum()
        there = self._compared([first], self.found.where(self.found[TIME] == self.moments[first]))
        return BatchComparison(result.results, result.timestamps, there.timestamp, there.cells)

    def at_the_end(self) -> BatchComparison:
        """Compare all printed changes together with the statement's result on all rows."""
        if not self.moments:
            return self._compared([], self.found)
        now, keys = self.moments[-1], [*self.names, TIME]
        found = self.found.selectExpr(*self.names, f"{now}L AS {TIME}", f"abs({NUMBER}) AS {NUMBER}")
        rows = self._upto(len(self.moments) - 1).selectExpr(*self.names, f"{now}L AS {TIME}", f"1L AS {NUMBER}")
        expected = counted(rows, keys).persist()
        size = expected.selectExpr(f"coalesce(sum({NUMBER}), 0) AS n").first()
        assert size is not None
        return BatchComparison(size.n, 1, *(first_difference(self.names, expected, counted(found, keys)) or ()))

    def _chosen(self, random: Random) -> list[int]:
        """The places of the timestamps that are compared."""
        last = len(self.moments) - 1
        always = {0, min(1, last), last}
        rows = self.found.where(f"{NUMBER} < 0").select(TIME).distinct().collect()
        known = {moment: place for place, moment in enumerate(self.moments)}
        retracting = sorted({known[row[0]] for row in rows if row[0] in known} - always)
        always.update(random.sample(retracting, min(RETRACTING, len(retracting))))
        others = sorted(set(range(last + 1)) - always)
        return sorted(always.union(random.sample(others, min(OTHERS, len(others)))))

    def _beyond(self) -> DataFrame:
        """Results that were printed at times that no row has."""
        times = self.spark.createDataFrame([(moment,) for moment in self.moments], f"{TIME} BIGINT")
        return self.found.join(times, TIME, "left_anti").select(*self.found.columns)

    def _compared(self, places: Sequence[int], found: DataFrame) -> BatchComparison:
        changes = [self._change(place) for place in places] or [self.found.limit(0)]
        expected = counted(reduce(lambda left, right: left.unionAll(right), changes), [*self.names, TIME]).persist()
        size = expected.selectExpr(f"coalesce(sum(abs({NUMBER})), 0) AS n", f"count(DISTINCT {TIME}) AS t").first()
        assert size is not None
        different = first_difference(self.names, expected, counted(found, [*self.names, TIME]))
        return BatchComparison(size.n, size.t, *(different or ()))

    def _change(self, place: int) -> DataFrame:
        """The change of the statement's result from the timestamp before; at the first one, its result."""
        now = self._upto(place).selectExpr(*self.names, f"{self.moments[place]}L AS {TIME}", f"1L AS {NUMBER}")
        if not place:
            return now
        before = self._upto(place - 1)
        return now.unionAll(before.selectExpr(*self.names, f"{self.moments[place]}L AS {TIME}", f"-1L AS {NUMBER}"))

    def _upto(self, place: int) -> DataFrame:
        """The statement's result on all rows up to a timestamp."""
        for name, (rows, time) in self.streams.items():
            rows.where(f"{time} <= {self.moments[place]}").createOrReplaceTempView(quoted(name))
        for name, (none, mine) in self.relations.items():
            known = bisect_right(mine, self.moments[place], key=lambda state: state[0])
            there = mine[known - 1][1] if known else []
            self.spark.createDataFrame(there, none.schema).createOrReplaceTempView(quoted(name))
        return comparable(without_structs(self.spark.sql(self.text)).toDF(*self.names))

    def _adds_up(self, place: int) -> bool:
        """Whether all changes up to a timestamp are together what the statement returns there."""
        now, keys = self.moments[place], [*self.names, TIME]
        total = self.found.where(self.found[TIME] <= now).selectExpr(*self.names, f"{now}L AS {TIME}", NUMBER)
        by_batch = self._upto(place).selectExpr(*self.names, f"{now}L AS {TIME}", f"1L AS {NUMBER}")
        return first_difference(self.names, counted(by_batch, keys), counted(total, keys)) is None

    def _first_wrong_sum(self) -> int:
        """A timestamp whose sum is wrong although the one before adds up."""
        places = range(len(self.moments))
        return bisect_left(places, True, key=lambda place: not self._adds_up(place))


def show_last(spark: SparkSession, statement: BatchStatement, folder: Path) -> tuple[list[DeclaredTable], str]:
    """As `show`, relations that change with the rows that they have in the end; and the statement over these views."""
    tables, text = show(spark, statement.tree, statement.catalog, folder), statement.text
    if has_versions(statement.tree):
        tables, _, text = _shown(spark, statement, folder)
    for table in (table for table in tables if table.changes is not None):
        name = quoted(table.name)
        rows = last_rows(*_changes(spark, table, folder))
        spark.createDataFrame(rows, spark.table(name).schema).createOrReplaceTempView(name)
    return tables, text


def _shown(spark: SparkSession, statement: BatchStatement, folder: Path) -> tuple[list[DeclaredTable], States, str]:
    """The tables that have views, the relations among them that change, and the statement over these and versions."""
    from pyspark.sql.types import LongType, StructField, StructType

    tables = show(spark, statement.tree, statement.catalog, folder)
    relations = {
        table.name: (spark.table(quoted(table.name)).limit(0), states(*_changes(spark, table, folder)))
        for table in tables
        if table.changes is not None
    }
    if not has_versions(statement.tree):
        return tables, relations, statement.text
    for name, (none, mine) in relations.items():
        schema = StructType([*none.schema.fields, StructField(FROM, LongType()), StructField(TO, LongType())])
        rows = spark.createDataFrame([*versions(mine)], schema)
        rows.createOrReplaceTempView(quoted(view_of_versions(name)))
    return tables, relations, over_versions(statement.tree, statement.catalog)


def counted(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Equal rows as one, with their number, where that is not 0."""
    from pyspark.sql import functions as F

    return rows.groupBy(*keys).agg(F.sum(NUMBER).alias(NUMBER)).where(f"{NUMBER} <> 0")


def comparable(rows: DataFrame) -> DataFrame:
    """The rows with doubles as text, rounded to a number of digits."""
    return rows.selectExpr(*(_rounded(name) if kind in ("double", "float") else name for name, kind in rows.dtypes))


def without_structs(rows: DataFrame) -> DataFrame:
    """The rows with the fields of each struct in its place, as a run prints windows of time and the like."""
    if not any(kind.startswith("struct<") for _, kind in rows.dtypes):
        return rows
    whole = rows.toDF(*(f"c{place}" for place in range(len(rows.columns))))
    parts = {field.name: getattr(field.dataType, "names", None) for field in whole.schema.fields}
    return whole.select(*(f"{n}.`{part}`" if part else n for n, names in parts.items() for part in names or [""]))


def _rounded(name: str) -> str:
    text = f"format_string('%.{DIGITS - 1}e', CAST({name} AS DOUBLE) + 0D)"  # -0.0 is 0.0
    return f"CASE WHEN {name} IS NOT NULL THEN {text} END AS {name}"


def _changes(spark: SparkSession, table: DeclaredTable, folder: Path) -> tuple[list[RowChange], list[int]]:
    """All changes of a relation, and the places of its key."""
    changes = table.changes
    assert changes is not None, "a relation that changes"
    names = [column.name for column in table.columns]
    key = [names.index(name) for name in changes.key]
    if changes.format is not ChangeFormat.OP:
        return changes_in_records(spark, table, folder), key
    told = [column for column in (changes.op, changes.timestamp) if column.name not in names]
    rows = spark.read.schema(schema_of((*table.columns, *told))).json(str(folder / table.name))
    time = _number(changes.timestamp)
    picked = rows.selectExpr(time, quoted(changes.op.name), *map(quoted, names)).collect()
    found = [
        RowChange(row[0], row[1] == plain_value(changes.delete, changes.op.type), tuple(row[2:])) for row in picked
    ]
    return found, key


def _time(table: DeclaredTable) -> str:
    """A stream's time as a number, in SQL."""
    column = table.column(str(table.timestamp))
    assert column is not None, "a stream has a time"
    return _number(column)


def _number(column: Column) -> str:
    """A time as a number, in SQL."""
    name = quoted(column.name)
    moment = column.type.family is Family.TIMESTAMP
    return f"unix_micros(CAST({name} AS TIMESTAMP))" if moment else f"CAST({name} AS BIGINT)"
