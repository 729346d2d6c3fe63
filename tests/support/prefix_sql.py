"""DuckDB's results of a query on every prefix of rows of streams and of changes of relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot

from support.oracle import connection

Results = Counter[tuple[Any, ...]]


class PrefixSql:
    """One database, in which each table is filled as time goes by."""

    def __init__(self, catalog: Mapping[str, Any]) -> None:
        self.catalog = catalog
        self.connection = connection()
        self._held: dict[str, list[tuple[Any, ...]]] = {name: [] for name in self._tables()}
        for name, body in self._tables().items():
            columns = ", ".join(f'"{column}" {kind}' for column, kind in body["columns"].items())
            self.connection.execute(f'CREATE TEMP TABLE "{name}" ({columns})')

    def _tables(self) -> dict[str, Any]:
        return {**self.catalog.get("streams", {}), **self.catalog.get("relations", {})}

    def results(self, sql: str, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[int, Results]:
        """The bag of results at each timestamp at which a row comes, of all rows up to it."""
        (statement,) = sqlglot.transpile(sql, read="spark", write="duckdb")
        times = sorted({row["ts"] for listed in rows.values() for row in listed})
        return {time: self._at(statement, rows, time) for time in times}

    def changes(self, sql: str, rows: Mapping[str, Sequence[Mapping[str, Any]]], first: int = 0) -> Results:
        """What is returned at each timestamp from ``first`` on more than before, with the timestamp behind the row."""
        found, before = Results(), Results()
        for time, now in self.results(sql, rows).items():
            for row in {*now, *before} if time >= first else ():
                if now[row] != before[row]:
                    found[(*row, time)] = now[row] - before[row]
            before = now if time >= first else before
        return found

    def _at(self, statement: str, rows: Mapping[str, Sequence[Mapping[str, Any]]], time: int) -> Results:
        for name, body in self._tables().items():
            present = Counter[tuple[Any, ...]]()
            for row in rows.get(name, ()):
                if row["ts"] <= time:
                    values = tuple(row[column] for column in body["columns"])
                    present[values] += -1 if row.get("op") == "delete" else 1
            listed = list(present.elements())
            if listed == self._held[name]:
                continue
            self._held[name] = listed
            self.connection.execute(f'DELETE FROM "{name}"')
            if listed:
                marks = ", ".join([f"({', '.join('?' for _ in body['columns'])})"] * len(listed))
                self.connection.execute(f'INSERT INTO "{name}" VALUES {marks}', [v for row in listed for v in row])
        return Counter(map(_plain, self.connection.execute(statement).fetchall()))


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(float(f"{value:.6g}") if isinstance(value, float) else value for value in row)


def six_digits(printed: Mapping[tuple[Any, ...], int]) -> Results:
    """Printed rows with their doubles as DuckDB's results have them."""
    found = Results()
    for row, n in printed.items():
        found[_plain(row)] += n
    return found
