"""What a query must print, by brute force in DuckDB: from SQL text, catalog mapping and rows, and nothing else.

Two independent ways: `expected` adds a hidden timestamp column to every SELECT and groups by it; `prefix_expected` runs
the statement as it stands on every prefix of the streams and takes differences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from support.encoding import Row, Rows, column_types, encode, encode_result

HIDDEN = "hidden_ts"
Clocks = dict[str, tuple[str, bool]]
"""The timestamp column of each stream, and whether it has a timestamp type (else it is an integer)."""
_DUCKDB_TYPES = {"string": "varchar", "timestamp_ltz": "timestamp", "timestamp_ntz": "timestamp", "float": "double"}


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def connection() -> duckdb.DuckDBPyConnection:
    """One with temporary tables and variables of its own: opening a database takes twenty times as long."""
    return _engine().cursor()


class Oracle:
    """A database that holds one catalog's rows and evaluates statements on any prefix of them."""

    def __init__(self, catalog: Mapping[str, Any], rows: Rows) -> None:
        self._database = connection()
        self._streams = {name.lower(): body["timestamp"] for name, body in catalog.get("streams", {}).items()}
        self._clocks = tuple(
            (name.lower(), body["timestamp"], body["columns"][body["timestamp"]].startswith("timestamp"))
            for name, body in catalog.get("streams", {}).items()
        )
        types = column_types(catalog)
        self.timestamps = _timestamps(catalog, rows)
        for table, columns in types.items():
            declared = ", ".join(f'"{name}" {_DUCKDB_TYPES.get(kind, kind)}' for name, kind in columns.items())
            seen = f"encoded_{HIDDEN} bigint"
            self._database.execute(f'CREATE TEMP TABLE "all {table}" ({declared}, {seen})')
            stamped = [self._literals(table, columns, row) for row in rows.get(table, ())]
            for start in range(0, len(stamped), 500):
                values = ", ".join(stamped[start : start + 500])
                self._database.execute(f'INSERT INTO "all {table}" VALUES {values}')
            names = ", ".join(f'"{name}"' for name in columns)
            until = f"WHERE encoded_{HIDDEN} <= getvariable('now')" if table.lower() in self._streams else ""
            self._database.execute(f'CREATE TEMP VIEW "{table}" AS SELECT {names} FROM "all {table}" {until}')
        self._until(None)

    def _literals(self, table: str, columns: Mapping[str, str], row: Row) -> str:
        time = self._streams.get(table.lower())
        values = [_literal(row.get(name), kind) for name, kind in columns.items()]
        return f"({', '.join(values)}, {encode(row[time], columns[time]) if time else 'NULL'})"

    def _until(self, now: int | None) -> None:
        self._database.execute(f"SET VARIABLE now = {now if now is not None else 2**62}")

    def rows(self, sql: str, now: int | None = None) -> list[Row]:
        """A statement's rows as they stand, on the tuples up to an (encoded) timestamp."""
        self._until(now)
        return self._fetch(_duckdb_text(sql))

    def _fetch(self, text: str) -> list[Row]:
        result = self._database.execute(text)
        names = [column[0] for column in result.description or ()]
        return [
            {name: encode_result(value) for name, value in zip(names, values, strict=True)}
            for values in result.fetchall()
        ]

    def expected(self, sql: str) -> list[Row]:
        """The output of `run`: rows with ``_ts`` and ``_mult``, in order of ``_ts``."""
        self._until(None)
        return self._fetch(_stamped_text(sql, self._clocks))

    def counts(self, sql: str, now: int | None = None) -> Counter[tuple[Any, ...]]:
        """A statement's rows as a multiset of value tuples."""
        self._until(now)
        found: Counter[tuple[Any, ...]] = Counter()
        for row, times in Counter(self._database.execute(_duckdb_text(sql)).fetchall()).items():
            found[tuple(map(encode_result, row))] += times
        return found

    def number(self, sql: str) -> int:
        """How many rows a statement has, which may be too many to look at."""
        self._until(None)
        (found,) = self._database.execute(f"SELECT count(*) FROM ({_duckdb_text(sql)}) AS q").fetchone() or ()
        return int(found)

    def prefix_expected(self, sql: str) -> dict[int, Counter[tuple[Any, ...]]]:
        """For every timestamp, what becomes true at it: the difference of the results on two prefixes."""
        before: Counter[tuple[Any, ...]] = Counter()
        new = {}
        for now in self.timestamps:
            after = self.counts(sql, now)
            assert not before - after, "results never disappear"
            new[now] = after - before
            before = after
        return new


def expected(sql: str, catalog: Mapping[str, Any], rows: Rows) -> list[Row]:
    """The output of `run` for one statement."""
    return Oracle(catalog, rows).expected(sql)


def prefix_expected(sql: str, catalog: Mapping[str, Any], rows: Rows) -> dict[int, Counter[tuple[Any, ...]]]:
    """What each timestamp adds to the result of one statement."""
    return Oracle(catalog, rows).prefix_expected(sql)


def by_timestamp(output: Sequence[Row]) -> dict[int, Counter[tuple[Any, ...]]]:
    """The output of `run` in the form of `prefix_expected`, without timestamps at which nothing happens."""
    found: dict[int, Counter[tuple[Any, ...]]] = {}
    for row in output:
        values = tuple(value for name, value in row.items() if name not in ("_ts", "_mult"))
        found.setdefault(row["_ts"], Counter())[values] += row["_mult"]
    return found


def _timestamps(catalog: Mapping[str, Any], rows: Rows) -> list[int]:
    times = {
        encode(row[body["timestamp"]], body["columns"][body["timestamp"]])
        for name, body in catalog.get("streams", {}).items()
        for row in rows.get(name, ())
    }
    return sorted(times)


def _literal(value: Any, kind: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        quoted = "'" + value.replace("'", "''") + "'"
        return quoted if kind == "string" else f"CAST({quoted} AS {kind})"
    return f"{value!r}::DOUBLE" if isinstance(value, float) else repr(value)


def _parsed(sql: str) -> exp.Expression:
    statements = [tree for tree in sqlglot.parse(sql, read="spark") if tree is not None]
    assert len(statements) == 1, "one statement at a time"
    return statements[0]


@cache
def _duckdb_text(sql: str) -> str:
    return _parsed(sql).sql("duckdb")


@cache
def _stamped_text(sql: str, clocks: tuple[tuple[str, str, bool], ...]) -> str:
    tree = _parsed(sql)
    names = ", ".join(f'"{name}"' for name in tree.named_selects)
    distinct = bool(tree.args.get("distinct"))
    body = _stamped(tree, {name: (time, is_moment) for name, time, is_moment in clocks}, frozenset()).sql("duckdb")
    if distinct:
        return f"SELECT {names}, min({HIDDEN}) AS _ts, 1 AS _mult FROM ({body}) AS q GROUP BY {names} ORDER BY _ts"
    return (
        f"SELECT {names}, {HIDDEN} AS _ts, count(*) AS _mult FROM ({body}) AS q GROUP BY {names}, {HIDDEN} ORDER BY _ts"
    )


def _stamped(tree: exp.Expression, clocks: Clocks, ctes: frozenset[str]) -> exp.Expression:
    """The query with the greatest timestamp of the joined tuples as a last column, at every level."""
    clause = tree.args.get("with_")
    for cte in clause.expressions if clause else ():
        cte.set("this", _stamped(cte.this, clocks, ctes))
        if (alias := cte.args.get("alias")) and alias.args.get("columns"):
            alias.append("columns", exp.to_identifier(HIDDEN))
        ctes = ctes | {cte.alias.lower()}
    if isinstance(tree, exp.Union):
        tree.set("this", _stamped(tree.this, clocks, ctes))
        tree.set("expression", _stamped(tree.expression, clocks, ctes))
        return tree
    if isinstance(tree, exp.Subquery):
        tree.set("this", _stamped(tree.this, clocks, ctes))
        return tree
    assert isinstance(tree, exp.Select)
    times = list(_times(tree, clocks, ctes))
    newest = exp.func("GREATEST", exp.cast(exp.null(), "bigint"), *times)  # ignores NULL: relations have no time
    tree.append("expressions", exp.alias_(newest, HIDDEN))
    return tree


def _times(select: exp.Select, clocks: Clocks, ctes: frozenset[str]) -> Iterator[exp.Expression]:
    entries = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
    for entry in entries:
        if isinstance(entry, exp.Subquery):
            entry.set("this", _stamped(entry.this, clocks, ctes))
            if (alias := entry.args.get("alias")) and alias.args.get("columns"):
                alias.append("columns", exp.to_identifier(HIDDEN))
            yield exp.column(HIDDEN, table=entry.alias_or_name)
        elif entry.name.lower() in ctes:
            yield exp.column(HIDDEN, table=entry.alias_or_name)
        elif entry.name.lower() in clocks:
            name, is_moment = clocks[entry.name.lower()]
            time = exp.column(name, table=entry.alias_or_name)
            yield exp.func("EPOCH_US", time) if is_moment else time
