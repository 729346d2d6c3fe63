"""A statement as one batch query in DuckDB, over rows of which any part can be switched on or off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import UsageError
from streambound.analyzer.types import DataType, Family

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of each table, as JSON objects."""

_PART = "streambound_part"
_INTEGERS = dict.fromkeys(("byte", "tinyint", "short", "smallint"), "INTEGER")
"""DuckDB adds a constant to a TINYINT in 8 bits; Spark adds an INT to it."""
_TYPES = {"string": "VARCHAR", "long": "BIGINT", **_INTEGERS} | dict.fromkeys(("float", "real"), "DOUBLE")


class BatchSql:
    """Temporary tables of a catalog in DuckDB; every row belongs to a part, a number of bits.

    A query sees the rows whose bits are all sent. Raises UsageError where DuckDB is not installed.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._database = _engine().cursor()  # a connection of its own: temporary tables and variables are apart
        self._database.execute("SET TimeZone = 'UTC'")
        self._columns, self._marks = {}, {}
        for table in catalog.tables:
            names = [column.name for column in table.columns]
            declared = ", ".join(f"{_quoted(c.name)} {_duckdb_type(c.type.name)}" for c in table.columns)
            self._columns[table.name] = names
            self._marks[table.name] = ["?::FLOAT" if _is_single(column.type) else "?" for column in table.columns]
            stored, shown = _quoted(f"all {table.name}"), ", ".join(map(_quoted, names))
            self._database.execute(f"CREATE TEMP TABLE {stored} ({declared}, {_PART} BIGINT)")
            chosen = f"SELECT {shown} FROM {stored} WHERE {_PART} & getvariable('sent') = {_PART}"
            self._database.execute(f"CREATE TEMP VIEW {_quoted(table.name)} AS {chosen}")

    def add(self, rows: Rows, part: int) -> None:
        """Insert rows of a part."""
        for table, mine in rows.items():
            names = self._columns[table]
            marks = f"({', '.join((*self._marks[table], '?'))})"
            values = [value for row in mine for value in (*(row.get(name) for name in names), part)]
            if values:
                many = ", ".join([marks] * len(mine))
                self._database.execute(f"INSERT INTO {_quoted(f'all {table}')} VALUES {many}", values)

    def results(self, text: str, sent: int) -> Counter[tuple[Any, ...]]:
        """The result of a statement, in DuckDB's dialect, on the rows of the parts sent, as a multiset."""
        self._database.execute(f"SET VARIABLE sent = {sent}")
        return Counter(self._database.execute(text).fetchall())

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


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


def _duckdb_type(name: str) -> str:
    if name.startswith("timestamp"):
        return "TIMESTAMP"
    if name.startswith(("varchar", "char")):
        return "VARCHAR"
    return _TYPES.get(name) or exp.DataType.build(name, dialect="spark").sql(dialect="duckdb")


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
