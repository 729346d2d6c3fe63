"""What is said of each operator's rows is true in DuckDB on every prefix of random streams.

Buckets and sessions, which DuckDB has not, or not so, are plain SQL there, written by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from streambound.analyzer.algebra.facts import NOW, FactsOfTree, TimePromise, ViewFacts, ViewKind
from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import Apply, Bucket, Join, JoinKind, SpjBlock, Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet, between, of_values
from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.choices import Choices
from support.oracle import Oracle
from support.profiles import MORE
from support.streams import small_rows

SEEDS, FEW = 12, 5
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"},
            "domain": {"b": [0, 2]},
        },
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "c": "bigint", "ts": "bigint"}, "domain": {"c": [1, 3]}},
    },
    "relations": {
        "R": {"columns": {"a": "bigint", "k": "bigint"}, "rows": 6, "domain": {"k": [0, 2]}},
        "P": {"columns": {"a": "bigint", "lo": "bigint", "hi": "bigint"}, "rows": 6, "period": ["lo", "hi"]},
    },
}
COLUMNS: dict[str, Any] = {
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
STATIC, APPENDED, CLOSING, KEYED, CHANGING = ViewKind

_SESSIONS = """
    SELECT *, MIN(ts) OVER ({part} n) AS s, MAX(ts) OVER ({part} n) + 2 AS e FROM (
      SELECT *, SUM(f) OVER ({own} ORDER BY ts ROWS UNBOUNDED PRECEDING) AS n FROM (
        SELECT *, CASE WHEN ts <= LAG(ts) OVER ({own} ORDER BY ts) + 2 THEN 0 ELSE 1 END AS f FROM S) AS x) AS y"""
SESSIONS = f"({_SESSIONS.format(own='', part='PARTITION BY')}) AS q"
SESSIONS_OF_B = f"({_SESSIONS.format(own='PARTITION BY b', part='PARTITION BY b,')}) AS q"
HOPS = """(SELECT a, b, s, s + 5 AS e FROM (
    SELECT a, b, ts, 2 * (ts DIV 2) - d AS s FROM S, (VALUES (0), (2), (4)) AS v(d)) AS x WHERE s + 5 > ts) AS q"""
FOUR, FIVE, GAP = (f"INTERVAL '0.00000{n}' SECONDS" for n in (4, 5, 2))

QUERIES: dict[str, tuple[ViewKind, str]] = {
    "SELECT * FROM R": (STATIC, ""),
    "SELECT q.x, q.b FROM (SELECT a AS x, b FROM S WHERE a > 1) AS q": (APPENDED, ""),
    "SELECT DISTINCT b FROM S": (APPENDED, ""),
    "SELECT b FROM S UNION SELECT c FROM T": (APPENDED, ""),
    "SELECT b FROM S INTERSECT SELECT c FROM T": (APPENDED, ""),
    "SELECT ts FROM S EXCEPT SELECT ts - 1 FROM T": (CLOSING, ""),
    "SELECT b FROM S EXCEPT ALL SELECT c FROM T": (CHANGING, ""),
    "SELECT b, k FROM S LEFT JOIN R ON S.a = R.a": (APPENDED, ""),
    "SELECT S.ts, c FROM S LEFT JOIN T ON S.a = T.a AND T.ts <= S.ts + 1": (CLOSING, ""),
    "SELECT S.b, c FROM S FULL JOIN T USING (a)": (CHANGING, ""),
    "SELECT R.k, S.b FROM R RIGHT JOIN S USING (a)": (APPENDED, ""),
    "SELECT b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a)": (APPENDED, ""),
    "SELECT b FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a)": (CHANGING, ""),
    "SELECT b FROM S WHERE a NOT IN (SELECT a FROM R)": (APPENDED, ""),
    "SELECT b FROM S WHERE a NOT IN (SELECT a FROM T)": (CHANGING, ""),
    "SELECT ts FROM S WHERE a NOT IN (SELECT a FROM T WHERE T.ts BETWEEN S.ts - 2 AND S.ts + 1)": (CLOSING, ""),
    "SELECT S.ts, S.b FROM S LEFT ANTI JOIN T ON S.a = T.a AND T.ts < S.ts + 2": (CLOSING, ""),
    "SELECT ts, (SELECT MAX(k) FROM R WHERE R.a = S.a) AS m FROM S": (APPENDED, ""),
    "SELECT ts, b, (SELECT MAX(c) FROM T WHERE T.a = S.a) AS m FROM S": (CHANGING, ""),
    "SELECT b, EXISTS (SELECT 1 FROM T WHERE T.a = S.a) AS m FROM S": (CHANGING, ""),
    "SELECT b, b IN (SELECT c FROM T) AS m FROM S": (CHANGING, ""),
    "SELECT b, a IN (SELECT k FROM R) AS m FROM S": (APPENDED, ""),
    "SELECT b FROM S WHERE b > (SELECT COUNT(*) FROM T)": (CHANGING, ""),
    "SELECT b, COUNT(*) AS n, MAX(b) AS m FROM S GROUP BY b HAVING COUNT(*) > 1": (KEYED, ""),
    "SELECT ts DIV 3 AS z, b, COUNT(*) AS n FROM S GROUP BY ts DIV 3, b": (CLOSING, ""),
    "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a, ts) AS r FROM S": (CHANGING, ""),
    "SELECT a, SUM(a) OVER (PARTITION BY b ORDER BY ts) AS n FROM S": (APPENDED, ""),
    "SELECT b, COUNT(*) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING) AS n FROM S":
        (APPENDED, ""),
    "SELECT a, RANK() OVER (PARTITION BY b ORDER BY ts) AS r FROM S": (APPENDED, ""),
    "SELECT a, RANK() OVER (PARTITION BY b ORDER BY ts DESC) AS r FROM S": (CHANGING, ""),
    "SELECT a, COUNT(*) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING) AS n FROM S":
        (CHANGING, ""),
    "SELECT q.ts, q.x FROM (SELECT ts, b, LAG(ts) OVER (PARTITION BY b ORDER BY ts) AS x FROM S) AS q "
    "WHERE q.ts < q.x + 3": (APPENDED, ""),
    "SELECT ts DIV 2 DIV 3 AS z, COUNT(*) AS n FROM S GROUP BY ts DIV 2 DIV 3": (CLOSING, ""),
    "SELECT q.z, q.n, p.m FROM (SELECT ts DIV 2 AS z, COUNT(*) AS n FROM S GROUP BY ts DIV 2) AS q "
    "JOIN (SELECT ts DIV 2 AS z, COUNT(*) AS m FROM T GROUP BY ts DIV 2) AS p ON q.z = p.z - 1": (CLOSING, ""),
    "SELECT q.z, p.z AS y FROM (SELECT ts, ts DIV 2 AS z FROM S) AS q JOIN (SELECT ts, ts DIV 2 AS z FROM T) AS p "
    "ON q.z < p.z AND q.z >= p.z - 2": (APPENDED, ""),
    "SELECT a, ts FROM S ORDER BY ts DESC, a LIMIT 2": (CHANGING, ""),
    "SELECT a, ts FROM S LIMIT 2": (KEYED, "SELECT a, ts FROM S ORDER BY ts DESC, a LIMIT 2"),
    "SELECT a, ts FROM S ORDER BY ts": (APPENDED, ""),
    "WITH RECURSIVE w(x) AS (SELECT b FROM S UNION SELECT R.k FROM w JOIN R ON R.a = w.x) SELECT x FROM w":
        (APPENDED, ""),
    "SELECT S.b, P.hi FROM S JOIN P FOR SYSTEM_TIME AS OF S.ts AS P ON S.a = P.a":
        (APPENDED, "SELECT S.b, P.hi FROM S JOIN P ON S.a = P.a AND P.lo <= S.ts AND S.ts < P.hi"),
    "SELECT S.b, T.c FROM S JOIN T FOR SYSTEM_TIME AS OF S.ts AS T ON S.a = T.a":
        (APPENDED, "SELECT S.b, T.c FROM S JOIN T ON S.a = T.a AND T.ts <= S.ts"),
    f"SELECT a, ts, window_start, window_end, window_time FROM TUMBLE(TABLE S, DESCRIPTOR(ts), {FOUR})":
        (APPENDED, "SELECT a, ts, 4 * (ts DIV 4) AS s, 4 * (ts DIV 4) + 4 AS e, 4 * (ts DIV 4) + 3 AS l FROM S"),
    f"SELECT a, b, window_start, window_end FROM HOP(TABLE S, DESCRIPTOR(ts), {GAP}, {FIVE})":
        (APPENDED, f"SELECT a, b, s, e FROM {HOPS}"),
    "SELECT window.start AS s, window.end AS e, b, SUM(b) AS n FROM S GROUP BY window(ts, '5 microseconds', "
    "'2 microseconds'), b": (CLOSING, f"SELECT s, e, b, SUM(b) AS n FROM {HOPS} GROUP BY s, e, b"),
    "SELECT window.start AS s, COUNT(*) AS n FROM S GROUP BY window(ts, '4 microseconds', '4 microseconds', "
    "'1 microseconds')": (CLOSING, "SELECT 4 * ((ts + 3) DIV 4) - 3 AS s, COUNT(*) AS n FROM S GROUP BY 1"),
    f"SELECT a, b, window_start, window_end FROM SESSION(TABLE S, DESCRIPTOR(ts), {GAP})":
        (CHANGING, f"SELECT a, b, s, e FROM {SESSIONS}"),
    "SELECT session_window.start AS s, session_window.end AS e, COUNT(*) AS n FROM S "
    "GROUP BY session_window(ts, '2 microseconds')":
        (CLOSING, f"SELECT s, e, COUNT(*) AS n FROM {SESSIONS} GROUP BY s, e"),
    "SELECT b, session_window.start AS s, session_window.end AS e, COUNT(*) AS n FROM S "
    "GROUP BY b, session_window(ts, '2 microseconds')":
        (CLOSING, f"SELECT b, s, e, COUNT(*) AS n FROM {SESSIONS_OF_B} GROUP BY b, s, e"),
}  # fmt: skip
"""Statements, how they change, and DuckDB's text where that is another one."""


DECLARED, OF_COLUMNS = catalog_from_mapping(CATALOG, "streams.toml"), catalog_from_mapping(COLUMNS, "streams.toml")


def lowered(sql: str, known: Catalog = DECLARED) -> Tree:
    (statement,) = split_statements(SourceText("case.sql", sql))
    assert statement.tree is not None, sql
    return Lowering(Positions(statement.source, statement.tokens, statement.before), known).query(statement.tree, {})


def operators(tree: Tree) -> Iterator[Tree]:
    yield tree
    for under in inputs(tree):
        yield from operators(under)


def test_every_operator_is_compared() -> None:
    found = [one for sql in QUERIES for one in operators(lowered(sql))]
    assert {type(one) for one in found} == {*get_args(Tree)} - {SpjBlock}
    assert {one.kind for one in found if isinstance(one, Join)} == {*JoinKind}
    assert len({one.kind for one in found if isinstance(one, Apply | Bucket)}) == 6


@pytest.mark.parametrize("sql", QUERIES)
def test_facts_are_true_of_every_prefix(sql: str) -> None:
    kind, text = QUERIES[sql]
    found = FactsOfTree(DECLARED).of(lowered(sql))
    assert found.change is kind
    retracted = true_of_every_prefix(sql, CATALOG, DECLARED, text)
    assert retracted or kind < ViewKind.CLOSING, "the random streams show what the fact allows"


def true_of_every_prefix(sql: str, catalog: dict[str, Any], known: Catalog, text: str = "") -> int:
    """Values, keys, numbers, and what columns say of the time at which a row comes or goes; how many rows go."""
    tree = lowered(sql, known)
    found, columns = FactsOfTree(known).of(tree), schema(tree, known)
    text = (text or sql).replace("LEFT ANTI", "ANTI").replace("LEFT SEMI", "SEMI")
    retracted = rows = 0
    for seed in range(SEEDS * MORE):
        if seed >= FEW * MORE and rows and (retracted or found.change < ViewKind.CLOSING):
            break
        oracle = Oracle(catalog, small_rows(Choices.seeded(seed), catalog, 7))
        before = oracle.counts(text, -1)
        for now in oracle.timestamps:
            after = oracle.counts(text, now)
            _hold(found, columns, after)
            gone = before - after
            for row in (*(after - before), *gone):
                for promise, value in _promises(found, row):
                    assert _kept(promise, value, now), (promise, value, now)
            assert not gone or found.change >= ViewKind.CLOSING
            retracted, rows, before = retracted + gone.total(), rows + after.total(), after
    assert rows
    return retracted


def _hold(found: ViewFacts, columns: Schema, answer: Counter[tuple[object, ...]]) -> None:
    names = [f"{column.alias}.{column.name}".strip(".").lower() for column in columns]
    for key in found.keys:
        places = [place for place, name in enumerate(names) if name in key]
        of_key = Counter(tuple(row[place] for place in places) for row in answer.elements())
        assert max(of_key.values(), default=0) <= 1, key
    assert found.rows is None or answer.total() <= found.rows
    assert found.different is None or len(answer) <= found.different
    for row in answer:
        for value, one, column in zip(row, found.columns, columns, strict=True):
            assert one.values.has(value), (value, one)  # type: ignore[arg-type]
            assert column.nullable or value is not None


def _promises(found: ViewFacts, row: tuple[object, ...]) -> Iterator[tuple[TimePromise, int]]:
    for column, value in zip(found.columns, row, strict=True):
        if isinstance(value, int):
            yield from ((promise, value) for promise in column.times if promise.source == NOW)


def _kept(promise: TimePromise, value: int, now: int) -> bool:
    """Whether there is a time in the promised interval of which the value is the function's."""
    if promise.function:
        times = [time for time in range(-60, 61) if _function(promise.function, time) == value]
        assert max(times) - min(times) < promise.width or "DIV" in promise.function
    else:
        times = [value]
    ends = (
        (now - 1000 if promise.low is None else now + promise.low),
        (now + 1000 if promise.high is None else now + promise.high),
    )
    return any(ends[0] <= time <= ends[1] for time in times)


def _function(text: str, time: int) -> int:
    if division := re.fullmatch(r"_t DIV (\d+)", text):
        return int(time / int(division[1]))
    bucket = re.fullmatch(r"window\(_t, (\d+), (\d+)\)\.(start|end|last)", text)
    assert bucket, text
    size, offset = int(bucket[1]), int(bucket[2])
    return offset + (time - offset) // size * size + {"start": 0, "end": size, "last": size - 1}[bucket[3]]


REMEMBERED = {
    "SELECT DISTINCT b FROM S": "SELECT DISTINCT b FROM S",
    "SELECT b, COUNT(*) AS n FROM S GROUP BY b": "SELECT DISTINCT b FROM S",
    "SELECT b FROM S INTERSECT SELECT c FROM T": "SELECT DISTINCT b, 0 FROM S UNION ALL SELECT DISTINCT c, 1 FROM T",
    "SELECT b FROM (SELECT b FROM S) x LEFT JOIN (SELECT c FROM T) y ON b = c":
        "SELECT DISTINCT b, 0 FROM S UNION ALL SELECT DISTINCT c, 1 FROM T",
    "SELECT q.b FROM (SELECT b FROM S) q LEFT ANTI JOIN (SELECT c FROM T) r ON q.b = r.c":
        "SELECT DISTINCT b, 0 FROM S UNION ALL SELECT DISTINCT c, 1 FROM T",
    "SELECT COUNT(*) AS n FROM S": "SELECT 1",
    "SELECT q.b FROM (SELECT b FROM S) q WHERE b > (SELECT MAX(c) FROM T)":
        "SELECT DISTINCT b, 0 FROM S UNION ALL SELECT MAX(c), 1 FROM T",
    "SELECT b FROM S LEFT JOIN R ON S.a = R.a": "SELECT * FROM R",
}  # fmt: skip
"""Statements, and what their operators must remember, in SQL."""


@pytest.mark.parametrize("sql", REMEMBERED)
def test_a_state_is_as_large_as_what_must_be_remembered(sql: str) -> None:
    """And no larger than for some streams: a number that is far too large would say nothing."""
    known = FactsOfTree(DECLARED)
    states = [known.of(one).state for one in operators(lowered(sql))]
    numbers = [state for state in states if state is not None]
    assert len(numbers) == len(states)
    sizes = []
    for seed in range(25):
        oracle = Oracle(CATALOG, small_rows(Choices.seeded(seed), CATALOG, 9))
        sizes += [oracle.counts(REMEMBERED[sql], now).total() for now in oracle.timestamps]
    assert max(sizes) <= sum(numbers) <= max(sizes) + 3


# --- what is said of columns ------------------------------------------------------------------------------------------

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
    "SELECT CAST(b AS DECIMAL(3, 1)) AS x FROM S EXCEPT SELECT CAST(c AS DECIMAL(5, 2)) FROM T":
        (some(0, 100, 200, 300, null=True),),
    "SELECT b FROM S INTERSECT SELECT CAST(c AS DECIMAL(5, 2)) FROM T": (some(100, 200, 300, null=True),),
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
    "SELECT ts FROM S ORDER BY ts LIMIT 2": (AT,),
    "SELECT DISTINCT ts, a FROM S": (AT, None),
    "SELECT q.x FROM (SELECT ts AS x FROM S WHERE a > 0) q": (AT,),
}  # fmt: skip
"""Of queries what their columns say of the time at which a row changes."""


@pytest.mark.parametrize("sql", VALUES)
def test_the_values_of_columns_are_those_that_are_said(sql: str) -> None:
    found = FactsOfTree(OF_COLUMNS).of(lowered(sql, OF_COLUMNS))
    assert tuple(column.values for column in found.columns) == VALUES[sql]
    true_of_every_prefix(sql, COLUMNS, OF_COLUMNS)


@pytest.mark.parametrize("sql", TIMES)
def test_rows_change_at_the_times_that_their_columns_promise(sql: str) -> None:
    found = FactsOfTree(OF_COLUMNS).of(lowered(sql, OF_COLUMNS))
    assert tuple(next((t for t in c.times if t.source == NOW), None) for c in found.columns) == TIMES[sql]
    true_of_every_prefix(sql, COLUMNS, OF_COLUMNS)


@pytest.mark.parametrize("sql", [sql for sql, times in TIMES.items() if times.count(AT) or "u FROM" in sql])
def test_columns_are_as_far_from_a_source_as_they_promise(sql: str) -> None:
    """Where one column is a source's time, others that promise to be near it are."""
    found = FactsOfTree(OF_COLUMNS).of(lowered(sql, OF_COLUMNS))
    exact = {
        time.source: place
        for place, column in enumerate(found.columns)
        for time in column.times
        if time.source != NOW and (time.low, time.high, time.function) == (0, 0, "")
    }
    for seed in range(FEW):
        oracle = Oracle(COLUMNS, small_rows(Choices.seeded(seed), COLUMNS, 7))
        for row in oracle.counts(sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")):
            for place, column in enumerate(found.columns):
                for time in column.times:
                    if time.source in exact and None not in (row[place], row[exact[time.source]]):
                        assert _kept(time, row[place], row[exact[time.source]])


def test_a_view_of_few_groups_is_keyed() -> None:
    tree = lowered("SELECT b, count(*) AS n FROM S GROUP BY b", OF_COLUMNS)
    found = FactsOfTree(OF_COLUMNS).of(tree)
    assert (found.change, found.rows, found.state) == (ViewKind.KEYED, 5, 0)
    assert FactsOfTree(OF_COLUMNS).of(inputs(tree)[0]).state == 5, "the groups"
