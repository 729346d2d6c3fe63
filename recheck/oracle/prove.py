"""Whether a witness distinguishes all subsets of its elements, by batch SQL over all ``2^N`` prefixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, Kind
from streambound.recheck.oracle.batch_sql import BatchSql, Rows
from streambound.recheck.oracle.duckdb_text import duckdb_text


class WitnessProof(Struct, frozen=True):
    """The number of ``prefixes`` that some probe distinguishes from all others."""

    prefixes: int
    states: int

    @property
    def holds(self) -> bool:
        """Whether every prefix leads to outputs of its own."""
        return self.states == self.prefixes


def prove(
    statement: exp.Expr,
    catalog: Catalog,
    always: Rows,
    elements: Sequence[Rows],
    probes: Sequence[Rows],
    on_prefix: Callable[[], None] = lambda: None,
) -> WitnessProof:
    """Run a statement on every prefix followed by each probe, and count the prefixes that lead to other outputs.

    What a probe adds to the output is the difference to the output of the prefix alone; an algorithm has printed that
    before; rows that it takes away count as well. Before the first row of a stream nothing has been printed.
    ``on_prefix`` is called after each prefix. Raises ValueError where an element or a probe has rows of a relation that
    does not change: an algorithm knows those before anything else.
    """
    _check_sent(catalog, (*elements, *probes))
    number, text = len(elements), duckdb_text(statement)
    begun = any(rows for name, rows in always.items() if _is_stream(catalog, name))
    database = BatchSql(catalog)
    try:
        database.add(always, 0)
        for bit, rows in enumerate([*elements, *probes]):
            database.add(rows, 1 << bit)
        states = set()
        for subset in range(1 << number):
            before = database.results(text, subset) if begun or subset else Counter[tuple[Any, ...]]()
            after = (database.results(text, subset | 1 << (number + k)) for k in range(len(probes)))
            states.add(tuple(_change(before, found) for found in after))
            on_prefix()
    finally:
        database.close()
    return WitnessProof(1 << number, len(states))


def tells_element(
    statement: exp.Expr, catalog: Catalog, always: Rows, elements: Sequence[Rows], probes: Sequence[Rows], element: int
) -> bool:
    """Whether some of the probes changes something else after all elements than after all but one, counted from 0.

    Raises ValueError as `prove` does.
    """
    _check_sent(catalog, (*elements, *probes))
    text, database = duckdb_text(statement), BatchSql(catalog)
    own, first = 1, 2
    try:
        for others in (always, *(rows for at, rows in enumerate(elements) if at != element)):
            database.add(others, 0)
        database.add(elements[element], own)
        for bit, rows in enumerate(probes):
            database.add(rows, first << bit)
        before = [database.results(text, sent) for sent in (0, own)]

        def change(sent: int, probe: int) -> frozenset[tuple[Any, int]]:
            return _change(before[sent], database.results(text, sent | probe))

        return any(change(0, first << bit) != change(own, first << bit) for bit in range(len(probes)))
    finally:
        database.close()


def _check_sent(catalog: Catalog, parts: Sequence[Rows]) -> None:
    """Raise ValueError for rows of a relation that does not change."""
    for name in {name for rows in parts for name, found in rows.items() if found}:
        table = catalog.table(name)
        if table is None or table.is_fixed:
            raise ValueError(f"a prefix or a continuation has rows of {name}, which does not change")


def _change(before: Counter[tuple[Any, ...]], after: Counter[tuple[Any, ...]]) -> frozenset[tuple[Any, int]]:
    """How much more often each row is there."""
    rows = before.keys() | after.keys()
    return frozenset((row, n) for row in rows if (n := after[row] - before[row]))


def _is_stream(catalog: Catalog, name: str) -> bool:
    table = catalog.table(name)
    return table is not None and table.kind is not Kind.RELATION


class ChosenEnds(Struct, frozen=True):
    """Rows of a ``stream``, each with the end that it has and the later one that it may have, as numbers.

    ``always`` are other rows, which are valid from before until after all of them. All have begun at ``since``; results
    are asked for from ``low`` to before ``high``, where these are there.
    """

    stream: str
    rows: Sequence[Mapping[str, Any]]
    ends: Sequence[tuple[int, int]]
    always: Rows
    since: int
    low: int | None = None
    high: int | None = None

    def asks(self, point: int) -> bool:
        """Whether results are wanted at a point of time."""
        return (self.low is None or self.low <= point) and (self.high is None or point < self.high)


def prove_ends(
    query: exp.Expr, catalog: Catalog, given: ChosenEnds, on_choice: Callable[[], None] = lambda: None
) -> WitnessProof:
    """Evaluate each choice of ends at each point of time, and count those that lead to other results.

    ``query`` is the SQL inside of the block; ``on_choice`` is called after each choice.
    """
    text, database = duckdb_text(query), BatchSql(_without_periods(catalog))
    ended = {end for both in given.ends for end in both}
    points = [point for point in sorted({given.since, *ended}) if given.asks(point)]

    @cache
    def result(valid: int) -> frozenset[tuple[Any, int]]:
        return frozenset(database.results(text, valid).items())

    try:
        database.add(given.always, 0)
        for bit, row in enumerate(given.rows):
            database.add({given.stream: [row]}, 1 << bit)
        states = set()
        for chosen in product((0, 1), repeat=len(given.rows)):
            ends = [both[later] for both, later in zip(given.ends, chosen, strict=True)]
            valid = (sum(1 << bit for bit, end in enumerate(ends) if end > point) for point in points)
            states.add(tuple(map(result, valid)))
            on_choice()
    finally:
        database.close()
    return WitnessProof(1 << len(given.rows), len(states))


def tells_row(query: exp.Expr, catalog: Catalog, given: ChosenEnds, row: int) -> bool:
    """Whether results differ where one row, counted from 0, ends later, while all others end sooner."""
    point = given.ends[row][0]
    text, database = duckdb_text(query), BatchSql(_without_periods(catalog))
    pairs = enumerate(zip(given.rows, given.ends, strict=True))
    others = [other for at, (other, (end, _)) in pairs if at != row and end > point]
    try:
        database.add(given.always, 0)
        database.add({given.stream: others}, 0)
        database.add({given.stream: [given.rows[row]]}, 1)
        return given.asks(point) and database.results(text, 0) != database.results(text, 1)
    finally:
        database.close()


def _without_periods(catalog: Catalog) -> Catalog:
    """The tables without the columns that the SQL inside of a block does not see."""
    hidden = {table.name: table.period.hidden(probabilistic=False) if table.period else () for table in catalog.tables}
    tables = (
        replace(table, columns=tuple(column for column in table.columns if column.name not in hidden[table.name]))
        for table in catalog.tables
    )
    return replace(catalog, tables=tuple(tables))
