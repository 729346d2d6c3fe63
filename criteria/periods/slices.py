"""P3: a slice of time is evaluated with the rows that are valid in it; a result row has an entry while it may go on."""

from __future__ import annotations

from streambound.analyzer.columns import Column
from streambound.criteria.periods.views import Declared, MaybeSize, PeriodContext, PeriodView, every, smallest
from streambound.criteria.size import Number, total

P3 = "P3"


def together(kind: str, left: MaybeSize, right: MaybeSize) -> MaybeSize:
    """R*, the most different result rows at a time, of a join or a set operation of n and m: ⋈: n·m; ∪: n+m; ⟕: n·m+n;
    ⟖: n·m+m; ⟗: n·m+n+m; −, ▷, ⋉: n; INTERSECT: the lesser one.
    """
    if kind in ("semi", "anti", "except"):
        return left
    if kind == "intersect":
        return smallest(left, right)
    pairs = every((left, right))
    match kind:
        case "union":
            return plus(left, right)
        case "left":
            return plus(pairs, left)
        case "right":
            return plus(pairs, right)
        case "full":
            return plus(pairs, left, right)
    return pairs


def open_state(view: PeriodView, context: PeriodContext) -> None:
    """Result rows that may go on: one for each different row, R*."""
    context.remember("open rows", P3, smallest(view.there, view.rows), view.names, view.streams)


def plus(*sizes: MaybeSize) -> MaybeSize:
    """The sum; None where one is not known."""
    known = [size for size in sizes if size is not None]
    return total(known) if len(known) == len(sizes) else None


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
