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
Columns = list[tuple[str, str]]
"""Names, as a query writes them, and types."""
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN")
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
    return Generated(_Queries(choices).statement(), rows)


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
        self.named = list[str]()

    def statement(self) -> str:
        """A query, with those that have names."""
        query, _ = self.query(2)
        return f"WITH {', '.join(self.named)} {query}" if self.named else query

    def query(self, depth: int) -> tuple[str, list[str]]:
        """A query with the types of its columns, which are called c0, c1 and so on."""
        kind = self.choices.integer(0, 9) if depth else self.choices.integer(0, 4)
        if kind <= 4:
            return self._select(depth)
        parts, types = self._select(depth - 1)
        for _ in range(1 + self.choices.chance(25)):  # INTERSECT binds more tightly than the others
            words = ["UNION ALL", "UNION", "EXCEPT ALL", "EXCEPT", "INTERSECT ALL", "INTERSECT"]
            right = self._like(types, depth - 1)
            parts += f" {self.choices.pick(words)} {f'({right})' if self.choices.chance(40) else right}"
        return parts, types

    def _like(self, types: list[str], depth: int) -> str:
        """A query with columns of these types."""
        source, columns = self._source(depth)
        items = (f"{self._item(columns, kind)} AS c{place}" for place, kind in enumerate(types))
        return f"SELECT {', '.join(items)} FROM {source}{self._where(columns)}"

    def _select(self, depth: int) -> tuple[str, list[str]]:
        source, columns = self._source(depth)
        where = self._where(columns)
        shape = self.choices.integer(0, 5)
        if shape <= 1:
            return self._grouped(source, columns, where)
        types = [self.choices.pick(columns)[1] for _ in range(self.choices.integer(1, 2))]
        distinct = "DISTINCT " if shape == 2 else ""
        items = ", ".join(f"{self._item(columns, kind)} AS c{place}" for place, kind in enumerate(types))
        return f"SELECT {distinct}{items} FROM {source}{where}", types

    def _item(self, columns: Columns, kind: str) -> str:
        """An expression of a type: most often a column."""
        fitting = [name for name, own in columns if own == kind]
        if not fitting:
            return f"CAST(NULL AS {kind})"
        column, shape = self.choices.pick(fitting), self.choices.integer(0, 11)
        if shape == 9:
            return f"COALESCE({column}, {self.choices.pick(fitting)})"
        if shape == 10:
            return f"CASE WHEN {self._condition(columns, 0)} THEN {column} END"
        if shape == 11 and kind != "string":
            return f"CAST({column} {self.choices.pick('+-*')} {self.choices.pick(fitting)} AS {kind})"
        return column

    def _grouped(self, source: str, columns: Columns, where: str) -> tuple[str, list[str]]:
        keys = [self.choices.pick(columns) for _ in range(self.choices.integer(0, 1))]
        name, kind = self.choices.pick(columns)
        made = [("COUNT(*)", "bigint"), (f"COUNT({name})", "bigint"), (f"COUNT(DISTINCT {name})", "bigint")]
        made += [(f"MIN({name})", kind), (f"MAX({name})", kind)]
        if kind in ("int", "bigint"):
            made += [(f"CAST(SUM({name}) AS BIGINT)", "bigint"), (f"CAST(AVG({name}) AS DOUBLE)", "double")]
            made += [(f"CAST(SUM(DISTINCT {name}) AS BIGINT)", "bigint")]
        if kind == "double":
            made += [(f"SUM({name})", "double")]
        calls = [self.choices.pick(made) for _ in range(self.choices.integer(1, 2))]
        items = ", ".join(f"{text} AS c{place}" for place, (text, _) in enumerate([*keys, *calls]))
        group = f" GROUP BY {keys[0][0]}" if keys else ""
        having = self.choices.pick(["", "", " HAVING COUNT(*) > 1", self._asking(keys)])
        return f"SELECT {items} FROM {source}{where}{group}{having}", [kind for _, kind in [*keys, *calls]]

    def _asking(self, keys: Columns) -> str:
        """A HAVING about the groups' key, or their number of rows, most often with a subquery."""
        if not keys:
            return " HAVING COUNT(*) IN (SELECT b FROM r)"
        return self._where(keys).replace(" WHERE ", " HAVING ", 1)

    def _source(self, depth: int) -> tuple[str, Columns]:
        source, columns = self._entry(depth)
        if self.choices.integer(0, 2) == 0:
            return source, columns
        for _ in range(1 + self.choices.chance(15)):
            other, more = self._entry(depth - 1 if depth and self.choices.chance(20) else 0)
            join = self.choices.pick(_JOINS)
            both = [*columns, *more]
            on = "" if join == "CROSS JOIN" else f" ON {self._comparison(columns, more, both)}"
            source = f"{source} {join} {other}{on}"
            columns = columns if "SEMI" in join or "ANTI" in join else both
        return source, columns

    def _comparison(self, left: Columns, right: Columns, both: Columns) -> str:
        pairs = [(a, b) for a, one in left for b, two in right if (one == "string") == (two == "string")]
        if not pairs:
            return "1 = 1"
        a, b = self.choices.pick(pairs)
        found = f"{a} {self.choices.pick(['=', '=', '=', '<', '<>'])} {b}"
        return found if self.choices.integer(0, 4) else f"{found} AND {self._condition(both, 1)}"

    def _entry(self, depth: int) -> tuple[str, Columns]:
        alias = self._alias()
        if depth and self.choices.integer(0, 3) == 0:
            inner, types = self.query(depth - 1)
            if named := self.choices.chance(20):
                self.named.append(f"w{alias} AS ({inner})")
            source = f"w{alias}" if named else f"({inner})"
            return f"{source} AS {alias}", [(f"{alias}.c{place}", kind) for place, kind in enumerate(types)]
        name = self.choices.pick([*COLUMNS])
        return f"{name} AS {alias}", [(f"{alias}.{column}", kind) for column, kind in COLUMNS[name].items()]

    def _alias(self) -> str:
        self.number += 1
        return f"t{self.number}"

    def _where(self, columns: Columns) -> str:
        shape = self.choices.integer(0, 5)
        name, kind = self.choices.pick(columns)
        alias, table = self._alias(), self.choices.pick([*COLUMNS])
        inner = [column for column, own in COLUMNS[table].items() if (own == "string") == (kind == "string")]
        if shape == 0:
            return f" WHERE {self._condition(columns, 2)}"
        if shape == 1 and inner:
            word = self.choices.pick(["IN", "NOT IN"])
            return f" WHERE {name} {word} (SELECT {alias}.{inner[0]} FROM {table} AS {alias})"
        if shape == 2 and inner:
            word = self.choices.pick(["EXISTS", "NOT EXISTS"])
            return f" WHERE {word} (SELECT 1 FROM {table} AS {alias} WHERE {alias}.{inner[0]} = {name})"
        if shape == 3 and inner and kind != "string":
            call, sign = self.choices.pick(["MAX", "MIN", "COUNT", "COUNT"]), self.choices.pick(["=", "<", ">="])
            tied = self.choices.pick(["", f" WHERE {alias}.{inner[0]} = {name}"])
            return f" WHERE {name} {sign} (SELECT {call}({alias}.{inner[0]}) FROM {table} AS {alias}{tied})"
        return ""

    def _condition(self, columns: Columns, depth: int) -> str:
        """A comparison or a test for NULL, or some that AND, OR and NOT join."""
        if depth and self.choices.chance(40):
            word = self.choices.pick(["AND", "OR"])
            return f"({self._condition(columns, depth - 1)} {word} {self._condition(columns, depth - 1)})"
        if depth and self.choices.chance(10):
            return f"NOT {self._condition(columns, depth - 1)}"
        (name, kind), shape = self.choices.pick(columns), self.choices.integer(0, 4)
        if shape == 0:
            return f"{name} IS {self.choices.pick(['NULL', 'NOT NULL'])}"
        others = [other for other, own in columns if (own == "string") == (kind == "string") and other != name]
        value = "'x'" if kind == "string" else str(self.choices.integer(0, 2))
        operand = self.choices.pick(others) if others and shape == 1 else value
        return f"{name} {self.choices.pick(['=', '<>', '<=', '>'])} {operand}"


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


def until(last: int, rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows of a result, as far as they are before a point of time."""
    return Counter({(*row[:-2], min(row[-2], last), row[-1]): n for row, n in rows.items() if row[-3] < last})


def each_point(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """How often each row of a result counts at each point of time."""
    found = Counter[tuple[Any, ...]]()
    for (*row, begin, end, count), often in rows.items():
        found.update({(*row, time): count * often for time in range(begin, end)})
    return found


def in_duckdb(sql: str) -> str:
    """The query in DuckDB's words."""
    for ours, theirs in _WORDS:
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
