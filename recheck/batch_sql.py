"""A statement as one batch query in DuckDB, over rows of which any part can be switched on or off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from analyzer.catalog import Catalog
from analyzer.errors import UsageError

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of each table, as JSON objects."""

_PART = "streambound_part"
_TYPES = {"string": "VARCHAR", "byte": "TINYINT", "short": "SMALLINT", "long": "BIGINT", "real": "FLOAT"}


class BatchSql:
    """Tables of a catalog in a DuckDB database of their own; every row belongs to a part, a number of bits.

    A query sees the rows whose bits are all sent. Raises UsageError where DuckDB is not installed.
    """

    def __init__(self, catalog: Catalog) -> None:
        try:
            import duckdb
        except ImportError as error:
            remedy = "pip install 'streambound[prove]'"
            raise UsageError("proving needs DuckDB, which is not installed", remedy=remedy) from error
        self._database = duckdb.connect(config={"threads": 1})
        self._database.execute("SET TimeZone = 'UTC'")
        self._columns = {}
        for table in catalog.tables:
            names = [column.name for column in table.columns]
            declared = ", ".join(f"{_quoted(c.name)} {_duckdb_type(c.type.name)}" for c in table.columns)
            self._columns[table.name] = names
            stored, shown = _quoted(f"all {table.name}"), ", ".join(map(_quoted, names))
            self._database.execute(f"CREATE TABLE {stored} ({declared}, {_PART} BIGINT)")
            sent = f"{_PART} & getvariable('sent') = {_PART}"
            self._database.execute(f"CREATE VIEW {_quoted(table.name)} AS SELECT {shown} FROM {stored} WHERE {sent}")

    def add(self, rows: Rows, part: int) -> None:
        """Insert rows of a part."""
        for table, mine in rows.items():
            names = self._columns[table]
            marks = ", ".join("?" * (len(names) + 1))
            for row in mine:
                values = [*(row.get(name) for name in names), part]
                self._database.execute(f"INSERT INTO {_quoted(f'all {table}')} VALUES ({marks})", values)

    def results(self, statement: exp.Expr, sent: int) -> Counter[tuple[Any, ...]]:
        """The statement's result on the rows of the parts sent, as a multiset."""
        self._database.execute(f"SET VARIABLE sent = {sent}")
        return Counter(self._database.execute(statement.sql(dialect="duckdb")).fetchall())

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


def _duckdb_type(name: str) -> str:
    if name.startswith("timestamp"):
        return "TIMESTAMP"
    if name.startswith(("varchar", "char")):
        return "VARCHAR"
    return _TYPES.get(name) or exp.DataType.build(name, dialect="spark").sql(dialect="duckdb")


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
