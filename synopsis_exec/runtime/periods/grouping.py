"""Aggregates of the rows that are valid together: by sums that Spark adds up, or by sweeps where sums do not say it.

COUNT, and SUM and AVG of integers, are differences of sums up to a time; MIN, MAX, DISTINCT and sums of other numbers
are not (a sum of doubles cannot be taken back): `sweeping` keeps what is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.periods.frames import BEGIN, COUNT, END, columns, events, normal, summed, swept
from streambound_runtime.periods.hot import swept_in_bins
from streambound_runtime.periods.plan import PeriodAggregate
from streambound_runtime.periods.sweeping import swept_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SMALL = ("tinyint", "smallint", "int")
_LOW = 2**32
"""A bigint is summed in two halves, which do not overflow: its upper and lower 32 bits."""
_MOST = "9223372036854775807"
_ROWS = "_n"


def grouped(
    frame: DataFrame, keys: int, aggregates: Sequence[PeriodAggregate], borders: list[int],
    ends: tuple[int, int] | None,
) -> DataFrame:  # fmt: skip
    """A row for each group that has rows at a time; with ``ends`` one at every time between them, of all rows."""
    frame = normal(frame)
    kinds = dict(frame.dtypes)
    if all(_additive(aggregate, kinds) for aggregate in aggregates):
        return _summed_up(frame, keys, aggregates, borders, ends)
    return swept_groups(frame, keys, aggregates, borders, ends)


def _additive(aggregate: PeriodAggregate, kinds: dict[str, str]) -> bool:
    """Whether an aggregate at a time is a difference of sums."""
    if aggregate.distinct or aggregate.function in ("min", "max"):
        return False
    return aggregate.function == "count" or kinds[f"c{aggregate.column}"] in (*_SMALL, "bigint")


def _summed_up(
    frame: DataFrame, keys: int, aggregates: Sequence[PeriodAggregate], borders: list[int],
    ends: tuple[int, int] | None,
) -> DataFrame:  # fmt: skip
    kinds = dict(frame.dtypes)
    sums: dict[str, str] = {_ROWS: COUNT}
    for place in sorted({found.column for found in aggregates if found.column is not None}):
        sums |= _sums_of(place, kinds[f"c{place}"], [one.function for one in aggregates if one.column == place])
    names = columns(keys)
    changes = events(frame, names, list(sums.items()))
    if ends is not None:
        found = swept_in_bins(changes, [*sums], borders, ends)
    else:
        found = swept(summed(changes, names, [*sums]), names, [*sums]).where(f"{_ROWS} > 0")
    values = (f"{_value(one, kinds)} AS c{keys + number}" for number, one in enumerate(aggregates))
    return found.selectExpr(*names, *values, BEGIN, END, f"1L AS {COUNT}")


def _sums_of(place: int, kind: str, functions: list[str]) -> dict[str, str]:
    """The sums that aggregates of a column need."""
    column = f"c{place}"
    found = {f"_n{place}": f"CASE WHEN {column} IS NULL THEN 0L ELSE {COUNT} END"}
    if functions == ["count"] * len(functions):
        return found
    if kind in _SMALL:
        return found | {f"_s{place}": f"coalesce(CAST({column} AS BIGINT), 0L) * {COUNT}"}
    return found | {
        f"_s{place}": f"coalesce({column} & {_LOW - 1}L, 0L) * {COUNT}",
        f"_h{place}": f"coalesce(shiftright({column}, 32), 0L) * {COUNT}",
    }


def _value(aggregate: PeriodAggregate, kinds: dict[str, str]) -> str:
    """An aggregate of its sums."""
    place = aggregate.column
    if place is None:
        return _ROWS
    if aggregate.function == "count":
        return f"_n{place}"
    total = f"CAST(_s{place} AS DECIMAL(38, 0))"
    if kinds[f"c{place}"] == "bigint":
        total = f"(CAST(_h{place} AS DECIMAL(27, 0)) * CAST({_LOW} AS DECIMAL(10, 0)) + {total})"
    if aggregate.function == "avg":
        return f"CASE WHEN _n{place} > 0 THEN CAST({total} AS DOUBLE) / _n{place} END"
    fits = f"{total} BETWEEN -{_MOST}BD - 1BD AND {_MOST}BD"
    error = "raise_error('SUM overflows a bigint')"
    return f"CASE WHEN _n{place} = 0 THEN NULL WHEN {fits} THEN CAST({total} AS BIGINT) ELSE {error} END"
