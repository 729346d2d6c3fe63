"""P3: a slice of time is evaluated with the rows that are valid in it; a result row has an entry while it may go on."""

from __future__ import annotations

from streambound.criteria.periods.views import MaybeSize, PeriodContext, PeriodView, every, smallest
from streambound.criteria.size import total

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
