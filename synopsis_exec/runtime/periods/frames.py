"""DataFrames of rows with periods: the columns ``c0``, ``c1``, …, then begin, end and multiplicity, as integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BEGIN, END, COUNT = "_b", "_e", "_m"
PERIOD = (BEGIN, END, COUNT)


def columns_of(frame: DataFrame) -> list[str]:
    """The names of its value columns."""
    return [name for name in frame.columns if name not in PERIOD]


def columns(number: int, start: int = 0) -> list[str]:
    """The names of so many value columns."""
    return [f"c{place}" for place in range(start, start + number)]


def normal(frame: DataFrame) -> DataFrame:
    """The rows with one value for each that is equal: no negative zero, and one NaN."""
    kinds = dict(frame.dtypes)
    floats = [name for name in columns_of(frame) if kinds[name] in ("double", "float")]
    if not floats:
        return frame
    changed = {name: f"CAST(nanvl({name} + 0.0D, double('NaN')) AS {kinds[name].upper()}) AS {name}" for name in floats}
    return frame.selectExpr(*(changed.get(name, name) for name in frame.columns))


def union(left: DataFrame, right: DataFrame) -> DataFrame:
    """The rows of both; types that differ become the one that Spark's UNION gives them."""
    return left.unionAll(right)


def together(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows, of which those with the same values are one task's: what follows moves none of them again.

    Rows are moved before `events` makes two of each. Groups, which are few, are not: they are summed first.
    """
    return frame.repartition(*names) if names else frame


def events(frame: DataFrame, names: Sequence[str], sums: Sequence[tuple[str, str]]) -> DataFrame:
    """What changes at the ends of each row: at ``t`` the sums are more by these expressions, or less.

    ``sums`` are the name and the expression of each.
    """
    ends = frame.selectExpr("*", "explode(array(1, -1)) AS _sign")
    changes = (f"_sign * ({expression}) AS {name}" for name, expression in sums)
    return ends.selectExpr(*names, f"CASE WHEN _sign = 1 THEN {BEGIN} ELSE {END} END AS t", *changes)


def segments(changes: DataFrame, names: Sequence[str], sums: Sequence[str]) -> DataFrame:
    """The sums from each point at which one of them changes to the next of the same values: columns ``_b`` and ``_e``.

    They are summed in order of time, which needs one sort; `swept` of what `summed` has made says the same, and is for
    rows that have few values and points of time, or are not distributed by the values.
    """
    over = _over(names)
    running = (f"sum({name}) {over[:-1]} ROWS UNBOUNDED PRECEDING) AS {name}" for name in sums)
    found = changes.selectExpr(*names, "t", *running, f"lead(t) {over} AS _next").where("NOT t <=> _next")
    before = (f"lag({name}, 1, 0L) {over} AS _before_{name}" for name in sums)
    found = found.selectExpr("*", *before).where(" OR ".join(f"{name} <> _before_{name}" for name in sums))
    return found.selectExpr(*names, f"t AS {BEGIN}", f"lead(t) {over} AS {END}", *sums)


def swept(changes: DataFrame, names: Sequence[str], sums: Sequence[str]) -> DataFrame:
    """The sums from each point at which something changes to the next of the same values: columns ``_b`` and ``_e``.

    ``changes`` has one row for each of the values and point.
    """
    over = _over(names)
    running = (f"sum({name}) {over} AS {name}" for name in sums)
    return changes.selectExpr(*names, f"t AS {BEGIN}", f"lead(t) {over} AS {END}", *running)


def summed(changes: DataFrame, names: Sequence[str], sums: Sequence[str]) -> DataFrame:
    """One row for each of the values and point of time, of those at which a sum changes."""
    from pyspark.sql import functions as F

    found = changes.groupBy(*names, "t").agg(*(F.sum(name).alias(name) for name in sums))
    return found.where(" OR ".join(f"{name} <> 0" for name in sums))


def _over(names: Sequence[str]) -> str:
    by = f"PARTITION BY {', '.join(names)} " if names else ""
    return f"OVER ({by}ORDER BY t)"
