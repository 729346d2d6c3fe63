"""Random queries of all kinds over streams S and T and a relation R that changes, and rows for them.

Whole numbers only, so that DuckDB says the same as Spark; what is ordered is ordered by all columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from support.choices import Choices

COLUMNS = ("a", "b", "v", "ts")
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": dict.fromkeys(COLUMNS, "bigint")} for name in ("S", "T")},
    "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}, "changes": {"timestamp": "ts", "op": "op"}}},
}
_PLAIN = (
    "COUNT(*)",
    "COUNT({0})",
    "SUM({0})",
    "MIN({0})",
    "MAX({0})",
    "SUM({0} * {1})",
    "MODE() WITHIN GROUP (ORDER BY {0} DESC)",
    "COUNT(DISTINCT {0})",
    "SUM(DISTINCT {0})",
    "COUNT(*) FILTER (WHERE {0} > 1)",
    "COUNT(DISTINCT {0}) FILTER (WHERE {1} > 0)",
    "SUM(DISTINCT {0}) FILTER (WHERE {0} IN (1, 2) OR {1} = 3)",
    "MAX_BY({0}, {0} * 10 + {1})",
    "MIN_BY({1}, {1} - {0} * 10)",
    "MAX({0}) FILTER (WHERE {1} IS NOT NULL AND {0} < 3)",
)
_FLOATS = (
    "AVG({0})",
    "MEDIAN({0})",
    "VAR_SAMP({0})",
    "STDDEV_POP({0})",
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY {0})",
)
_JOINS = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "JOIN")
_SETS = ("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")


@dataclass
class AnyQuery:
    """Writes one query; ``used`` counts the operators that are in it."""

    choices: Choices
    used: Counter[str] = field(default_factory=Counter)
    aliases: int = 0

    def query(self, depth: int, width: int | None = None, top: bool = False) -> tuple[str, int]:
        """A SELECT or set operation, its columns named c1, c2 …, and how many there are."""
        form = self.choices.weighted(
            [
                (4, "select"),
                (4, "group"),
                (2, "set"),
                (2, "global"),
                (2, "distinct"),
                (2, "over"),
                (1, "first"),
                (1 if top else 0, "recursion"),
            ]
        )
        width = width or self.choices.integer(1, 2)
        if depth == 0 and form in ("set", "over", "first"):
            form = "select"
        return getattr(self, f"_{form}")(depth, width, top), width

    def _select(self, depth: int, width: int, top: bool) -> str:
        source, columns = self._from(depth)
        items = [self._expression(columns) for _ in range(width)]
        return f"SELECT {_named(items)} FROM {source}{self._where(columns, depth)}"

    def _distinct(self, depth: int, width: int, top: bool) -> str:
        self.used["distinct"] += 1
        return self._select(depth, width, top).replace("SELECT", "SELECT DISTINCT", 1)

    def _group(self, depth: int, width: int, top: bool) -> str:
        self.used["group by"] += 1
        source, columns = self._from(depth)
        keys = [self.choices.pick(columns), *([f"{self.choices.pick(columns)} % 2"] if self.choices.chance(20) else [])]
        if self.choices.chance(20):
            keys[0] = f"{self.choices.pick(columns)} DIV 2"
        items = [
            self._aggregate(columns, top) if self.choices.chance(70) else self.choices.pick(keys) for _ in range(width)
        ]
        having = self._having()
        return f"SELECT {_named(items)} FROM {source}{self._where(columns, depth)} GROUP BY {', '.join(keys)}{having}"

    def _having(self) -> str:
        if not self.choices.chance(25):
            return ""
        self.used["having"] += 1
        return f" HAVING COUNT(*) > {self._literal(self.choices.integer(0, 1))}"

    def _literal(self, number: int) -> str:
        """A number as it is, or with a suffix."""
        if not self.choices.chance(20):
            return str(number)
        self.used["a literal with a suffix"] += 1
        return f"{number}{self.choices.pick(('L', '.5D', '.5BD'))}"

    def _global(self, depth: int, width: int, top: bool) -> str:
        self.used["global aggregate"] += 1
        source, columns = self._from(depth)
        items = [self._aggregate(columns, top) for _ in range(width)]
        return f"SELECT {_named(items)} FROM {source}{self._where(columns, depth)}"

    def _set(self, depth: int, width: int, top: bool) -> str:
        operator = self.choices.pick(_SETS)
        self.used[operator.lower()] += 1
        sides = [self.query(depth - 1, width)[0] for _ in range(2)]
        right = (
            self._repeated(sides[1], width)
            if self.choices.chance(40)
            else f"SELECT * FROM ({sides[1]}) AS {self._alias()}"
        )
        return f"SELECT * FROM ({sides[0]}) AS {self._alias()} {operator} {right}"

    def _repeated(self, query: str, width: int) -> str:
        """As many columns of a query, all of one name."""
        self.used["a column's name twice"] += width > 1
        alias = self._alias()
        name = f"c{self.choices.integer(1, width)}"
        items = [f"{alias}.{name}", *(f"{alias}.c{self.choices.integer(1, width)} AS {name}" for _ in range(width - 1))]
        return f"SELECT {', '.join(items)} FROM ({query}) AS {alias}"

    def _over(self, depth: int, width: int, top: bool) -> str:
        source = self.choices.pick(("S", "T"))
        partition = f"PARTITION BY {self.choices.pick(('a', 'b'))} " if self.choices.chance(70) else ""
        order = f"{partition}ORDER BY {self.choices.pick(('ts', 'ts DESC', 'v, ts'))}, a, b, v, ts"
        function = self.choices.pick(
            (
                "ROW_NUMBER() OVER ({o})",
                "RANK() OVER ({p}ORDER BY v)",
                "LAG(v) OVER ({o})",
                "LEAD(a, 2) OVER ({o})",
                "SUM(v) OVER ({o} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
                "COUNT(*) OVER ({p}ORDER BY ts)",
                "MAX(v) OVER ({p}ORDER BY ts RANGE BETWEEN 3 PRECEDING AND CURRENT ROW)",
                "DENSE_RANK() OVER ({p}ORDER BY b DESC)",
                "FIRST_VALUE(v) OVER ({o} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
            )
        ).format(o=order, p=partition)
        self.used[function.split("(")[0].lower() + " over"] += 1
        where = self._where_below_over([f"{source}.{column}" for column in COLUMNS])
        inner = f"SELECT {source}.*, {function} AS f FROM {source}{where}"
        alias = self._alias()
        columns = [f"{alias}.{column}" for column in ("f", "a", "b")]
        kept = f" WHERE {alias}.f <= 2" if self.choices.chance(40) else ""
        return f"SELECT {_named(columns[:width])} FROM ({inner}) AS {alias}{kept}"

    def _first(self, depth: int, width: int, top: bool) -> str:
        self.used["limit"] += 1
        inner, _ = self.query(depth - 1, width)
        names = [f"c{at + 1}" for at in range(width)]
        alias = self._alias()
        keys = ", ".join(f"{alias}.{name}" for name in names)
        return f"SELECT * FROM ({inner}) AS {alias} ORDER BY {keys} LIMIT {self.choices.integer(1, 3)}"

    def _recursion(self, depth: int, width: int, top: bool) -> str:
        self.used["recursion"] += 1
        table = self.choices.pick(("S", "R"))
        condition = self.choices.pick(("", f" WHERE {table}.a < 2", f" WHERE {table}.b IS NOT NULL"))
        base = f"SELECT {table}.a AS x, {table}.b AS y FROM {table}{condition}"
        step = f"SELECT r.x, {table}.b FROM r JOIN {table} ON r.y = {table}.a"
        end = self.choices.pick(("x, y", "x, COUNT(*)", "DISTINCT y, x"))
        group = " GROUP BY x" if "COUNT" in end else ""
        items = end.replace("DISTINCT ", "").split(", ")[:width]
        distinct = "DISTINCT " if "DISTINCT" in end else ""
        return f"WITH RECURSIVE r(x, y) AS ({base} UNION {step}) SELECT {distinct}{_named(items)} FROM r{group}"

    # --- parts -------------------------------------------------------------------------------------------------------

    def _from(self, depth: int) -> tuple[str, list[str]]:
        first, columns = self._entry(depth)
        if not self.choices.chance(55):
            return first, columns
        second, others = self._entry(depth)
        join = self.choices.pick(_JOINS)
        self.used[join.lower()] += 1
        conditions = [f"{self.choices.pick(columns)} = {self.choices.pick(others)}"]
        if self.choices.chance(40):
            conditions.append(
                f"{self.choices.pick(columns)} {self.choices.pick(('<', '<=', '>'))} {self.choices.pick(others)}"
            )
        if self.choices.chance(20):
            conditions = conditions[1:] or conditions
        source = f"{first} {join} {second} ON {' AND '.join(conditions)}"
        return source, columns if "SEMI" in join or "ANTI" in join else [*columns, *others]

    def _entry(self, depth: int) -> tuple[str, list[str]]:
        alias = self._alias()
        if depth > 0 and self.choices.chance(35):
            self.used["nested"] += 1
            return self._nested(alias, depth)
        table = self.choices.weighted([(4, "S"), (3, "T"), (2, "R")])
        self.used["changing relation"] += table == "R"
        return f"{table} AS {alias}", [f"{alias}.{column}" for column in (COLUMNS[:2] if table == "R" else COLUMNS)]

    def _nested(self, alias: str, depth: int) -> tuple[str, list[str]]:
        """A query in a FROM; what it shows may have one name there, and others outside."""
        inner, width = self.query(depth - 1)
        names = [f"c{at + 1}" for at in range(width)]
        called = alias
        if self.choices.chance(20):
            inner, called = self._repeated(inner, width), f"{alias}({', '.join(names)})"
        return f"({inner}) AS {called}", [f"{alias}.{name}" for name in names]

    def _where(self, columns: Sequence[str], depth: int) -> str:
        found = [self._condition(columns) for _ in range(self.choices.integer(0, 2))]
        if self.choices.chance(30):
            found.append(self._subquery(columns))
        return f" WHERE {' AND '.join(found)}" if found else ""

    def _where_below_over(self, columns: Sequence[str]) -> str:
        """The condition of rows that a function over a window is of: often with OR or IN."""
        if not self.choices.chance(40):
            return self._where(columns, 0)
        left, right, inner = self.choices.pick(columns), self.choices.pick(columns), self._alias()
        number = self.choices.integer(0, 3)
        kind, text = self.choices.pick(
            (
                ("or", f"({left} = {number} OR {right} > 1)"),
                ("or", f"{left} > {number} OR {right} IS NULL"),
                ("in", f"{left} IN ({number}, 2)"),
                ("in", f"{left} IN (SELECT {inner}.b FROM {self.choices.pick(('S', 'T', 'R'))} AS {inner})"),
            )
        )
        self.used[f"{kind} below over"] += 1
        return f" WHERE {text}"

    def _condition(self, columns: Sequence[str]) -> str:
        left, right = self.choices.pick(columns), self.choices.pick(columns)
        number = self.choices.integer(0, 3)
        return self.choices.pick(
            (
                f"{left} > {self._literal(number)}",
                f"{left} <= {right} + {number}",
                f"{left} IS NULL",
                f"{left} IN ({number}, 2)",
                f"({left} = {number} OR {right} > 1)",
                f"NOT {left} = {right}",
                f"COALESCE({left}, 1) <> {number}",
            )
        )

    def _subquery(self, columns: Sequence[str]) -> str:
        column, inner = self.choices.pick(columns), self._alias()
        table = self.choices.pick(("T", "S", "R"))
        other = self.choices.pick(columns)
        more = self.choices.pick((f"{inner}.b <= {other}", f"{inner}.b > 0", f"{inner}.a = {other}"))
        call = self.choices.pick(("COUNT(*)", f"MAX({inner}.b)", f"SUM({inner}.b)"))
        rows = f"FROM {table} AS {inner}"
        kind, text = self.choices.pick(
            (
                ("exists", f"EXISTS (SELECT 1 {rows} WHERE {inner}.a = {column} AND {more})"),
                ("not exists", f"NOT EXISTS (SELECT 1 {rows} WHERE {more})"),
                ("in", f"{column} IN (SELECT {inner}.a {rows} WHERE {more})"),
                ("not in", f"{column} NOT IN (SELECT {inner}.a {rows} WHERE {more})"),
                ("scalar subquery", f"{column} <= (SELECT COUNT(*) {rows})"),
                ("correlated scalar subquery", f"{column} >= (SELECT {call} {rows} WHERE {more})"),
                ("exists under or", f"({column} > 1 OR EXISTS (SELECT 1 {rows} WHERE {inner}.a = {column}))"),
                ("in under or", f"({column} IS NULL OR {column} IN (SELECT {inner}.b {rows}))"),
                (
                    "not exists under or",
                    f"({other} < 2 OR {column} > 0 AND NOT EXISTS (SELECT 1 {rows} WHERE {inner}.a = {column}))",
                ),
                ("not in under or", f"({other} = 1 OR {column} NOT IN (SELECT {inner}.b {rows} WHERE {more}))"),
            )
        )
        self.used[kind] += 1
        return text

    def _expression(self, columns: Sequence[str]) -> str:
        column = self.choices.pick(columns)
        return self.choices.pick(
            (
                column,
                column,
                f"{column} + {self.choices.pick(columns)}",
                f"CASE WHEN {column} > 1 THEN 1 ELSE {column} END",
                f"COALESCE({column}, {self.choices.pick(columns)})",
            )
        )

    def _aggregate(self, columns: Sequence[str], top: bool) -> str:
        call = self.choices.pick((*_PLAIN, *_FLOATS) if top else _PLAIN)
        self.used[call.split("(")[0].lower() + " distinct" * ("DISTINCT" in call) + " filter" * ("FILTER" in call)] += 1
        return call.format(self.choices.pick(columns), self.choices.pick(columns))

    def _alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"


def _named(items: Sequence[str]) -> str:
    return ", ".join(f"{item} AS c{at}" for at, item in enumerate(items, start=1))


def any_query(choices: Choices) -> tuple[str, Counter[str]]:
    """A query, and the operators in it."""
    writer = AnyQuery(choices)
    sql, _ = writer.query(choices.integer(0, 2), top=True)
    return sql, writer.used


def any_rows(choices: Choices, most: int = 7) -> dict[str, list[dict[str, Any]]]:
    """Rows of S and T, and changes of R that delete only what is there."""
    found: dict[str, list[dict[str, Any]]] = {
        name: sorted(
            (
                {**{c: _value(choices) for c in COLUMNS[:3]}, "ts": choices.integer(1, 6)}
                for _ in range(choices.integer(0, most))
            ),
            key=lambda row: row["ts"],
        )
        for name in ("S", "T")
    }
    present: list[dict[str, Any]] = []
    changes = []
    for time in range(1, 7):
        if present and choices.chance(35):
            gone = present.pop(choices.integer(0, len(present) - 1))
            changes.append({**gone, "op": "delete", "ts": time})
        if choices.chance(45):
            row = {"a": _value(choices), "b": _value(choices)}
            present.append(row)
            changes.append({**row, "op": "insert", "ts": time})
    return {**found, "R": changes}


def _value(choices: Choices) -> int | None:
    return None if choices.chance(12) else choices.integer(0, 3)
