"""How many rows of a statement's result are missing from what was printed, and how many printed rows are none of it.

The statement is one batch query in Spark over all rows, as it is written; what was printed is what is left in the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.recheck.oracle.spark_batch import (
    BatchStatement,
    differing,
    is_moment,
    printed,
    refusals,
    show,
)
from streambound.recheck.oracle.spark_prefixes import comparable, counted, show_last
from streambound.recheck.oracle.stamped import NUMBER, TIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ResultCounts(Struct, frozen=True):
    """Rows of batch SQL over the same input, with duplicates; those ``missing`` of them, and the ``wrong`` ones beside.

    A row with one wrong value is both: one is missing, and another is wrong.
    """

    expected: int
    missing: int
    wrong: int


def run_counts(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, final: bool = False
) -> ResultCounts:
    """Of a run's output, JSON lines with ``_ts`` and ``_mult``: the sum of its changes, or its ``final`` results.

    ``folder`` has a directory of JSON lines for each table. Raises StreamboundError for what Spark refuses.
    """
    with refusals():
        tables, text = show_last(spark, statement, folder)
        written, names = spark.sql(text), _names(statement)
        rows = printed(spark, statement, written, output, any(map(is_moment, tables))).toDF(*names, TIME, NUMBER)
        number = f"abs({NUMBER}) AS {NUMBER}" if final else NUMBER
        return _counts(names, written.toDF(*names), comparable(rows).selectExpr(*names, number))


def rows_counts(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, more: Path | None = None
) -> ResultCounts:
    """Of the rows in a directory of Parquet, as if the input were over.

    ``more`` has the same tables with the rows that were sent to say so: results of theirs are not wrong.
    """
    with refusals():
        names = _names(statement)
        show(spark, statement.tree, statement.catalog, folder)
        written = spark.sql(statement.text).toDF(*names)
        found = comparable(spark.read.parquet(str(output)).toDF(*names)).selectExpr(*names, f"1L AS {NUMBER}")
        allowed = None
        if more is not None:
            show(spark, statement.tree, statement.catalog, more)
            allowed = spark.sql(statement.text).toDF(*names)
        return _counts(names, written, found, allowed)


def _names(statement: BatchStatement) -> list[str]:
    return [f"c{number}" for number in range(len(statement.columns))]


def _counts(names: list[str], written: DataFrame, found: DataFrame, allowed: DataFrame | None = None) -> ResultCounts:
    """The rows that are missing of the written statement's, and those beyond these and the allowed ones."""
    expected, mine = _of(names, written), counted(found, names)
    missing = differing(expected, mine, names).selectExpr("greatest(expected - found, 0L) AS n")
    beside = expected if allowed is None else _most(names, expected, _of(names, allowed))
    wrong = differing(beside, mine, names).selectExpr("greatest(found - expected, 0L) AS n")
    return ResultCounts(_sum(expected, NUMBER), _sum(missing, "n"), _sum(wrong, "n"))


def _of(names: list[str], rows: DataFrame) -> DataFrame:
    return counted(comparable(rows).selectExpr(*names, f"1L AS {NUMBER}"), names)


def _most(names: list[str], left: DataFrame, right: DataFrame) -> DataFrame:
    """The rows of either, each as often as where there are more of it."""
    return left.unionAll(right).groupBy(*names).agg({NUMBER: "max"}).toDF(*names, NUMBER)


def _sum(rows: DataFrame, column: str) -> int:
    found = rows.selectExpr(f"coalesce(sum({column}), 0L) AS n").first()
    assert found is not None, "a sum is one row"
    return int(found.n)
