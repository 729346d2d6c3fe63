"""P4: |dom| of rows that are those of two sides: what is declared of both counts once."""

from __future__ import annotations

from streambound.analyzer.columns import Column
from streambound.criteria.periods.slices import plus, together
from streambound.criteria.periods.views import Declared, MaybeSize, PeriodView, every, smallest
from streambound.criteria.size import Number

_MOST = 2**16
"""As many as a SMALLINT has."""


def declared(column: Column | None) -> Declared:
    """The values that the catalog or its type leaves a column."""
    if column is None:
        return None
    if column.domain is not None and column.domain.values:
        return frozenset(column.domain.values)
    low, high = column.ends
    if not isinstance(low, int) or not isinstance(high, int) or high - low >= _MOST:
        return None
    return frozenset(range(low, high + 1))


def of_either(left: PeriodView, right: PeriodView) -> PeriodView:
    """What bounds the rows of two sides together: V_R* + V_S*, of |dom| values, each valid for max L."""
    longest = None if left.longest is None or right.longest is None else max(left.longest, right.longest)
    domains = tuple(None if a is None or b is None else a | b for a, b in zip(left.domains, right.domains, strict=True))
    sizes = [_size(one) for one in domains]
    return PeriodView(
        left.plan,
        left.types,
        plus(left.valid, right.valid),
        together("union", left.there, right.there),
        tuple(smallest(plus(*of), size) for *of, size in zip(left.values, right.values, sizes, strict=True)),
        smallest(plus(left.rows, right.rows), every(sizes)),
        longest,
        left.names,
        domains,
        (*left.streams, *right.streams),
    )


def _size(values: Declared) -> MaybeSize:
    return None if values is None else Number(len(values) + 1)
