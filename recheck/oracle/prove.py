"""Whether a witness distinguishes all subsets of its elements, by batch SQL over all ``2^N`` prefixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, Kind
from streambound.recheck.oracle.batch_sql import BatchSql, Rows
from streambound.recheck.oracle.duckdb_text import duckdb_text

MOST_ELEMENTS = 14
"""More would take hours: every prefix is followed by every probe."""


@dataclass(frozen=True, slots=True)
class WitnessProof:
    """How many of ``prefixes`` some probe tells apart from all others."""

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
