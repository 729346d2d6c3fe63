"""What is noted of a bound: that it is of no use, as of a window over microseconds, or that rows wait beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from math import ceil

from streambound.analyzer.algebra.clock import time_of
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.query import Comparison, Query
from streambound.analyzer.spans import Span
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.criteria.bound import QueryBound
from streambound.criteria.judged import CircuitBound
from streambound.criteria.size import Number, Size, Symbol, factors_of, terms_of

_NARROWER = "narrow the window or the domains that it comes from"
_RATE = (
    "a TIMESTAMP counts microseconds, and each is a point in time of its own: declare how many rows come in a longer "
    'time, as in max_rate = { rows = 1000, per = "1 second" }'
)


def large_bound(split: Query, bound: QueryBound, catalog: Catalog) -> Iterator[Diagnostic]:
    """An ``SB208`` note at the widest window of a split query, where its bound is beyond `USEFUL`."""
    if _least(bound.entries) <= USEFUL:
        return
    yield _note(bound.entries, split.file, _widest(split), catalog)


def large_states(bound: CircuitBound, catalog: Catalog, file: str) -> Iterator[Diagnostic]:
    """An ``SB208`` note at the operator with the largest state of a query beyond joins, as for `large_bound`."""
    if _least(bound.entries) <= USEFUL:
        return
    largest = max(bound.states, key=lambda state: _least(state.size))
    yield _note(largest.size, file, largest.span, catalog)


def _note(entries: Size, file: str, at: Span, catalog: Catalog) -> Diagnostic:
    streams = without_rate(catalog)
    names = [name for one, name in streams.items() if one in entries.symbols]
    if names:
        message = f"the bound is proved, but how many rows of {' and '.join(names)} come in a second is not declared"
    else:
        number = f"{Decimal(_least(entries)):.0e}"
        message = f"the bound is proved, but it is so large (about {number} entries) that it promises little"
    return Diagnostic(Code.LARGE_BOUND, message, file, at, _RATE if names else _NARROWER)


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


# --- how long rows are kept, instead of a useless number --------------------------------------------------------------


USEFUL = 10**9
"""More entries than this fit in no one machine's memory."""
_SHORTEST = UNITS["MILLISECOND"]
"""Less is no length of time, but a number of rows of one timestamp."""


def without_rate(catalog: Catalog) -> dict[str, str]:
    """The streams whose timestamps are microseconds and of which no ``max_rate`` is declared, by their symbols."""
    times = ((table, time_of(table)) for table in catalog.tables if table.max_rate is None)
    return {
        symbol("c", table.name): table.name for table, time in times if time and time.type.family is Family.TIMESTAMP
    }


def rows_in_words(entries: Size, without_rate: Mapping[str, str]) -> str:
    """How many rows a bound counts, by how long they are kept; empty where a formula or a number says it better.

    >>> from streambound.criteria.size import product, total
    >>> of_one_window = product([Symbol("rows_R"), Number(299_999_999), Symbol("c_S")])
    >>> rows_in_words(of_one_window, {"c_S": "S"})
    'rows_R × the rows of S in 5 minutes'
    >>> rows_in_words(total([of_one_window, Number(1)]), {"c_S": "S"})
    'rows_R × the rows of S in 5 minutes and 1 more'
    """
    if entries.value is not None and entries.value <= USEFUL:
        return ""
    streams = {one: name for one, name in without_rate.items() if one in entries.symbols}
    terms = [_term(term, streams) for term in terms_of(entries)]
    if not streams or None in terms:
        return ""
    more = [f"{term} more" for term in terms if term and term.isdecimal()]
    return " and ".join([" + ".join(term for term in terms if term and not term.isdecimal()), *more])


def _term(term: Size, streams: Mapping[str, str]) -> str | None:
    """A product of a length of time, a stream's rows at a time, and others; None of what is more than that."""
    if not term.symbols & streams.keys():
        return term.text
    of_rows = [one for one in factors_of(term) if isinstance(one, Symbol) and one.name in streams]
    numbers = [one.number for one in factors_of(term) if isinstance(one, Number)]
    others = [one for one in factors_of(term) if not isinstance(one, Number) and one not in of_rows]
    if len(of_rows) != 1 or len(numbers) != 1 or numbers[0] < _SHORTEST:
        return None
    if any(other.symbols & streams.keys() for other in others):
        return None
    unit = UNITS["SECOND"] if numbers[0] >= UNITS["SECOND"] else UNITS["MILLISECOND"]
    rows = f"the rows of {streams[of_rows[0].name]} in {length_text(ceil(numbers[0] / unit) * unit)}"
    return " × ".join([*(other.text for other in others), rows])


# --- rows that wait ---------------------------------------------------------------------------------------------------


def waiting_rows(used: Iterable[tuple[str, Span]], catalog: Catalog, file: str) -> Iterator[Diagnostic]:
    """An ``SB211`` at the first use of each stream, or relation that changes, without a promise.

    The bound M counts what has to be remembered between timestamps. A timestamp's rows wait until all streams are past
    it (Tucker, Maier, Sheard, Fegaras, TKDE 15(3), 2003: the pass invariant of sort needs punctuations).
    """
    first: dict[str, Span] = {}
    for name, span in used:
        first.setdefault(name, span)
    for name, span in first.items():
        table = catalog.table(name)
        if table is not None and not table.arrival.by_rows and table.arrival.mark is None:
            message = f"{table.name} never promises to be past a timestamp, so all rows wait until the input ends"
            help = "declare its lateness, punctuation records, or idle_after; the bound does not count rows that wait"
            related = (Related.at(table.at, f"{table.name} is declared here"),) if table.at else ()
            yield Diagnostic(Code.NEVER_PAST, message, file, span, help, related=related)
