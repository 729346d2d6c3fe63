"""A note on a bound that is proved and yet of no use, most often that of a window over microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Comparison, Query
from streambound.analyzer.spans import Span
from streambound.criteria.bound import QueryBound
from streambound.criteria.judged import CircuitBound
from streambound.criteria.rows_in_words import USEFUL, without_rate
from streambound.criteria.size import Number, Size

_NARROWER = "narrow the window or the domains that it comes from"
_RATE = (
    "a TIMESTAMP counts microseconds, and each is a point in time of its own: declare how many rows come in a longer "
    'time, as in max_rate = { rows = 1000, per = "1 second" }'
)


def large_bound(split: Query, bound: QueryBound, catalog: Catalog) -> Iterator[Diagnostic]:
    """An ``SB208`` note at the widest window of a split query, where its bound is beyond `USEFUL`."""
    if _least(bound.entries) <= USEFUL:
        return
    sets = any(table.layout.members for table in bound.tables)
    help = "say of more streams which one comes first: each set of them that may come first counts" if sets else ""
    yield _note(bound.entries, split.file, _widest(split), catalog, help)


def large_states(bound: CircuitBound, catalog: Catalog, file: str) -> Iterator[Diagnostic]:
    """An ``SB208`` note at the operator with the largest state of a query beyond joins, as for `large_bound`."""
    if _least(bound.entries) <= USEFUL:
        return
    largest = max(bound.states, key=lambda state: _least(state.size))
    yield _note(largest.size, file, largest.span, catalog)


def _note(entries: Size, file: str, at: Span, catalog: Catalog, help: str = "") -> Diagnostic:
    streams = without_rate(catalog)
    names = [name for one, name in streams.items() if one in entries.symbols]
    if names:
        message = f"the bound is proved, but how many rows of {' and '.join(names)} come in a second is not declared"
    else:
        number = f"{Decimal(_least(entries)):.0e}"
        message = f"the bound is proved, but it is so large (about {number} entries) that it promises little"
    return Diagnostic(Code.LARGE_BOUND, message, file, at, help or (_RATE if names else _NARROWER))


def _least(size: Size) -> int:
    """What a size is, or the greatest number in it where it has symbols without one."""
    numbers = (abs(leaf.number) for leaf in size.leaves if isinstance(leaf, Number))
    return size.value if size.value is not None else max(numbers, default=0)


def _widest(split: Query) -> Span:
    """The condition with the widest window; the first SELECT where there is none."""
    windows = [
        ((atom.right is not None, abs(atom.offset)), atom.span)
        for branch in split.branches
        for atom in branch.atoms
        if isinstance(atom, Comparison) and branch.is_time(atom.left) and isinstance(atom.offset, int) and atom.span
    ]
    return max(windows, default=((False, 0), split.branches[0].span))[1]
