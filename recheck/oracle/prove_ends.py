"""Whether what a SEQ VT block has at the points of time to come tells all choices of ends apart, by batch SQL (P5).

Rows of a stream have begun, each of which ends at one of two times. At every point of time the SQL inside of the block
is run over the rows that are valid then, without their periods, which is the definition (Dignös et al., Definition
5.3). Where all `2^N` choices give other results from there on, what has been remembered must tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.recheck.oracle.batch_sql import BatchSql, Rows
from streambound.recheck.oracle.duckdb_text import duckdb_text
from streambound.recheck.oracle.prove import WitnessProof


@dataclass(frozen=True, slots=True)
class ChosenEnds:
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
        """Whether results are asked for at a point of time."""
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
