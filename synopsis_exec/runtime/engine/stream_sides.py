"""The sides of a join of two streams, and when a row of the one meets a row, or an entry, of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streambound_runtime.engine.predicates import one_test, term_sql
from streambound_runtime.operators.plan import JoinStep, Table, TableScan, Term, age

Env = Mapping[str, str]
"""What the plan's variables are in SQL."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """When a row that comes meets another one: ``joins`` with their conditions, and the ``values`` of the result."""

    joins: tuple[JoinStep, ...]
    values: tuple[Term, ...]

    def holds(self, env: Env) -> str:
        """Whether two rows meet."""
        return " AND ".join(sql for _, sql in self.conditions(env)) or "true"

    @property
    def window(self) -> tuple[int, int] | None:
        """How long before a row another one came that it meets, at least and at most; None where that has no end."""
        found = [(max(1, low or 1), high) for join in self.joins for _, low, high in join.ages if high is not None]
        return found[0] if found else None

    def conditions(self, env: Env) -> Iterator[tuple[set[str | None], str]]:
        """The conditions, each with its variables."""
        for join in self.joins:
            for variable, term in join.equal:
                yield {variable, term.variable}, f"{env[variable]} = {term_sql(term, env)}"
            for test in join.tests:
                yield {test.left, test.right}, one_test(test, env)
            for stream, low, high in join.ages:
                time = env[age(stream)]
                if low is not None:
                    yield {age(stream)}, f"{env['now']} >= {time} + {low}"
                if high is not None:
                    yield {age(stream)}, f"{env['now']} <= {time} + {high}"


@dataclass(frozen=True, slots=True)
class WaitingSide:
    """A side of the join: its input, called ``rows``, with its ``columns``, and what is remembered of a row.

    ``alone`` are all of its rows, ``scan`` those that can have a partner; ``padded`` is the result of a row without
    one, None for a NULL of the other side's. ``entry`` has the values of the ``table``'s columns, whose types follow,
    and those of the ``key_columns``, which an entry has beside them; ``remembered`` is the result of an entry without a
    partner.
    """

    rows: str
    columns: tuple[str, ...]
    alone: TableScan
    scan: TableScan
    padded: tuple[Term | None, ...]
    table: Table | None = None
    entry: tuple[Term, ...] = ()
    entry_types: tuple[str, ...] = ()
    key_columns: tuple[str, ...] = ()
    remembered: tuple[Term | None, ...] = ()

    def variables(self, alias: str) -> Env:
        """The scans' variables in a row that comes."""
        named = (*self.alone.columns, *self.scan.columns)
        found = {variable: f"{alias}c{self.columns.index(column)}" for variable, column in named}
        return {**found, "now": f"{alias}t"}

    @property
    def pattern(self) -> tuple[str, ...]:
        """The variables of an entry: the table's columns, then the kept time."""
        assert self.table is not None, "entries are of a table"
        return (*self.table.columns, *(age(stream) for stream, *_ in self.table.ages))

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of an entry."""
        if self.table is None:
            return ()
        keys = (f"k{place}" for place in range(len(self.key_columns)))
        return (*(f"e{place}" for place in range(len(self.entry))), *keys, *(("t",) if self.table.ages else ()))

    @property
    def best(self) -> Mapping[str, str]:
        """The columns of an entry that have the greatest or the least value of all rows that agree in the others."""
        best = () if self.table is None else self.table.best
        first = len(self.entry) - len(best)
        return {f"e{first + place}": "max" if greatest else "min" for place, greatest in enumerate(best)}

    @property
    def group(self) -> tuple[str, ...]:
        """The columns of an entry that no other entry has the same values in."""
        return tuple(name for name in self.key if name not in self.best)

    @property
    def alike(self) -> tuple[str, ...]:
        """The columns of an entry that are values of its rows, as they are."""
        return tuple(name for name in self.group if name.startswith("e"))

    def entries(self, alias: str) -> Env:
        """The variables of an entry in SQL."""
        named = [alias + name for name in self.key if not name.startswith("k")]
        return {} if self.table is None else dict(zip(self.pattern, named, strict=True))
