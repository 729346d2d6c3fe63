"""A statement as one batch query in DuckDB, over rows of which any part can be switched on or off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import inf, prod
from typing import TYPE_CHECKING, Any

from sqlglot import exp, parse_one

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import UsageError
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value, encode_number, encode_text, to_json
from streambound.recheck.oracle.duckdb_text import duckdb_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of each table, as JSON objects."""

_PART, _SENT, _PREPARED = "streambound_part", "streambound_sent", "streambound_statement"
_WEIGHT = "streambound_weight"
_FEW = 50_000
"""Combinations of rows that DuckDB goes through sooner than it plans, and builds, better ways to join them."""
_INTEGERS = dict.fromkeys(("byte", "tinyint", "short", "smallint"), "INTEGER")
"""DuckDB adds a constant to a TINYINT in 8 bits; Spark adds an INT to it."""
_TYPES = {"string": "VARCHAR", "long": "BIGINT", **_INTEGERS} | dict.fromkeys(("float", "real"), "DOUBLE")


class BatchSql:
    """Temporary tables of a catalog in DuckDB; every row belongs to a part, a number of bits.

    A query sees the rows whose bits are all sent. Raises UsageError where DuckDB is not installed.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._database = open_database()
        self._database.execute(f"CREATE TEMP TABLE {_SENT} (bits BIGINT)")
        self._database.execute(f"INSERT INTO {_SENT} VALUES (0)")
        self._columns, self._marks, self._rows = {}, {}, Counter[str]()
        self._prepared: str | None = None
        self._changes = {table.name: table.changes for table in catalog.tables}
        for table in catalog.tables:
            names = [column.name for column in table.columns]
            declared = ", ".join(f"{quoted(c.name)} {duckdb_type(c.type.name)}" for c in table.columns)
            self._columns[table.name] = names
            self._marks[table.name] = ["?::FLOAT" if _is_single(column.type) else "?" for column in table.columns]
            stored, shown = quoted(f"all {table.name}"), ", ".join(map(quoted, names))
            self._database.execute(f"CREATE TEMP TABLE {stored} ({declared}, {_WEIGHT} BIGINT, {_PART} BIGINT)")
            chosen = f"SELECT {shown} FROM {stored}, {_SENT} WHERE {_PART} & bits = {_PART}"
            if table.changes is not None:
                summed = f"SELECT {shown}, sum({_WEIGHT})::BIGINT AS n {chosen[chosen.index('FROM') :]} GROUP BY ALL"
                chosen = f"SELECT {shown} FROM ({summed}), generate_series(1, n)"
            self._database.execute(f"CREATE TEMP VIEW {quoted(table.name)} AS {chosen}")

    def add(self, rows: Rows, part: int) -> None:
        """Insert rows of a part."""
        self._prepared = None
        for table, mine in rows.items():
            self._rows[table.lower()] += len(mine)
            names = self._columns[table]
            marks = f"({', '.join((*self._marks[table], '?', '?'))})"
            weights = [self._weight(table, row) for row in mine]
            pairs = zip(mine, weights, strict=True)
            values = [value for row, weight in pairs for value in (*(row.get(name) for name in names), weight, part)]
            if values:
                many = ", ".join([marks] * len(mine))
                self._database.execute(f"INSERT INTO {quoted(f'all {table}')} VALUES {many}", values)

    def _weight(self, table: str, row: Mapping[str, Any]) -> int:
        """-1 for a row that a relation that changes loses."""
        changes = self._changes[table]
        return -1 if changes is not None and row.get(changes.op.name) == changes.delete else 1

    def results(self, text: str, sent: int) -> Counter[tuple[Any, ...]]:
        """The result of a statement, in DuckDB's dialect, on the rows of the parts sent, as a multiset.

        It is planned once for all parts, which takes longer than running it on the few rows of a witness.
        """
        if self._prepared != text:
            few = _combinations(parse_one(text, dialect="duckdb"), self._rows) <= _FEW
            self._database.execute(f"PRAGMA {'disable' if few else 'enable'}_optimizer")
            self._database.execute(f"PREPARE {_PREPARED} AS {text}")
            self._prepared = text
        self._database.execute(f"UPDATE {_SENT} SET bits = {sent}")
        return Counter(self._database.execute(f"EXECUTE {_PREPARED}").fetchall())

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


def open_database() -> DuckDBPyConnection:
    """A connection of its own: temporary tables and variables are apart. Raises UsageError without DuckDB."""
    database = _engine().cursor()
    database.execute("SET TimeZone = 'UTC'")
    return database


def _combinations(tree: exp.Expr | None, rows: Mapping[str, int]) -> float:
    """How many combinations of rows the joins of a statement have; infinitely many where that is not clear."""
    match tree:
        case exp.Table():
            return rows.get(tree.name.lower(), inf)
        case exp.Subquery() | exp.From() | exp.Join():
            return _combinations(tree.this, rows)
        case exp.SetOperation():
            return _combinations(tree.left, rows) + _combinations(tree.right, rows)
        case exp.Select():
            sources = [tree.args.get("from_"), *tree.args.get("joins", ())]
            return prod(_combinations(source, rows) for source in sources)
    return inf


@cache
def _engine() -> DuckDBPyConnection:
    """The database in memory, empty but for the temporary tables of its connections."""
    try:
        import duckdb
    except ImportError as error:
        remedy = "pip install 'streambound[prove]'"
        raise UsageError("proving needs DuckDB, which is not installed", remedy=remedy) from error
    return duckdb.connect(config={"threads": 1})


def _is_single(kind: DataType) -> bool:
    """Whether values are rounded to 32 bits, but compared with constants as those of 64 bits, as Spark does."""
    return kind.family is Family.FLOAT and kind.bits == 32


def duckdb_type(name: str) -> str:
    """DuckDB's name of a type that Spark calls so."""
    if name.startswith("timestamp"):
        return "TIMESTAMP"
    if name.startswith(("varchar", "char")):
        return "VARCHAR"
    return _TYPES.get(name) or exp.DataType.build(name, dialect="spark").sql(dialect="duckdb")


def quoted(name: str) -> str:
    """A name in DuckDB's quotes."""
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


class RowValues:
    """Evaluates derived columns of single rows, each value once; raises UsageError where DuckDB is not installed."""

    def __init__(self) -> None:
        self._database = open_database()
        self._known: dict[tuple[object, ...], Value | NotKnown | None] = {}

    def __call__(self, column: Column, read: Sequence[Column], row: Mapping[str, Value | None]) -> Value | None:
        """The value of a column in a row, by the columns that it reads; raises NotKnown where DuckDB has none."""
        given = [to_json(row[one.name], one.type) for one in read]
        key = (column.expression, column.type, *((one.name, one.type) for one in read), *given)
        if key not in self._known:
            self._known[key] = self._value(column, read, given)
        found = self._known[key]
        if isinstance(found, NotKnown):
            raise found
        return found

    def _value(self, column: Column, read: Sequence[Column], given: list[object]) -> Value | NotKnown | None:
        import duckdb

        shown = duckdb_text(exp.select(parsed(column.expression).copy()))
        names = [f"CAST(? AS {duckdb_type(one.type.name)}) AS {quoted(one.name)}" for one in read]
        source = f" FROM (SELECT {', '.join(names)}) AS one_row" if names else ""
        try:
            (value,) = self._database.execute(shown + source, given).fetchall()[0]
            return None if value is None else _encoded(value, column.type)
        except (duckdb.Error, ValueError) as error:
            return NotKnown(str(error))

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


def _encoded(value: object, kind: DataType) -> Value:
    """A value that DuckDB gives as one of a type; raises ValueError where it is none."""
    match value:
        case bool():
            return int(value)
        case int() | float() | Decimal():
            number = encode_number(Fraction(value), kind)
            return number if kind.family is Family.FLOAT else _whole(number)
        case str():
            return encode_text(value, kind)
        case date() | datetime():
            return encode_text(str(value), kind)
    raise ValueError(f"{value!r} is no {kind.name}")


def _whole(number: Value) -> Value:
    if not isinstance(number, Fraction) or number.denominator != 1:
        raise ValueError(f"{number} is not in units of its type")
    return int(number)
