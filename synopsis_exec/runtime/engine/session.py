"""An engine's tables, and how many rows each has: a statement that can have no effect is not run.

DuckDB needs up to a few milliseconds to plan a statement, however few rows it is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from streambound_runtime.database import instance, own_database
from streambound_runtime.engine.arrow import arrow_type
from streambound_runtime.engine.tables import HUGEINT, StateTable, TickStatement, places
from streambound_runtime.errors import JobError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, Statement

_NOT_RIGHT = "statistics_propagation, projection_pullup"
"""Optimizers of DuckDB 2.0 with which sums of a UNION ALL of empty and constant rows may lose a row."""
_NO_PAIRS = "0"
"""How many rows DuckDB may pair with all others of an ASOF join, as it does where it expects few: in no tick any."""
_GIVEN = "streambound_given"
"""What a table of Python's is called while it is read."""
_TABLE = re.compile(r"\b(?:delta|state|tick)_\d+(?:_\w+)?\b")
_VARIABLE = re.compile(r"getvariable\('(\w+)'\)")
_CREATE, _DELETE, _INSERT, _UPDATE, _VIEW = "CREATE", "DELETE", "INSERT", "UPDATE", "VIEW"


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """A statement of a tick: what it does (a first word) to its ``target``, and the tables and variables it reads.

    If one of the tables ``needed`` is empty it has no effect. In a tick with more than ``longer``
    timestamps another one is run.
    """

    sql: str
    kind: str
    target: str
    tables: tuple[str, ...]
    variables: tuple[str, ...]
    needed: tuple[str, ...] = ()
    longer: tuple[int, KnownStatement] | None = None


def statement(step: TickStatement) -> KnownStatement:
    """A step of a tick as it is run.

    >>> found = statement(TickStatement("SELECT c0 FROM delta_1 WHERE c0 <= getvariable('closed')", "tick_2_rows"))
    >>> found.sql[:47], found.tables, found.variables
    ('CREATE OR REPLACE TEMP TABLE tick_2_rows AS SEL', ('delta_1',), ('closed',))
    """
    tables, variables = _TABLE.findall(step.sql), tuple(dict.fromkeys(_VARIABLE.findall(step.sql)))
    if step.table:
        sql = f"CREATE OR REPLACE TEMP {'VIEW' if step.view else 'TABLE'} {step.table} AS {step.sql}"
        kind = _VIEW if step.view else _CREATE
        longer = None if step.longer is None else (step.longer[0], statement(TickStatement(step.longer[1], step.table)))
        return KnownStatement(sql, kind, step.table, tuple(dict.fromkeys(tables)), variables, longer=longer)
    kind, target = step.sql.split(None, 1)[0], tables[0]
    read = tuple(dict.fromkeys(tables[kind == _INSERT :]))
    joins = kind == _UPDATE or " USING " in step.sql
    needed = () if kind == _INSERT else read if joins else (target,)
    return KnownStatement(step.sql, kind, target, read, variables, needed)


def declared(columns: Sequence[tuple[str, str]]) -> str:
    """Columns with their types, as a table declares them."""
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "nothing BOOLEAN"


class Session:
    """A database of an engine's own."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._changes: dict[str, int] = {}
        """How often each table, or variable, has changed."""
        self._views: dict[str, tuple[str, ...]] = {}
        """What the rows of a view are those of."""
        self._variables: dict[str, int] = {}
        self.length = 0
        """How many timestamps there are from the first to the last of the tick's rows."""
        self._without_effect: dict[str, list[int]] = {}
        """Statements that have had no effect when they were last run, with the changes of what they read."""
        self._parsed: dict[str, Statement] = {}

    @cached_property
    def database(self) -> DuckDBPyConnection:
        """Begun when a statement is run: not for operators that are no SQL."""
        made = instance("operators are run", _NOT_RIGHT, _with_exact_sums, asof_loop_join_threshold=_NO_PAIRS)
        return own_database(made, self)

    def create(self, name: str, state: StateTable) -> None:
        """Create the table of a state."""
        self.database.execute(f"CREATE TABLE {name} ({declared(state.columns)})")
        self._changed(name, 0)

    def set(self, name: str, number: int) -> None:
        """Set a variable."""
        if self._variables.get(name) != number:
            self.execute(f"SET VARIABLE {name} = CAST($1 AS BIGINT)", number)
            self._variables[name] = number
            self._changes[name] = self._changes.get(name, 0) + 1

    def run(self, one: KnownStatement) -> None:
        """Run a statement, unless it is known to have no effect."""
        if one.longer is not None and self.length > one.longer[0]:
            one = one.longer[1]
        if one.kind == _VIEW:
            if one.target not in self._views:
                self.database.execute(one.sql)
                self._views[one.target] = one.tables
            return
        if self._has_no_effect(one):
            return
        ((number,),) = self.execute(one.sql).fetchall()
        before = self._rows.get(one.target)
        if number:
            after = {_DELETE: -number, _INSERT: number}.get(one.kind, 0) + (before or 0)
            self._changed(one.target, number if one.kind == _CREATE else after)
            self._without_effect.pop(one.sql, None)
            return
        if one.kind == _CREATE and before != 0:
            self._changed(one.target, 0)
        self._without_effect[one.sql] = self._changes_of(one)

    def _has_no_effect(self, one: KnownStatement) -> bool:
        """Whether a statement would do nothing again: it has done nothing, and reads the same, or only empty tables.

        Of no rows there are no more results than there once were.
        """
        if not all(self.size(name) for name in one.needed):
            return True
        before = self._without_effect.get(one.sql)
        if before is None:
            return False
        return not any(self.size(name) for name in one.tables) or before == self._changes_of(one)

    def _changes_of(self, one: KnownStatement) -> list[int]:
        return [self._version(name) for name in (*one.tables, *one.variables, one.target)]

    def _version(self, name: str) -> int:
        """How often a table, a view's tables, or a variable has changed."""
        return self._changes.get(name, 0) + sum(map(self._version, self._views.get(name, ())))

    def size(self, name: str) -> int:
        """How many rows a table has, or a view."""
        return sum(map(self.size, self._views[name])) if name in self._views else self._rows[name]

    def put(self, name: str, columns: Sequence[tuple[str, str]], table: pa.Table | None = None) -> None:
        """Let a view of these columns have a table's rows, until others are put in their place; None: no rows."""
        if table is None or not table.num_rows:
            if self._rows.get(name) == 0:
                return
            table = _no_rows(columns) if table is None else table
        self.database.register(f"given_{name}", table)
        if name not in self._rows:
            shown = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in columns)
            self.database.execute(f"CREATE TEMP VIEW {name} AS SELECT {shown} FROM given_{name}")
        self._changed(name, table.num_rows)

    def put_relation(self, name: str, kinds: Sequence[str], rows: pa.Table, columns: Sequence[str]) -> None:
        """Let a view have these columns of a relation, of these types by their places, and the weight of each row."""
        import pyarrow as pa

        known = [*zip(places(len(kinds)), kinds, strict=True), ("w", HUGEINT)]
        if not rows.num_rows:
            return self.put(name, known, _no_rows(known))
        found = {place: rows.column(column) for place, column in zip(places(len(kinds)), columns, strict=True)}
        self.put(name, known, pa.table(found | {"w": pa.repeat(1, rows.num_rows)}))

    def fill(self, name: str, rows: pa.Table) -> None:
        """Give a state these rows."""
        if self.size(name):
            self.execute(f"DELETE FROM {name}")
        if rows.num_rows:
            self.database.register(_GIVEN, rows)
            self.execute(f"INSERT INTO {name} SELECT * FROM {_GIVEN}")
            self.database.unregister(_GIVEN)
        self._changed(name, rows.num_rows)

    def execute(self, sql: str, *values: int) -> DuckDBPyConnection:
        """Execute a statement that comes again: it is parsed once, for that is a third of a short one's time."""
        return self.database.execute(self._once(sql), values)

    def read(self, sql: str) -> pa.Table:
        """The rows of a query that comes again."""
        return self.query(sql).to_arrow_table()

    def query(self, sql: str) -> DuckDBPyRelation:
        """A query that comes again, with its columns and their types, before it is executed."""
        return self.database.sql(self._once(sql))

    def _once(self, sql: str) -> Statement:
        if sql not in self._parsed:
            (self._parsed[sql],) = self.database.extract_statements(sql)
        return self._parsed[sql]

    def _changed(self, name: str, rows: int) -> None:
        self._rows[name] = rows
        self._changes[name] = self._changes.get(name, 0) + 1


def _no_rows(columns: Sequence[tuple[str, str]]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array([], arrow_type(kind)) for name, kind in columns})


def as_decimal(column: str, kind: str) -> str:
    """A column as it travels: Arrow has no integers of 128 bits."""
    return f"CAST({column} AS DECIMAL(38, 0)) AS {column}" if kind == HUGEINT else column


@contextmanager
def within_limits(name: str) -> Iterator[None]:
    """Raise OverflowError for a number of an operator that is beyond its type, or beyond 128 bits.

    Raises JobError where its rows need more memory than there is.
    """
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        words = str(error).splitlines()[0].partition("Error: ")[2]
        what = f"{name}: a batch and what is kept need more memory: {words}"
        raise JobError("memory", f"{what}; let batches be smaller, as with --files-per-batch 1", 1) from error
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException) as error:
        words = str(error).splitlines()[0].partition("Error: ")[2]
        own = words.partition("OverflowError: ")[2]  # of a function of ours
        raise OverflowError(own or f"{name}: {words}") from error


def _with_exact_sums(database: DuckDBPyConnection) -> None:
    from streambound_runtime.engine.exact_sums import add_exact_sums

    add_exact_sums(database)
