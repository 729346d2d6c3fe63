"""What operators over slices of time are written with: rows as tables, and what is kept of them from tick to tick.

A slice is the time from one frontier to the next. In it a row has values ``c0``, ``c1`` …, is valid from ``b`` to
before ``e``, both within the slice, and is there ``m`` times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.engine.arrow import arrow_type
from streambound_runtime.engine.session import Session, statement
from streambound_runtime.engine.tables import (
    BIGINT,
    DOUBLE,
    HUGEINT,
    TickStatement,
    TickTables,
    engine_type,
    listed,
    places,
    same,
)
from streambound_runtime.operators.circuit_plan import MapNode

if TYPE_CHECKING:
    import pyarrow as pa

Compute = Callable[[MapNode, "pa.Table"], "pa.Table"]
"""Computes the rows of a `MapNode`: of a table of time, columns and weight another one."""
SINCE, UNTIL, ENDED = (f"getvariable('{name}')" for name in ("since", "until", "ended"))
"""The ends of the slice in a statement, and whether time ends with it."""
OF_ROWS = ("b", "e", "m")
"""The columns of a row beside its values."""
WITHIN = f"b < {UNTIL} AND e > {SINCE} AND {SINCE} < {UNTIL}"
"""The condition of rows that are valid in the slice."""
CLIPPED = f"greatest(b, {SINCE}) AS b, least(e, {UNTIL}) AS e"
"""The part of a row's period that lies in the slice."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of rows: what a row adds to it, how such numbers are ``added`` up, and its type."""

    name: str
    of_row: str
    added: str
    type: str = HUGEINT


_TRAVELLING = {HUGEINT: "DECIMAL(38, 0)"}
"""How values of a type leave the database."""
COPIES = Measure("m", "m", "sum(m)")
"""How many rows there are."""


@dataclass(frozen=True, slots=True)
class ArrivedRows:
    """The state of rows that arrive when they begin, until they end: their measures by ``key`` and end.

    ``key`` are expressions with their types. ``last``: only the latest end of each key matters, there once. ``best``
    is "min" or "max": of rows that agree in all but the last column of the key only those matter that no other one
    outlives with a value as good. ``most``: of each key the last n rows to end are enough; n is a number,
    or a table of keys with their own ``n``.
    """

    key: tuple[tuple[str, str], ...]
    measures: tuple[Measure, ...] = (COPIES,)
    last: bool = False
    best: str = ""
    most: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the key."""
        return places(len(self.key))

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The columns of the state, with their types."""
        key = zip(self.names, (kind for _, kind in self.key), strict=True)
        return [*key, ("e", BIGINT), *((one.name, one.type) for one in self.measures)]

    def arriving(self, rows: str) -> str:
        """The key and the measures of rows, with their periods."""
        key = (f"{text} AS {name}" for (text, _), name in zip(self.key, self.names, strict=True))
        once = self.last or self.best
        own = ("1 AS m" if once else f"{one.of_row} AS {one.name}" for one in self.measures)
        return f"SELECT {listed(*key, 'b', 'e', *own)} FROM {rows}"

    def remaining(self, rows: str) -> str:
        """The rows that stay in the state, of those kept before and those that arrived, with whole periods."""
        key = ", ".join(self.names)
        valid = f"FROM {rows} WHERE e > {UNTIL}"
        if self.last:
            return f"SELECT {listed(key, 'max(e) AS e', '1 AS m')} {valid} {_by(self.names)}"
        if self.best:
            return self._best(rows)
        merged = (f"{one.added} AS {one.name}" for one in self.measures)
        found = f"SELECT {listed(key, 'e', *merged)} {valid} GROUP BY {listed(key, 'e')}"
        if not self.most:
            return found
        order = f"PARTITION BY {key} " if key else ""
        before = f"sum(m) OVER ({order}ORDER BY e DESC ROWS UNBOUNDED PRECEDING) - m"
        known, most = "", self.most
        if not most.isdigit():
            known, most = f" JOIN {self.most} n ON {same(self.names, 'r', 'n')}", "n.n"
        counted = f"SELECT *, {before} AS before FROM ({found})"
        shown = listed(*(f"r.{name}" for name in self.names), "r.e", f"least(r.m, {most} - before) AS m")
        return f"SELECT {shown} FROM ({counted}) r{known} WHERE before < {most}"

    def _best(self, rows: str) -> str:
        *group, value = self.names
        key = ", ".join(group)
        ends = f"SELECT {listed(key, 'e', f'{self.best}({value}) AS {value}')} FROM {rows} WHERE e > {UNTIL}"
        ends += f" GROUP BY {listed(key, 'e')}"
        partition = f"PARTITION BY {key} " if key else ""
        later = f"({partition}ORDER BY e DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        beaten = f"SELECT *, {self.best}({value}) OVER {later} AS other, count(*) OVER {later} AS others FROM ({ends})"
        better = f"{value} {'>' if self.best == 'max' else '<'} other OR ({value} IS NOT NULL AND other IS NULL)"
        return f"SELECT {listed(key, value, 'e', '1 AS m')} FROM ({beaten}) WHERE others = 0 OR {better}"


def _by(names: Sequence[str]) -> str:
    """GROUP BY some columns; of none there is one group, if it has rows."""
    return f"GROUP BY {', '.join(names)}" if names else "HAVING count(*) > 0"


@dataclass
class SliceTables:
    """The statements of an operator's tick as they are made, and the states that they keep.

    ``steps`` are run in order, ``after`` them what brings the states up to date.
    """

    name: str
    at: TickTables
    session: Session
    compute: Compute
    steps: list[Callable[[], object]] = field(default_factory=list)
    after: list[Callable[[], object]] = field(default_factory=list)
    states: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    made: int = 0

    def called(self) -> str:
        """A name for a table."""
        self.made += 1
        return self.at.temporary(f"rows{self.made}")

    def table(self, sql: str) -> str:
        """A query whose rows several others read."""
        name = self.called()
        self.steps.append(self.step(sql, name))
        return name

    def step(self, sql: str, table: str = "") -> Callable[[], object]:
        """A statement, to be run; with a ``table`` that its rows go to."""
        return partial(self.session.run, statement(TickStatement(sql, table)))

    def state(self, columns: list[tuple[str, str]], rows: str) -> str:
        """A table that has the ``rows`` of a query after each tick."""
        name = self.at.state(f"rows{len(self.states)}")
        self.states[name] = columns
        none = listed(*(f"CAST(NULL AS {kind}) AS {column}" for column, kind in columns))
        self.step(f"SELECT {none} WHERE false", name)()
        shown = listed(*(f"CAST({column} AS {kind}) AS {column}" for column, kind in columns))
        self.after.append(self.step(f"SELECT {shown} FROM ({rows})", name))
        return name

    def kept(self, kept: ArrivedRows, arrived: str) -> str:
        """Rows with ``c0`` … and measures in the slice: of those that arrive, and of what is kept of earlier ones."""
        rows, names = self.called(), [one.name for one in kept.measures]
        state = self.state(kept.columns, kept.remaining(rows))
        held = f"SELECT {listed(*kept.names, f'{SINCE} AS b', 'e', *names)} FROM {state}"
        self.steps.append(self.step(f"{held} UNION ALL {kept.arriving(arrived)}", rows))
        return f"(SELECT {listed(*kept.names, CLIPPED, *names)} FROM {rows} WHERE {WITHIN})"

    def computed(self, node: MapNode, rows: str, carried: Sequence[str] = OF_ROWS) -> str:
        """Rows with other values, computed of theirs, where a condition is true; other columns are ``carried``."""
        shown = [plain(f"f{n}", engine_type(kind), f"c{n}") for n, (_, kind) in enumerate(node.columns)]
        return f"(SELECT {listed(*shown, *carried)} FROM {self.passing(node, rows)})"

    def passing(self, node: MapNode, rows: str) -> str:
        """The rows for which a condition is true, with columns ``f0``, ``f1`` … of what is computed of them."""
        found = self.called()
        self.steps.append(partial(self._compute, node, rows, found))
        return found

    def _compute(self, node: MapNode, rows: str, found: str) -> None:
        """Let rows leave the database, and come back with what is computed of them."""
        import pyarrow as pa

        query = self.session.query(f"SELECT * FROM {rows}")
        known = dict(zip(query.columns, map(str, query.types), strict=True))
        known |= {f"c{n}": engine_type(kind) for n, (_, kind) in enumerate(node.given)}
        shown = (f"CAST({name} AS {_TRAVELLING.get(kind, kind)}) AS {name}" for name, kind in known.items())
        table = self.session.read(f"SELECT {listed(*shown)} FROM {rows}")
        made, numbers = [engine_type(kind) for _, kind in node.columns], pa.array(np.arange(table.num_rows))
        if table.num_rows:
            given = [numbers, *(table.column(name) for name in places(len(node.given))), pa.repeat(1, len(numbers))]
            computed = self.compute(node, pa.table(given, names=["t", *places(len(node.given)), "w"]))
            table, values = table.take(computed.column("t")), computed.columns[1:-1]
        else:
            values = [pa.array([], arrow_type(kind)) for kind in made]
        for n, column in enumerate(values):
            table = table.append_column(f"f{n}", column)
        self.session.put(found, [*known.items(), *((f"f{n}", kind) for n, kind in enumerate(made))], table)


def plain(column: str, kind: str, name: str) -> str:
    """A column in which values that are equal are the same: a zero has no sign."""
    return f"{column} + 0.0 AS {name}" if kind == DOUBLE else f"{column} AS {name}"
