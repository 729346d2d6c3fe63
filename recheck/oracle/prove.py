"""Whether a witness distinguishes all subsets of its elements, by batch SQL over all ``2^N`` prefixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
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
    before. ``on_prefix`` is called after each prefix.
    """
    number, text = len(elements), duckdb_text(statement)
    database = BatchSql(catalog)
    try:
        database.add(always, 0)
        for bit, rows in enumerate([*elements, *probes]):
            database.add(rows, 1 << bit)
        states = set()
        for subset in range(1 << number):
            before = database.results(text, subset)
            added = (database.results(text, subset | 1 << (number + k)) - before for k in range(len(probes)))
            states.add(tuple(_frozen(output) for output in added))
            on_prefix()
    finally:
        database.close()
    return WitnessProof(1 << number, len(states))


def _frozen(output: Counter[tuple[Any, ...]]) -> frozenset[tuple[tuple[Any, ...], int]]:
    return frozenset(output.items())
