"""Which rows of a period relation are good: the others are put aside, each with the first reason that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted, sql_text
from streambound_runtime.periods.execution import GoodRows
from streambound_runtime.periods.job import PeriodRelation
from streambound_runtime.periods.times import encoded, literal
from streambound_runtime.tp.validity import REASON, judged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NULL_BOUND, EMPTY_PERIOD, OUTSIDE_DOMAIN = "null-bound", "empty-period", "outside-domain"
WORDS = {
    NULL_BOUND: "the begin or the end of the period is NULL",
    EMPTY_PERIOD: "the period ends before it begins, or where it does",
    OUTSIDE_DOMAIN: "the period leaves the domain of time",
}
"""The reasons in the order in which they are looked for, and what is said of them."""

_REASON = "reason"


def good(given: PeriodRelation, rows: DataFrame) -> GoodRows:
    """The rows of a DataFrame with good periods; where a bad one stops the job it raises an error when it is read."""
    if given.period is None:
        return GoodRows(rows)
    why = fault(given.period, given.time_type, (given.low, given.high))
    columns = [quoted(name) for name in rows.columns]
    if given.key:
        rows, why = _judged(given, rows), REASON
    test = f"({why}) IS NULL"
    if given.relation.stops:
        words = sql_text(f"{given.relation.name} breaks its contract: ")
        test = f"CASE WHEN {test} THEN true ELSE raise_error(concat({words}, {why})) END"
    return GoodRows(rows.where(test).select(*columns), given.period, given.time_type)


def bad(given: PeriodRelation, rows: DataFrame) -> DataFrame:
    """The other rows of a DataFrame, with the `reason`."""
    assert given.period is not None, "it has periods"
    if given.key:
        return _judged(given, rows).withColumnRenamed(REASON, _REASON).where(f"{_REASON} IS NOT NULL")
    why = fault(given.period, given.time_type, (given.low, given.high))
    return rows.selectExpr("*", f"{why} AS {_REASON}").where(f"{_REASON} IS NOT NULL")


def _judged(given: PeriodRelation, rows: DataFrame) -> DataFrame:
    """The rows of a temporal-probabilistic relation, with the reason why they are bad."""
    assert given.period is not None, "it has periods"
    alone = fault(given.period, given.time_type, (given.low, given.high))
    return judged(
        rows, alone, given.period, given.time_type, given.key, given.probability, given.fact(rows.columns)
    )  # fmt: skip


def fault(period: tuple[str, str], kind: str, domain: tuple[int | None, int | None] = (None, None)) -> str:
    """The reason why a row's period is bad, in Spark SQL; NULL of a good one.

    ``kind`` is the type of its ends; ``domain`` the points of time that are declared, encoded. Nothing is clipped.
    """
    begin, end = (quoted(name) for name in period)
    cases = [
        f"WHEN {begin} IS NULL OR {end} IS NULL THEN '{NULL_BOUND}'",
        f"WHEN {begin} >= {end} THEN '{EMPTY_PERIOD}'",
    ]
    low, high = domain
    outside = [f"{encoded(kind, begin)} < {literal(low)}"] if low is not None else []
    outside += [f"{encoded(kind, end)} > {literal(high)}"] if high is not None else []
    if outside:
        cases.append(f"WHEN {' OR '.join(outside)} THEN '{OUTSIDE_DOMAIN}'")
    return f"CASE {' '.join(cases)} END"
