"""Random joins of streams whose rows follow each other within windows of time, with rows for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import sqlglot

from support.choices import Choices

LAST = 18
COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS, "max_per_timestamp": 2} for name in ("A", "B", "C")},
    "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}, "rows": 5}},
}
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def chain_query(choices: Choices) -> str:
    """Two to four streams, each within a window of one before it, with conditions of all kinds between them."""
    number = choices.pick((2, 3, 3, 3, 4))
    sources = [f"{choices.pick('ABC')} AS s{place}" for place in range(number)]
    conditions = []
    for place in range(1, number):
        partner = choices.pick(range(place))
        low, length = choices.pick((-3, 0, 0, 0, 1)), choices.pick((0, 2, 4, 6))
        conditions.append(f"s{place}.ts BETWEEN s{partner}.ts + {low} AND s{partner}.ts + {low + length}")
        if choices.chance(60):
            conditions.append(f"s{place}.{choices.pick('ab')} = s{partner}.{choices.pick('ab')}")
    for _ in range(choices.pick((0, 0, 1, 1, 2))):
        conditions.append(_condition(choices, number))
    if choices.chance(20):
        sources.append("R")
        conditions.append(f"R.a {choices.pick(('=', '=', '<'))} s{choices.pick(range(number))}.a")
    body = f"FROM {', '.join(sources)} WHERE {' AND '.join(conditions)}"
    return _selected(choices, number, body)


def _condition(choices: Choices, number: int) -> str:
    one, other = (f"s{choices.pick(range(number))}.{choices.pick('abv')}" for _ in range(2))
    texts = (
        f"{one} <> {other}",
        f"{one} < {other} + 1",
        f"({one} > 1 OR {other} = 2)",
        f"({one} = {other} OR {one} = 1)",
        f"{one} IN (1, 2, 9)",
        f"({one} IS NULL OR {other} >= 1)",
        f"s{number - 1}.ts <> s0.ts",
        f"(s0.ts > 6 OR {other} = 2)",
    )
    return choices.pick(texts)


def _selected(choices: Choices, number: int, body: str) -> str:
    one, other = (f"s{choices.pick(range(number))}.{choices.pick('abv')}" for _ in range(2))
    time, another = (f"s{choices.pick(range(number))}.ts" for _ in range(2))
    return choices.pick(
        (
            f"SELECT {one} AS x, {other} AS y {body}",
            f"SELECT {one} AS x, {time} AS y {body}",
            f"SELECT {one} + {other} AS x, {time} - {another} AS y {body}",
            f"SELECT DISTINCT {one} AS x, {time} AS y {body}",
            f"SELECT {time} AS x, COUNT(*) AS n, SUM({one}) AS total {body} GROUP BY {time}",
            f"SELECT COUNT({one}) AS n, SUM({one} * {other}) AS total {body}",
            f"SELECT {time} AS x, COUNT(DISTINCT {one}) AS n, MAX({other}) AS m {body} GROUP BY {time}",
        )
    )


def outer_chain_query(choices: Choices) -> str:
    """Three or four streams, joined in any way, each within a window of one before it; some ask for others, too."""
    number = choices.pick((3, 3, 4))
    names = [f"s{place}" for place in range(number)]
    sources = [choices.pick("ABC") for _ in names]
    joined = f"{sources[0]} AS s0"
    for place in range(1, number):
        if place == number - 1 and choices.chance(25):
            partner = choices.pick(range(place))
            joined += f" {choices.pick(('LEFT', 'LEFT', 'INNER'))} JOIN R ON R.a {choices.pick('=<')} s{partner}.a"
        kind = choices.pick(("LEFT", "LEFT", "LEFT", "RIGHT", "FULL", "INNER"))
        joined += f" {kind} JOIN {sources[place]} AS s{place} ON {_near(choices, place, range(place))}"
    if choices.chance(25):
        inside, on = _near(choices, 1, range(1)).replace("s0.", "i."), _near(choices, 2, range(1)).replace("s2.", "s1.")
        rows = f"SELECT i.a, i.b, i.v, i.ts, s1.v AS w FROM {sources[1]} AS i LEFT JOIN {sources[2]} AS s1 ON {inside}"
        joined, names = f"{sources[0]} AS s0 LEFT JOIN ({rows}) AS s1 ON {on}", ["s0", "s1"]
    shown = [f"{choices.pick(names)}.{choices.pick('abv')} AS x", f"{choices.pick(names)}.ts AS y"]
    shown += [f"{name}.v AS v{place}" for place, name in enumerate(names) if choices.chance(50)]
    where = choices.pick(("", "", "", f"WHERE {choices.pick(names)}.v > 0", "EXISTS", "NOT EXISTS"))
    if where.endswith("EXISTS"):
        partner = _near(choices, 0, (int(choices.pick(names)[1:]),), "e")
        where = f"WHERE {where} (SELECT 1 FROM {choices.pick('ABC')} AS e WHERE {partner})"
    if choices.chance(15):
        return f"SELECT s0.ts AS x, COUNT(*) AS n, SUM({names[-1]}.v) AS total FROM {joined} {where} GROUP BY s0.ts"
    return f"SELECT {', '.join(shown)} FROM {joined} {where}"


def _near(choices: Choices, place: int, before: Sequence[int], name: str = "") -> str:
    """Within a window of an earlier stream, of one by a column with it."""
    own, partner = name or f"s{place}", f"s{choices.pick(before)}"
    low, length = choices.pick((-3, 0, 0, 0, 1)), choices.pick((0, 2, 4, 6))
    conditions = [f"{own}.ts BETWEEN {partner}.ts + {low} AND {partner}.ts + {low + length}"]
    conditions += [f"{own}.{choices.pick('ab')} = {partner}.{choices.pick('ab')}"]
    if choices.chance(30):
        conditions.append(f"{own}.v {choices.pick(('<', '<>', '>='))} s{choices.pick(before)}.v")
    if choices.chance(15):
        conditions.append(f"({own}.v = 1 OR s{choices.pick(before)}.a = {own}.b)")
    return " AND ".join(conditions)


def chain_rows(choices: Choices) -> dict[str, list[dict[str, Any]]]:
    """Rows with few values, at most two of a stream at a time, some of them alike."""
    found: dict[str, list[dict[str, Any]]] = {"R": [{"a": n, "b": choices.pick((0, 1, None))} for n in (1, 2, 2, 3)]}
    for name in "ABC":
        rows = found[name] = list[dict[str, Any]]()
        for time in range(1, LAST + 1):
            for _ in range(choices.pick((0, 1, 1, 2)) if time > 1 else 1):
                row = {column: choices.pick((None, 0, 1, 1, 2)) for column in "abv"}
                rows.append(
                    dict(rows[-1]) if rows and rows[-1]["ts"] == time and choices.chance(50) else {**row, "ts": time}
                )
    return found


class Prefixes:
    """What DuckDB, without its optimizer, says of the rows up to a time."""

    def __init__(self, rows: Rows) -> None:
        self.database = duckdb.connect(config={"threads": 1})
        self.database.execute("PRAGMA disable_optimizer")
        for name, given in rows.items():
            columns = [*given[0]]
            self.database.execute(f"CREATE TABLE {name}_rows ({', '.join(f'{one} BIGINT' for one in columns)})")
            values = f"({', '.join('?' for _ in columns)})"
            self.database.executemany(f"INSERT INTO {name}_rows VALUES {values}", [[*row.values()] for row in given])

    def __enter__(self) -> Prefixes:
        return self

    def __exit__(self, *failure: object) -> None:
        self.database.close()

    def result(self, sql: str, until: int) -> Counter[tuple[Any, ...]]:
        """The rows of a query."""
        for name, where in (*((one, f"ts <= {until}") for one in "ABC"), ("R", "true")):
            self.database.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {name}_rows WHERE {where}")
        (text,) = sqlglot.transpile(sql, read="spark", write="duckdb")
        return Counter(self.database.execute(text).fetchall())
