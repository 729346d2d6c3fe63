"""A note on a bound that is proved and yet of no use, most often that of a window over microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Comparison, Query
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family
from streambound.criteria.bound import QueryBound
from streambound.criteria.size import Number

USEFUL = 10**9
"""More entries than this fit in no one machine's memory."""


def large_bound(split: Query, bound: QueryBound) -> Iterator[Diagnostic]:
    """An ``SB208`` note at the widest window of a split query, where its bound is beyond `USEFUL`."""
    entries = bound.entries
    numbers = (abs(leaf.number) for leaf in entries.leaves if isinstance(leaf, Number))
    size = entries.value if entries.value is not None else max(numbers, default=0)
    if size <= USEFUL:
        return
    message = f"the bound is proved, but it is so large (about {Decimal(size):.0e} entries) that it promises little"
    timestamps = any(
        source.max_rate is None and source.column(source.timestamp).type.family is Family.TIMESTAMP
        for branch in split.branches
        for source in branch.streams
        if source.timestamp
    )
    help = "narrow the window or the domains that it comes from"
    if any(table.layout.members for table in bound.tables):
        help = "say of more streams which one comes first: each set of them that may come first counts"
    elif timestamps:
        help = (
            "a TIMESTAMP counts microseconds, and each is a point in time of its own: declare how many rows come in a "
            'longer time, as in max_rate = { rows = 1000, per = "1 second" }'
        )
    yield Diagnostic(Code.LARGE_BOUND, message, split.file, _widest(split), help)


def _widest(split: Query) -> Span:
    """The condition with the widest window; the first SELECT where there is none."""
    windows = [
        ((atom.right is not None, abs(atom.offset)), atom.span)
        for branch in split.branches
        for atom in branch.atoms
        if isinstance(atom, Comparison) and branch.is_time(atom.left) and isinstance(atom.offset, int) and atom.span
    ]
    return max(windows, default=((False, 0), split.branches[0].span))[1]
