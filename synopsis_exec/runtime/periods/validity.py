"""Which rows of a period relation are good: the others are quarantined, each with the first reason that applies.

Of a temporal-probabilistic relation a row may also be bad because of its key, its probability, or other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted, sql_text
from streambound_runtime.periods.execution import GoodRows
from streambound_runtime.periods.job import PeriodRelation
from streambound_runtime.periods.times import encoded, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NULL_BOUND, EMPTY_PERIOD, OUTSIDE_DOMAIN = "null-bound", "empty-period", "outside-domain"
WORDS = {
    NULL_BOUND: "the begin or the end of the period is NULL",
    EMPTY_PERIOD: "the period ends before it begins, or where it does",
    OUTSIDE_DOMAIN: "the period leaves the domain of time",
}
"""The reasons in the order in which they are looked for, and what is said of them."""
PROBABILITY, KEY, OVERLAPPING_FACT = "probability", "key", "overlapping-fact"
ABOUT_ROWS = {
    PROBABILITY: "the probability is not above 0 and up to 1",
    KEY: "the key is NULL, or that of another row, too",
    OVERLAPPING_FACT: "another row of the same fact is valid at a common time",
}
"""The reasons that follow, of rows that are random variables."""
REASON = "_reason"

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


def judged(
    rows: DataFrame, alone: str, period: tuple[str, str], kind: str, key: str, probability: str, fact: Sequence[str]
) -> DataFrame:
    """The rows with a column `_reason`: why a row is bad, NULL of a good one.

    ``alone`` is what is wrong with a row's period, in Spark SQL. Of rows that share a key, and of rows of one fact that
    are valid together, all are bad: rows have no order. They are looked at after those that are bad before are gone.
    """
    columns = [quoted(name) for name in rows.columns]
    found = rows.selectExpr(*columns, f"coalesce({alone}, {_by_itself(quoted(key), quoted(probability))}) AS {REASON}")
    together = f"PARTITION BY {REASON} IS NULL, {quoted(key)}"
    shared = f"CASE WHEN count(*) OVER ({together}) > 1 THEN '{KEY}' END"
    found = found.selectExpr(*columns, f"coalesce({REASON}, {shared}) AS {REASON}")
    begin, end = (encoded(kind, quoted(name)) for name in period)
    order = f"PARTITION BY {', '.join([f'{REASON} IS NULL', *map(quoted, fact)])} ORDER BY {begin}, {end}"
    before = f"max({end}) OVER ({order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > {begin}"
    after = f"lead({begin}) OVER ({order}) < {end}"
    overlapping = f"CASE WHEN {before} OR {after} THEN '{OVERLAPPING_FACT}' END"
    return found.selectExpr(*columns, f"coalesce({REASON}, {overlapping}) AS {REASON}")


def _by_itself(key: str, p: str) -> str:
    wrong = f"{p} IS NULL OR isnan(CAST({p} AS DOUBLE)) OR {p} <= 0 OR {p} > 1"
    return f"CASE WHEN {wrong} THEN '{PROBABILITY}' WHEN {key} IS NULL THEN '{KEY}' END"
