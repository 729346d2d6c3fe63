"""Random SEQ VT queries, and what they give at every point of time: DuckDB evaluates each snapshot by itself.

Nothing here knows how periods are rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from support.choices import Choices

Rows = list[tuple[Any, ...]]
"""Values, then begin and end."""
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
_WORDS = (("LEFT SEMI JOIN", "SEMI JOIN"), ("LEFT ANTI JOIN", "ANTI JOIN"), ("AS string)", "AS VARCHAR)"))
COLUMNS = {"r": {"a": "bigint", "b": "int"}, "s": {"a": "bigint", "c": "string"}, "u": {"b": "int", "d": "double"}}
LOW, HIGH = 0, 12
_DUCKDB = {"string": "VARCHAR"}


@dataclass(frozen=True)
class Generated:
    """A query over `COLUMNS`, and rows for its relations."""

    sql: str
    rows: dict[str, Rows]


def generated(choices: Choices) -> Generated:
    """A query and rows."""
    rows = {name: [_row(choices, columns) for _ in range(choices.integer(0, 7))] for name, columns in COLUMNS.items()}
    return Generated(_Queries(choices).query(2)[0], rows)


def _row(choices: Choices, columns: dict[str, str]) -> tuple[Any, ...]:
    begin = choices.integer(LOW, HIGH - 1)
    end = choices.integer(begin + 1, HIGH)
    return (*(_value(choices, kind) for kind in columns.values()), begin, end)


def _value(choices: Choices, kind: str) -> Any:
    if choices.integer(0, 4) == 0:
        return None
    match kind:
        case "string":
            return choices.pick(["x", "y", "o'k"])
        case "double":
            return choices.pick([0.5, -0.0, 0.0, 0.25, 1.0, -2.5])
    return choices.integer(-1, 3)


class _Queries:
    def __init__(self, choices: Choices) -> None:
        self.choices, self.number = choices, 0

    def query(self, depth: int) -> tuple[str, list[str]]:
        """A query with the types of its columns, which are called c0, c1 and so on."""
        kind = self.choices.integer(0, 9) if depth else self.choices.integer(0, 4)
        if kind <= 4:
            return self._select(depth)
        left, types = self._select(depth - 1)
        right = self._like(types, depth - 1)
        word = self.choices.pick(["UNION ALL", "UNION", "EXCEPT ALL", "EXCEPT", "INTERSECT ALL", "INTERSECT"])
        return f"({left}) {word} ({right})", types

    def _like(self, types: list[str], depth: int) -> str:
        """A query with columns of these types."""
        source, columns = self._source(depth)
        items = []
        for place, kind in enumerate(types):
            fitting = [name for name, own in columns if own == kind]
            items.append(f"{self.choices.pick(fitting) if fitting else f'CAST(NULL AS {kind})'} AS c{place}")
        return f"SELECT {', '.join(items)} FROM {source}{self._where(columns)}"

    def _select(self, depth: int) -> tuple[str, list[str]]:
        source, columns = self._source(depth)
        where = self._where(columns)
        shape = self.choices.integer(0, 5)
        if shape <= 1:
            return self._grouped(source, columns, where)
        chosen = [self.choices.pick(columns) for _ in range(self.choices.integer(1, 2))]
        distinct = "DISTINCT " if shape == 2 else ""
        items = ", ".join(f"{name} AS c{place}" for place, (name, _) in enumerate(chosen))
        return f"SELECT {distinct}{items} FROM {source}{where}", [kind for _, kind in chosen]

    def _grouped(self, source: str, columns: list[tuple[str, str]], where: str) -> tuple[str, list[str]]:
        keys = [self.choices.pick(columns) for _ in range(self.choices.integer(0, 1))]
        name, kind = self.choices.pick(columns)
        made = [("COUNT(*)", "bigint"), (f"COUNT({name})", "bigint"), (f"COUNT(DISTINCT {name})", "bigint")]
        made += [(f"MIN({name})", kind), (f"MAX({name})", kind)]
        if kind in ("int", "bigint"):
            made += [(f"CAST(SUM({name}) AS BIGINT)", "bigint"), (f"CAST(AVG({name}) AS DOUBLE)", "double")]
        if kind == "double":
            made += [(f"SUM({name})", "double")]
        calls = [self.choices.pick(made) for _ in range(self.choices.integer(1, 2))]
        items = ", ".join(f"{text} AS c{place}" for place, (text, _) in enumerate([*keys, *calls]))
        group = f" GROUP BY {keys[0][0]}" if keys else ""
        having = self.choices.pick(["", "", " HAVING COUNT(*) > 1", self._asking(keys)])
        return f"SELECT {items} FROM {source}{where}{group}{having}", [kind for _, kind in [*keys, *calls]]

    def _asking(self, keys: list[tuple[str, str]]) -> str:
        """A HAVING with a subquery about the groups' key, or their number of rows."""
        if not keys:
            return " HAVING COUNT(*) IN (SELECT b FROM r)"
        return self._where(keys).replace(" WHERE ", " HAVING ", 1)

    def _source(self, depth: int) -> tuple[str, list[tuple[str, str]]]:
        first, columns = self._entry(depth)
        if self.choices.integer(0, 2) == 0:
            return first, columns
        other, more = self._entry(0)
        join = self.choices.pick(
            ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
        )
        on = self._comparison(columns, more)
        return f"{first} {join} {other} ON {on}", columns if "SEMI" in join or "ANTI" in join else [*columns, *more]

    def _comparison(self, left: list[tuple[str, str]], right: list[tuple[str, str]]) -> str:
        pairs = [(a, b) for a, one in left for b, two in right if (one == "string") == (two == "string")]
        if not pairs:
            return "1 = 1"
        a, b = self.choices.pick(pairs)
        found = f"{a} {self.choices.pick(['=', '=', '=', '<', '<>'])} {b}"
        return found if self.choices.integer(0, 2) else f"{found} AND {a} IS NOT NULL"

    def _entry(self, depth: int) -> tuple[str, list[tuple[str, str]]]:
        self.number += 1
        alias = f"t{self.number}"
        if depth and self.choices.integer(0, 3) == 0:
            inner, types = self.query(depth - 1)
            return f"({inner}) AS {alias}", [(f"{alias}.c{place}", kind) for place, kind in enumerate(types)]
        name = self.choices.pick([*COLUMNS])
        return f"{name} AS {alias}", [(f"{alias}.{column}", kind) for column, kind in COLUMNS[name].items()]

    def _where(self, columns: list[tuple[str, str]]) -> str:
        shape = self.choices.integer(0, 5)
        name, kind = self.choices.pick(columns)
        value = "'x'" if kind == "string" else "1"
        self.number += 1
        alias, table = f"t{self.number}", self.choices.pick([*COLUMNS])
        inner = [column for column, own in COLUMNS[table].items() if (own == "string") == (kind == "string")]
        if shape == 0:
            return f" WHERE {name} {self.choices.pick(['=', '<>', '<='])} {value}"
        if shape == 1 and inner:
            word = self.choices.pick(["IN", "NOT IN"])
            return f" WHERE {name} {word} (SELECT {alias}.{inner[0]} FROM {table} AS {alias})"
        if shape == 2 and inner:
            word = self.choices.pick(["EXISTS", "NOT EXISTS"])
            return f" WHERE {word} (SELECT 1 FROM {table} AS {alias} WHERE {alias}.{inner[0]} = {name})"
        return ""


def history(given: Generated, connection: Any) -> Counter[tuple[Any, ...]]:
    """The result by its meaning: rows (values, begin, end, multiplicity), maximal, from the snapshots of every time."""
    for name, columns in COLUMNS.items():
        declared = ", ".join(f"{column} {_DUCKDB.get(kind, kind)}" for column, kind in columns.items())
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({declared})")
    at: dict[tuple[Any, ...], dict[int, int]] = {}
    held: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
    result: Counter[tuple[Any, ...]] | None = None
    for time in range(LOW, HIGH):
        for name, columns in COLUMNS.items():
            rows = [tuple(row[:-2]) for row in given.rows[name] if row[-2] <= time < row[-1]]
            if rows == held[name]:
                continue
            held[name], result = rows, None
            connection.execute(f"DELETE FROM {name}")
            if rows:
                marks = ", ".join([f"({', '.join('?' for _ in columns)})"] * len(rows))
                connection.execute(f"INSERT INTO {name} VALUES {marks}", [value for row in rows for value in row])
        if result is None:
            result = Counter(map(plain, connection.execute(in_duckdb(given.sql)).fetchall()))
        for row, count in result.items():
            at.setdefault(row, {})[time] = count
    return Counter(piece for row, counts in at.items() for piece in _maximal(row, counts))


def in_duckdb(sql: str) -> str:
    """The query in DuckDB's words."""
    for ours, theirs in (
        ("LEFT SEMI JOIN", "SEMI JOIN"),
        ("LEFT ANTI JOIN", "ANTI JOIN"),
        ("AS string)", "AS VARCHAR)"),
    ):
        sql = sql.replace(ours, theirs)
    return sql


def _maximal(row: tuple[Any, ...], counts: dict[int, int]) -> Iterable[tuple[Any, ...]]:
    changes = [time for time in range(LOW, HIGH + 1) if counts.get(time, 0) != counts.get(time - 1, 0)]
    for begin, end in pairwise(changes):
        if counts.get(begin, 0):
            yield (*row, begin, end, counts[begin])


def plain(row: Iterable[Any]) -> tuple[Any, ...]:
    """A row whose doubles are equal where they are to nine places."""
    return tuple(round(value, 9) + 0.0 if isinstance(value, float) else value for value in row)
