"""Upserts written to a table of SQLite, DuckDB or PostgreSQL: a batch is one transaction, with its number beside it.

The rows of the keys that changed are deleted, and those that there are now inserted. So NULL in a key is a value like
others, and the table needs no constraint. The table ``streambound_batches`` has the last batch of each table: one that
comes again, after a crash between the transaction and the checkpoint, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from streambound_runtime.decoding.sql_types import SqlType, sql_type
from streambound_runtime.endpoints import in_words, located, options_of
from streambound_runtime.errors import JobError, unwritable, usage
from streambound_runtime.failures import in_one_line
from streambound_runtime.results import OP, UPSERT
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, SinkSpec

if TYPE_CHECKING:
    import pyarrow as pa

BATCHES = "streambound_batches"
_BATCHES = f"CREATE TABLE IF NOT EXISTS {BATCHES} (name VARCHAR(255) PRIMARY KEY, batch BIGINT NOT NULL)"
_TYPES = {"boolean": "BOOLEAN", "date": "DATE", "float": "DOUBLE PRECISION", "timestamp": "TIMESTAMP"}
_INTEGERS = {8: "SMALLINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
_SECONDS = 60
"""For how long SQLite waits while another process writes."""

Values = Sequence[object]


class DatabaseSession(Protocol):
    """The part of a database's driver (PEP 249) that is used."""

    def execute(self, sql: str, values: Values = ..., /) -> object:
        """Execute a statement."""
        ...

    def executemany(self, sql: str, rows: Sequence[Values], /) -> object:
        """Execute a statement for each of some rows of values."""
        ...

    def fetchone(self) -> Values | None:
        """The next row of a result."""
        ...


class TableSink:
    """A table of another database, to which the upserts of each batch are applied."""

    def __init__(self, sink: SinkSpec, job: JobSpec, settings: Settings) -> None:
        self.sink, self.job, self.settings = sink, job, settings
        self.words = in_words(sink, settings)
        self.mark = "%s" if sink.format == "postgres" else "?"

    def check_new(self) -> None:
        """Raise JobError where a job that begins cannot write the table, or where it has the batches of another one."""
        with self._transaction("cannot use") as session:
            if self._last(session) is not None:
                forget = f"DELETE FROM {BATCHES} WHERE name = '{self.sink.table}'"
                raise usage(f"{self.words} holds the batches of another run; empty it and {forget}, or name another")
            try:
                session.execute(f"SELECT {self._names()} FROM {self._table()} WHERE 1 = 0", [])
            except Exception as error:
                what = f"it has no such columns as the result: {in_one_line(error)}"
                raise unwritable(f"cannot use {self.words}: {what}; make it with {self._declared()}") from error

    def write(self, rows: pa.Table | None, batch: int) -> None:
        """Apply a batch's upserts; raises JobError where that fails, or where the table lacks the batch before."""
        with self._transaction(f"cannot write batch {batch} to") as session:
            if (last := self._last(session)) == batch:
                return
            if last != (batch - 1 if batch else None):
                has = "no batch" if last is None else f"batch {last} as the last one"
                what = f"{self.words} has {has}, and this run goes on with {batch}"
                raise usage(f"{what}: give the job its own table, or a new checkpoint and an empty one")
            if rows is not None:
                self._apply(session, rows)
            session.execute(f"DELETE FROM {BATCHES} WHERE name = {self.mark}", [self.sink.table])
            session.execute(f"INSERT INTO {BATCHES} VALUES ({self.mark}, {self.mark})", [self.sink.table, batch])

    def _apply(self, session: DatabaseSession, rows: pa.Table) -> None:
        names = [column.name for column in self.job.columns]
        values = {name: [*map(self._value, rows.column(name).to_pylist())] for name in names}
        keys = sorted(zip(*(values[name] for name in self.job.key), strict=True), key=_nulls)
        for nulls, some in groupby(keys, _nulls):
            pairs = zip(self.job.key, nulls, strict=True)
            tests = (f"{self._named(name)} {'IS NULL' if gone else f'= {self.mark}'}" for name, gone in pairs)
            given = [[value for value in key if value is not None] for key in some]
            sql = f"DELETE FROM {self._table()} WHERE {' AND '.join(tests)}"
            if given[0]:
                session.executemany(sql, given)
            else:
                session.execute(sql, [])
        there = (op == UPSERT for op in rows.column(OP).to_pylist())
        if new := [row for row, one in zip(zip(*values.values(), strict=True), there, strict=True) if one]:
            marks = ", ".join(self.mark for _ in names)
            session.executemany(f"INSERT INTO {self._table()} ({self._names()}) VALUES ({marks})", new)

    def _last(self, session: DatabaseSession) -> int | None:
        """The last batch that the table has; None where it has none."""
        session.execute(_BATCHES, [])
        session.execute(f"SELECT batch FROM {BATCHES} WHERE name = {self.mark}", [self.sink.table])
        found = session.fetchone()
        return None if found is None else int(str(found[0]))

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[DatabaseSession]:
        """A session whose statements count together, or not at all; raises JobError where one fails."""
        try:
            with self._opened() as session:
                session.execute("BEGIN IMMEDIATE" if self.sink.format == "sqlite" else "BEGIN")
                yield session
                session.execute("COMMIT")
        except JobError:
            raise
        except Exception as error:
            raise unwritable(f"{doing} {self.words}: {in_one_line(error)}") from error

    @contextmanager
    def _opened(self) -> Iterator[DatabaseSession]:
        """A session of the database, in which moments are those of UTC."""
        options, place = options_of(self.sink, self.settings), located(self.sink.path, self.settings)
        if self.sink.format == "sqlite":
            import sqlite3

            with closing(sqlite3.connect(place, timeout=_SECONDS, isolation_level=None)) as database:
                yield database.cursor()
        elif self.sink.format == "duckdb":
            import duckdb

            with duckdb.connect(place) as session:
                session.execute("SET TimeZone = 'UTC'")
                yield session
        else:
            try:
                import psycopg
                from psycopg.conninfo import make_conninfo
            except ImportError as error:
                raise usage("a sink of the format postgres needs psycopg: pip install 'psycopg[binary]'") from error
            connection = psycopg.connect(make_conninfo(**options), autocommit=True)
            with closing(connection), connection.cursor() as cursor:
                cursor.execute("SET TIME ZONE 'UTC'")
                yield cursor

    def _value(self, value: object) -> object:
        """A value as the driver takes it: SQLite has texts for dates, moments and decimals."""
        if self.sink.format == "sqlite" and isinstance(value, date | Decimal):
            return str(value.replace(tzinfo=None) if isinstance(value, datetime) else value)
        return value

    def _named(self, name: str) -> str:
        text = '"' + name.replace('"', '""') + '"'
        return text.replace("%", "%%") if self.mark == "%s" else text

    def _names(self) -> str:
        return ", ".join(self._named(column.name) for column in self.job.columns)

    def _table(self) -> str:
        return ".".join(map(self._named, self.sink.table.split(".")))

    def _declared(self) -> str:
        columns = (f"{self._named(column.name)} {_declared(sql_type(column.type))}" for column in self.job.columns)
        return f"CREATE TABLE {self._table()} ({', '.join(columns)})"


def _nulls(key: Values) -> tuple[bool, ...]:
    return tuple(value is None for value in key)


def _declared(kind: SqlType) -> str:
    """A type of standard SQL for the values of one."""
    if kind.family == "integer":
        return _INTEGERS[kind.bits]
    if kind.family == "decimal":
        return f"DECIMAL({kind.digits}, {kind.scale})"
    return _TYPES.get(kind.family, "TEXT")
