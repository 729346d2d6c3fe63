"""Which rows of a temporal-probabilistic relation are good: the others have the first reason that applies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.periods.times import encoded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PROBABILITY, KEY, OVERLAPPING_FACT = "probability", "key", "overlapping-fact"
WORDS = {
    PROBABILITY: "the probability is not above 0 and up to 1",
    KEY: "the key is NULL, or that of another row, too",
    OVERLAPPING_FACT: "another row of the same fact is valid at a common time",
}
"""The reasons in the order in which they are looked for, and what is said of them."""
REASON = "_reason"


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
