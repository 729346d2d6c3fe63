"""P2: how many rows of a stream are valid at a time."""

from __future__ import annotations

from collections.abc import Callable

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.symbols import symbol
from streambound.criteria.periods.views import MaybeSize, PeriodContext, smallest
from streambound.criteria.size import Number, Symbol, product

P2 = "P2"
KeyValues = Callable[[tuple[str, ...]], MaybeSize]


def valid_rows(table: DeclaredTable, context: PeriodContext, values: KeyValues) -> tuple[MaybeSize, int | None]:
    """V* <= min(max_valid, c·L, r·⌈L/per⌉, Π |dom k| over the snapshot key), and L.

    A row valid at t began in (t − L, t], at most c per point of time; rows valid together have different keys, and
    those that are random variables different facts. L is
    max_duration or, where ``[time] domain`` is finite, Tmax − Tmin.
    """
    period = table.period
    assert period is not None, "only streams of rows with periods are read"
    longest = longest_period(table, context)
    counted = (
        None
        if longest is None
        else product([Symbol(symbol("c", table.name), table.max_per_timestamp), Number(longest)])
    )
    rated = None
    if longest is not None and table.max_rate is not None:
        rated = product(
            [Symbol(symbol("rate", table.name), table.max_rate.rows), Number(table.max_rate.intervals(longest))]
        )
    if rated is not None and table.max_per_timestamp is None:
        counted = None  # c is no number
    most = None if period.max_valid is None else Number(period.max_valid)
    keyed = [values(key) for key in unique_keys(table, context)]
    return smallest(most, counted, rated, *keyed), longest


def unique_keys(table: DeclaredTable, context: PeriodContext) -> list[tuple[str, ...]]:
    """Columns of which no two rows that are valid together have the same values."""
    period = table.period
    assert period is not None, "only streams of rows with periods are read"
    own = [(period.key,), period.fact(table.columns)] if context.lineages and period.key is not None else []
    return [*own, *([period.snapshot_key] if period.snapshot_key else [])]


def longest_period(table: DeclaredTable, context: PeriodContext) -> int | None:
    """L of a stream; None where rows may be valid for ever."""
    assert table.period is not None, "only streams of rows with periods are read"
    declared = None if context.low is None or context.high is None else max(0, context.high - context.low)
    found = [length for length in (table.period.max_duration, declared) if length is not None]
    return min(found) if found else None
