"""Rows that a statement writes down itself, by VALUES or SELECTs without FROM: results are DuckDB's at each prefix."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import streambound
from support.choices import Choices
from support.circuits import checked_circuit
from support.jobs import write
from support.oracle import Oracle, by_timestamp
from support.streams import small_rows

STREAM = {
    "timestamp": "ts",
    "max_per_timestamp": 3,
    "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"},
    "domain": {"a": [0, 4]},
}
CATALOG: dict[str, Any] = {
    "streams": {"S": STREAM, "T": STREAM},
    "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}, "rows": 12}},
}
CASES = {
    "SELECT S.b, w.name FROM S JOIN (VALUES (1, 'one'), (2, 'two'), (2, 'zwei')) AS w(a, name) ON S.a = w.a": 0,
    "WITH w(a, name) AS (VALUES (1, 'one'), (2, 'two')) SELECT S.b, w.name FROM S LEFT JOIN w ON S.a = w.a": 0,
    "WITH w AS (SELECT 1 AS a, 'x' AS k UNION ALL SELECT 2, 'y') "
    "SELECT w.k, COUNT(*) AS n FROM S JOIN w ON S.a = w.a GROUP BY w.k": 2,
    "SELECT w.k, COUNT(*) AS n FROM S JOIN (VALUES (1, 'x'), (2, 'x')) AS w(a, k) ON S.a = w.a GROUP BY w.k": 1,
    "SELECT S.b, T.a, w.k FROM S JOIN (VALUES (1, 5), (2, 6)) AS w(a, k) ON S.a = w.a JOIN T ON T.a = w.k - 4 "
    "AND T.ts <= S.ts": 2,
    "SELECT w.a, S.a AS c FROM (VALUES (1), (2), (7)) AS w(a) LEFT JOIN S ON S.a = w.a": 3,
    "SELECT a FROM (VALUES (1), (2)) AS w(a) EXCEPT SELECT a FROM S": 2,
    "SELECT S.b FROM S WHERE S.a IN (SELECT a FROM (VALUES (1), (2)) AS w(a)) "
    "AND S.b NOT IN (SELECT 0 UNION ALL SELECT 1)": 0,
    "SELECT 7 AS a, 'none' AS k UNION ALL SELECT a, 'row' FROM S": 0,
    "SELECT S.b, (SELECT 1 + 1) AS two, EXISTS (SELECT 1 WHERE 1 > 2) AS never FROM S": 0,
    "SELECT S.b, q.n FROM S JOIN (SELECT w.k, COUNT(*) AS n FROM R JOIN (VALUES (1, 5), (2, 5)) AS w(a, k) "
    "ON R.a = w.a GROUP BY w.k) AS q ON S.a = q.k - 3": 0,
}


def changes(sql: str, rows: Any) -> dict[int, Counter[tuple[Any, ...]]]:
    """What becomes true, or no longer is, at each timestamp."""
    oracle, before, found = Oracle(CATALOG, rows), Counter[tuple[Any, ...]](), {}
    for now in oracle.timestamps:
        after = oracle.counts(sql, now)
        difference = Counter(after)
        difference.subtract(before)
        found[now], before = Counter({row: n for row, n in difference.items() if n}), after
    return {now: new for now, new in found.items() if new}


def ran(sql: str, most: int, folder: Path, spark: Any = None) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    bound = checked.bound or checked.circuit_bound
    assert bound is not None and bound.entries.value == most
    rows = next(
        rows for seed in range(50) if len(changes(sql, rows := small_rows(Choices.seeded(seed), CATALOG, 12))) > 2
    )
    for table in "STR":
        write(folder / f"{table}.jsonl", *sorted(rows[table], key=lambda row: row.get("ts", 0)))
    run = streambound.compile(sql, CATALOG, tick="timestamp").run(spark, folder)
    assert by_timestamp(run.rows()) == changes(sql, rows)
    assert run.peak_entries <= most


@pytest.mark.parametrize("sql", CASES)
def test_results_are_those_of_batch_sql_on_every_prefix(sql: str, tmp_path: Path) -> None:
    ran(sql, CASES[sql], tmp_path)


def test_on_spark_they_are_the_same(spark: Any, tmp_path: Path) -> None:
    for number, sql in enumerate([*CASES][i] for i in (1, 2, 9)):
        ran(sql, CASES[sql], tmp_path / str(number), spark)


@pytest.mark.parametrize(
    ("sql", "verdict", "words"),
    [
        ("SELECT 1 AS one", "unsupported", "this reads no stream and no relation"),
        ("SELECT * FROM (VALUES (1), (2)) AS w(a)", "unsupported", "this reads no stream and no relation"),
        ("SELECT S.a FROM S, (VALUES (1), (2, 3)) AS w", "error", "the rows of VALUES have different numbers"),
        ("SELECT S.a FROM S JOIN (VALUES (1, NULL)) AS w(a, b) ON S.a = w.a", "unsupported", "the type of b"),
        ("SELECT S.a FROM S JOIN (VALUES (S.b)) AS w(a) ON S.a = w.a", "error", "no stream, relation or subquery 'S'"),
    ],
)
def test_what_is_no_relation_says_why(sql: str, verdict: str, words: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == verdict
    assert checked.diagnostics[0].message.startswith(words)
