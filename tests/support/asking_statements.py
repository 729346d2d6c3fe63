"""Random statements whose rows ask relations, or that join what a query computes of relations."""

from __future__ import annotations

from typing import Any

from support.choices import Choices

COLUMNS = {"a": "bigint", "b": "bigint", "c": "string", "d": "date", "x": "double", "p": "decimal(9,2)"}
CATALOG: dict[str, Any] = {
    "streams": {"S": {"timestamp": "ts", "columns": {**COLUMNS, "ts": "bigint"}}},
    "relations": {name: {"columns": COLUMNS, "rows": 9} for name in "RQ"},
}
_SIGNS = ("=", "=", "=", "<", ">=", "<>")
_CONSTANTS = {"a": "2", "b": "1", "c": "'b'", "d": "DATE '2024-01-03'", "x": "0.5", "p": "1.5"}


class AskingStatements:
    """Makes statements of choices; ``S`` is the stream, ``R`` and ``Q`` are relations."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def statement(self) -> str:
        """A statement: a stream with one relation beside it, and what its rows ask in WHERE and the select list."""
        c = self.choices
        kind = c.pick(("", "", "LEFT", "RIGHT", "SEMI", "ANTI", ""))
        shown, source = "S.a, S.c", "S"
        if kind or c.chance(30):
            relation = self.relation("k") if c.chance(50) else "R AS k"
            source = f"{relation} RIGHT JOIN S" if kind == "RIGHT" else f"S {kind} JOIN {relation}"
            source += f" ON {self.pairs('k', 'S')}"
            shown += "" if kind in ("SEMI", "ANTI") else ", k.a AS ka, k.b AS kb"
        shown += f", {self.value('S')} AS v" if c.chance(30) else ""
        where = f" WHERE {self.condition('S')}" if c.chance(70) else ""
        return f"SELECT {'DISTINCT ' * c.chance(20)}{shown} FROM {source}{where}"

    def pairs(self, one: str, other: str) -> str:
        """A condition on rows of two."""
        c = self.choices
        found = [self.compared(one, other) for _ in range(c.integer(1, 2))]
        found += [self.alone(one)] if c.chance(20) else []
        return f"({' OR '.join(found)})" if len(found) > 1 and c.chance(33) else " AND ".join(found)

    def compared(self, one: str, other: str) -> str:
        """Columns of two that have one type, or one that is cast."""
        c = self.choices
        left, right = c.pick((("a", "a"), ("a", "b"), ("c", "c"), ("d", "d"), ("p", "a"), ("x", "x"), ("a", "x")))
        more = c.pick(("", "", "", " + 1", " % 2")) if right in "ab" else ""
        return f"{one}.{left} {c.pick(_SIGNS)} {other}.{right}{more}"

    def alone(self, table: str) -> str:
        """A condition on a row of one."""
        c = self.choices
        column = c.pick(tuple(COLUMNS))
        tests = (
            f"{table}.{column} {c.pick(_SIGNS)} {_CONSTANTS[column]}",
            f"{table}.{column} IS {'NOT ' * c.chance(50)}NULL",
            f"coalesce({table}.{column}, {_CONSTANTS[column]}) {c.pick(_SIGNS)} {_CONSTANTS[column]}",
            f"{table}.a BETWEEN 0 AND 2",
        )
        return c.pick(tests)

    def condition(self, table: str, depth: int = 1) -> str:
        """What a row asks, or a condition on it."""
        c = self.choices
        if c.chance(25):
            return f"({self.condition(table, depth)} {c.pick(('AND', 'OR'))} {self.condition(table, depth)})"
        if c.chance(15):
            return self.alone(table)
        asked = c.pick(("exists", "exists", "in", "in", "value"))
        negated = "NOT " * c.chance(40)
        if asked == "exists":
            return f"{negated}EXISTS (SELECT {c.pick(('1', '*', 'y.a'))} FROM {self.inner(table, depth)})"
        if asked == "in":
            left, right = c.pick((("a", "a"), ("b", "a"), ("c", "c"), ("d", "d"), ("p", "p"), ("a", "p")))
            return f"{table}.{left} {negated}IN (SELECT y.{right} FROM {self.inner(table, depth)})"
        return f"{table}.{c.pick('abx')} {c.pick(_SIGNS)} {self.value(table, depth)}"

    def value(self, table: str, depth: int = 1) -> str:
        """A number by a subquery that has one row."""
        c = self.choices
        call = c.pick(("COUNT(*)", "MAX(y.a)", "MIN(y.b)", "SUM(y.a)", "COUNT(DISTINCT y.c)", "AVG(y.b)", "SUM(y.p)",
                       "COUNT(*) FILTER (WHERE y.a > 1)", "MAX(y.a) - MIN(y.a)", "COUNT(y.x) > 1"))  # fmt: skip
        call = call if c.chance(90) and "> 1" not in call[-3:] else "COUNT(*)"
        return f"(SELECT {call} FROM {self.inner(table, depth)})"

    def inner(self, table: str, depth: int) -> str:
        """FROM and WHERE of a subquery, whose rows are ``y``, about a row outside."""
        c = self.choices
        relation = self.relation("y") if c.chance(30) else f"{c.pick('RQ')} AS y"
        tests = [self.pairs("y", table)] if c.chance(70) else []
        if c.chance(25):
            relation += f" {c.pick(('', 'LEFT '))}JOIN Q AS z ON {self.compared('y', 'z')}"
            tests += [self.compared("z", table)] if c.chance(30) else []
        tests += [self.alone("y")] if c.chance(30) else []
        if depth and c.chance(30):
            tests.append(self.nested())
        return relation + (f" WHERE {' AND '.join(tests)}" if tests else "")

    def nested(self) -> str:
        """A condition on a row of a subquery by another subquery."""
        c = self.choices
        tests = [self.compared("w", "y") for _ in range(c.integer(0, 2))]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        return c.pick((
            f"{'NOT ' * c.chance(50)}EXISTS (SELECT 1 FROM Q AS w{where})",
            f"y.a {'NOT ' * c.chance(50)}IN (SELECT w.a FROM Q AS w{where})",
            f"y.b {c.pick(_SIGNS)} (SELECT {c.pick(('MAX(w.a)', 'COUNT(*)', 'SUM(w.b)'))} FROM Q AS w{where})",
        ))  # fmt: skip

    def relation(self, name: str) -> str:
        """A relation that a query computes of others, with all columns."""
        c = self.choices
        form = c.integer(0, 5)
        if form == 0:
            having = c.pick(("", " HAVING COUNT(*) > 1", " HAVING MAX(b) > 1 OR a IS NULL"))
            return (f"(SELECT a, COUNT(*) AS b, MAX(c) AS c, MIN(d) AS d, MAX(x) AS x, MIN(p) AS p FROM R GROUP BY a"
                    f"{having}) AS {name}")  # fmt: skip
        if form == 1:
            where = f" WHERE {self.alone('R')}" if c.chance(50) else ""
            return f"(SELECT DISTINCT a, b, c, d, x, p FROM R{where}) AS {name}"
        if form == 2:
            operation = c.pick(("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"))
            return (f"(SELECT a, b, c, d, x, p FROM R {operation} SELECT b, a, c, d, x, p FROM Q"
                    f" WHERE {self.alone('Q')}) AS {name}")  # fmt: skip
        if form == 3:
            return (f"(SELECT u.a, v.b, u.c, v.d, u.x, v.p FROM R AS u {c.pick(('', 'LEFT', 'RIGHT', 'FULL'))} JOIN Q "
                    f"AS v ON {self.compared('u', 'v')}) AS {name}")  # fmt: skip
        if form == 4:
            return (f"(SELECT a % 2 AS a, SUM(b) + 1 AS b, MIN(c) AS c, MAX(d) AS d, AVG(a) AS x, SUM(p) AS p FROM R "
                    f"GROUP BY a % 2) AS {name}")  # fmt: skip
        where = self.nested().replace("y.", "R.")
        return f"(SELECT a, b, c, d, x, p FROM R WHERE {where}) AS {name}"
