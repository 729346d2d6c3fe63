"""M of a window over timestamps of which no rate is declared: how long rows are kept, instead of a useless number."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from streambound.analyzer.algebra.clock import time_of
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.criteria.size import Number, Size, Symbol, factors_of, terms_of

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


def rows_in_words(entries: Size, catalog: Catalog) -> str:
    """How many rows a bound counts, by how long they are kept; empty where a formula or a number says it better.

    >>> from streambound.analyzer.catalog import catalog_from_mapping
    >>> from streambound.criteria.size import product, total
    >>> stream = {"timestamp": "ts", "columns": {"ts": "timestamp"}}
    >>> of_one_window = product([Symbol("rows_R"), Number(299_999_999), Symbol("c_S")])
    >>> rows_in_words(of_one_window, catalog_from_mapping({"streams": {"S": stream}}, "streams.toml"))
    'rows_R × the rows of S in 5 minutes'
    >>> rows_in_words(total([of_one_window, Number(1)]), catalog_from_mapping({"streams": {"S": stream}}, ""))
    'rows_R × the rows of S in 5 minutes and 1 more'
    """
    if entries.value is not None and entries.value <= USEFUL:
        return ""
    streams = {one: name for one, name in without_rate(catalog).items() if one in entries.symbols}
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
