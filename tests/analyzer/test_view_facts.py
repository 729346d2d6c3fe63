"""What is said of an operator's columns, of their times and of how many rows there are is true in DuckDB."""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.analyzer.algebra.facts import NOW, ColumnFacts, TimePromise, ViewFacts, ViewKind, facts
from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet, between, of_values
from streambound.analyzer.catalog import Catalog, load_catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.choices import Choices
from support.oracle import Oracle
from support.streams import Rows, small_rows

CATALOG = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"a": "bigint", "b": "bigint", "name": "string", "ts": "bigint"},
            "domain": {"b": [0, 3], "name": ["a", "b", "z"]},
        },
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "c": "bigint", "ts": "bigint"}, "domain": {"c": [1, 9]}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "k": "bigint"}, "rows": 6, "domain": {"k": [-2, 2]}}},
}
AT, SINCE = TimePromise(NOW, 0, 0), TimePromise(NOW, None, 0)
ANY = ANYTHING
TEXTS = of_values(("a", "b", "z"), null=True)


def some(*values: int, null: bool = False) -> ValueSet:
    return of_values(values, null)


VALUES = {
    "SELECT a, b, name FROM S": (ANY, some(0, 1, 2, 3, null=True), TEXTS),
    "SELECT a FROM S WHERE a > 1 AND a <= 4": (some(2, 3, 4),),
    "SELECT a FROM S WHERE a BETWEEN 1 AND 2 OR a = 5": (some(1, 2, 5),),
    "SELECT a FROM S WHERE NOT (a < 1 OR a >= 3)": (some(1, 2),),
    "SELECT a, b FROM S WHERE a = b + 1": (some(1, 2, 3, 4), some(0, 1, 2, 3)),
    "SELECT a, b FROM S WHERE a < b AND a > 0": (some(1, 2), some(2, 3)),
    "SELECT a FROM S WHERE a IN (1, 3, 5) AND a <> 3": (some(1, 5),),
    "SELECT a, b FROM S WHERE a <=> b": (some(0, 1, 2, 3, null=True), some(0, 1, 2, 3, null=True)),
    "SELECT a FROM S WHERE a IS NULL": (some(null=True),),
    "SELECT name FROM S WHERE name = 'a' OR name = 'b'": (of_values(("a", "b"), null=False),),
    "SELECT b + 1 AS x, b * 2 AS y, a % 3 AS z FROM S":
        (some(1, 2, 3, 4, null=True), some(0, 2, 4, 6, null=True), some(-2, -1, 0, 1, 2, null=True)),
    "SELECT CASE WHEN a > 1 THEN 1 ELSE 0 END AS x, coalesce(b, 7) AS y FROM S": (some(0, 1), some(0, 1, 2, 3, 7)),
    "SELECT S.b, R.k FROM S LEFT JOIN R ON S.b = R.k": (some(0, 1, 2, 3, null=True), some(0, 1, 2, null=True)),
    "SELECT S.b, R.k FROM S JOIN R ON S.b = R.k": (some(0, 1, 2), some(0, 1, 2)),
    "SELECT S.b FROM S LEFT SEMI JOIN R ON S.b = R.k": (some(0, 1, 2),),
    "SELECT S.b FROM S LEFT ANTI JOIN R ON S.b = R.k": (some(0, 1, 2, 3, null=True),),
    "SELECT b FROM S FULL JOIN (SELECT k AS b FROM R) q USING (b)": (some(-2, -1, 0, 1, 2, 3, null=True),),
    "SELECT b FROM S RIGHT JOIN (SELECT k AS b FROM R) q USING (b)": (some(-2, -1, 0, 1, 2, null=True),),
    "SELECT b FROM S JOIN (SELECT k AS b FROM R) q USING (b)": (some(0, 1, 2),),
    "SELECT b FROM S UNION ALL SELECT c FROM T": (between(0, 9, null=True),),
    "SELECT b FROM S INTERSECT SELECT c FROM T": (some(1, 2, 3, null=True),),
    "SELECT b FROM S EXCEPT SELECT c FROM T": (some(0, 1, 2, 3, null=True),),
    "SELECT b, count(*) AS n, max(b) AS m FROM S GROUP BY b":
        (some(0, 1, 2, 3, null=True), between(1, None, False), some(0, 1, 2, 3, null=True)),
    "SELECT count(*) AS n, count(b) AS m, min(b) AS l, sum(b) AS s FROM S":
        (between(0, None, False), between(0, None, False), some(0, 1, 2, 3, null=True), between(0, None)),
    "SELECT b, count(*) AS n FROM S GROUP BY b HAVING b > 1": (some(2, 3), between(1, None, False)),
    "SELECT a, row_number() OVER (PARTITION BY a ORDER BY ts, b, name) AS r FROM S": (ANY, between(1, None, False)),
    "SELECT DISTINCT b FROM S ORDER BY b LIMIT 2": (some(0, 1, 2, 3, null=True),),
    "WITH RECURSIVE w(x) AS (SELECT b FROM S UNION SELECT w.x + 1 FROM w WHERE w.x < 5) SELECT x FROM w":
        (some(0, 1, 2, 3, 4, 5, null=True),),
    "SELECT q.x FROM (SELECT b AS x FROM S WHERE b > 1) q": (some(2, 3),),
}  # fmt: skip
"""Of queries their columns' values."""

TIMES: dict[str, tuple[TimePromise | None, ...]] = {
    "SELECT ts FROM S": (AT,),
    "SELECT ts + 5 AS x, ts - 2 AS y, ts DIV 4 AS z FROM S":
        (TimePromise(NOW, 5, 5), TimePromise(NOW, -2, -2), TimePromise(NOW, 0, 0, "_t DIV 4", 4)),
    "SELECT S.ts, T.ts AS u FROM S, T": (SINCE, SINCE),
    "SELECT S.ts, T.ts AS u FROM S, T WHERE S.ts >= T.ts": (AT, SINCE),
    "SELECT S.ts, T.ts AS u FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 3": (AT, TimePromise(NOW, -3, 0)),
    "SELECT S.ts, T.ts AS u FROM S JOIN T ON S.ts = T.ts": (AT, AT),
    "SELECT S.ts DIV 4 AS z FROM S JOIN T ON S.ts DIV 4 = T.ts DIV 4": (TimePromise(NOW, -3, 0, "_t DIV 4", 4),),
    "SELECT S.ts, T.ts AS u FROM S LEFT JOIN T ON T.ts BETWEEN S.ts AND S.ts + 2":
        (TimePromise(NOW, -2, 0), AT),
    "SELECT S.ts FROM S LEFT ANTI JOIN T ON S.a = T.a AND T.ts <= S.ts + 2": (TimePromise(NOW, -2, 0),),
    "SELECT S.ts FROM S LEFT SEMI JOIN T ON S.a = T.a AND T.ts <= S.ts + 2": (TimePromise(NOW, -2, 0),),
    "SELECT S.ts FROM S LEFT ANTI JOIN T ON S.a = T.a": (SINCE,),
    "SELECT S.ts FROM S JOIN R ON S.a = R.a": (AT,),
    "SELECT R.k FROM S JOIN R ON S.ts = R.k": (AT,),
    "SELECT S.ts FROM S RIGHT JOIN R ON S.a = R.a": (AT,),
    "SELECT ts FROM S UNION ALL SELECT ts + 2 FROM T": (TimePromise(NOW, 0, 2),),
    "SELECT ts FROM S UNION ALL SELECT k FROM R": (AT,),
    "SELECT ts FROM S EXCEPT SELECT ts + 1 FROM T": (TimePromise(NOW, 0, 1),),
    "SELECT ts, count(*) AS n FROM S GROUP BY ts": (AT, None),
    "SELECT ts DIV 4 AS z, count(*) AS n FROM S GROUP BY ts DIV 4": (TimePromise(NOW, 0, 0, "_t DIV 4", 4), None),
    "SELECT S.ts, count(*) AS n FROM S, T WHERE S.a = T.a GROUP BY S.ts": (SINCE, None),
    "SELECT ts FROM S ORDER BY ts LIMIT 2": (None,),
    "SELECT DISTINCT ts, a FROM S": (AT, None),
    "SELECT q.x FROM (SELECT ts AS x FROM S WHERE a > 0) q": (AT,),
}  # fmt: skip
"""Of queries what their columns say of the time at which a row changes."""


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    file = tmp_path_factory.mktemp("catalog") / "streams.toml"
    lines = []
    for kind, tables in CATALOG.items():
        for name, body in tables.items():
            columns = ", ".join(f'{column} = "{type_}"' for column, type_ in body["columns"].items())  # type: ignore[attr-defined]
            lines += [f"[{kind}.{name}]", f"columns = {{ {columns} }}"]
            lines += [f'timestamp = "{body["timestamp"]}"'] if "timestamp" in body else [f"rows = {body['rows']}"]
            lines += [f"domain.{column} = {values}" for column, values in body["domain"].items()]  # type: ignore[attr-defined]
    file.write_text("\n".join(lines), encoding="utf-8")
    return load_catalog(file)


def lowered(sql: str, known: Catalog) -> Tree:
    (statement,) = split_statements(SourceText("case.sql", sql))
    assert statement.tree is not None, sql
    return Lowering(Positions(statement.source, statement.tokens, statement.before), known).query(statement.tree, {})


def of_duckdb(sql: str) -> str:
    return sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")


def random_streams() -> list[Rows]:
    return [small_rows(Choices.seeded(seed), CATALOG, 8) for seed in range(15)]


@pytest.mark.parametrize("sql", VALUES)
def test_the_values_of_columns_are_those_that_are_said(sql: str, declared: Catalog) -> None:
    tree = lowered(sql, declared)
    found = facts(tree, declared)
    assert tuple(column.values for column in found.columns) == VALUES[sql]
    assert len(found.columns) == len(schema(tree, declared))
    seen = 0
    for rows in random_streams():
        oracle = Oracle(CATALOG, rows)
        for now in oracle.timestamps:
            seen += _values_hold(found, tree, declared, oracle.rows(of_duckdb(sql), now))
    assert seen


def _values_hold(found: ViewFacts, tree: Tree, known: Catalog, answer: list[dict[str, object]]) -> int:
    columns = schema(tree, known)
    for row in answer:
        for value, one, column in zip(row.values(), found.columns, columns, strict=True):
            assert one.values.has(value), (value, one)  # type: ignore[arg-type]
            assert column.nullable or value is not None
    if found.rows is not None:
        assert len(answer) <= found.rows
    if found.different is not None:
        assert len({tuple(row.values()) for row in answer}) <= found.different
    return len(answer)


@pytest.mark.parametrize("sql", TIMES)
def test_rows_change_at_the_times_that_their_columns_promise(sql: str, declared: Catalog) -> None:
    found = facts(lowered(sql, declared), declared)
    assert tuple(next((t for t in c.times if t.source == NOW), None) for c in found.columns) == TIMES[sql]
    changes = 0
    for rows in random_streams():
        oracle = Oracle(CATALOG, rows)
        before: Counter[tuple[object, ...]] = oracle.counts(of_duckdb(sql), -1)
        for now in oracle.timestamps:
            after = oracle.counts(of_duckdb(sql), now)
            for row in (*(after - before), *(before - after)):
                _times_hold(found.columns, row, now)
                changes += 1
            before = after
    assert changes


def _times_hold(columns: tuple[ColumnFacts, ...], row: tuple[object, ...], now: int) -> None:
    for column, value in zip(columns, row, strict=True):
        for promise in column.times if value is not None else ():
            if promise.source == NOW:
                assert isinstance(value, int)
                assert _kept(promise, value, now), (promise, value, now)


def _kept(promise: TimePromise, value: int, now: int) -> bool:
    """Whether there is a time in the promised interval of which the value is the function's."""
    if not promise.function:
        return (promise.low is None or promise.low <= value - now) and (
            promise.high is None or value - now <= promise.high
        )
    divisor = int(promise.function.removeprefix("_t DIV "))
    times = [time for time in range(-100, 101) if int(time / divisor) == value]
    assert max(times) - min(times) < 2 * divisor - 1
    return any(_kept(TimePromise(NOW, promise.low, promise.high), time, now) for time in times)


@pytest.mark.parametrize("sql", [sql for sql, times in TIMES.items() if times.count(AT) or "u FROM" in sql])
def test_columns_are_as_far_from_a_source_as_they_promise(sql: str, declared: Catalog) -> None:
    """Where one column is a source's time, others that promise to be near it are."""
    found = facts(lowered(sql, declared), declared)
    exact = {
        time.source: place
        for place, column in enumerate(found.columns)
        for time in column.times
        if time.source != NOW and (time.low, time.high, time.function) == (0, 0, "")
    }
    for rows in random_streams()[:5]:
        for row in Oracle(CATALOG, rows).counts(of_duckdb(sql)):
            for place, column in enumerate(found.columns):
                for time in column.times:
                    if time.source in exact and None not in (row[place], row[exact[time.source]]):
                        assert _kept(time, row[place], row[exact[time.source]])


def test_a_view_of_few_groups_is_keyed(declared: Catalog) -> None:
    tree = lowered("SELECT b, count(*) AS n FROM S GROUP BY b", declared)
    found = facts(tree, declared)
    assert (found.change, found.rows, found.state) == (ViewKind.KEYED, 5, 0)
    assert facts(inputs(tree)[0], declared).state == 5, "the groups"
