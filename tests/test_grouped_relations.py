"""Operators above joins with relations that do not change: all changes are those of DuckDB on every prefix."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound_runtime import usage
from streambound_runtime.embedded import run_embedded
from streambound_runtime.settings import settings_of
from support.choices import Choices
from support.jobs import read, run_with, write
from support.oracle import Oracle, by_timestamp
from support.streams import Rows, small_rows

COLUMNS = {"a": "bigint", "b": "bigint"}
STREAM = {"timestamp": "ts", "max_per_timestamp": 3, "columns": {**COLUMNS, "ts": "bigint"}}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {**STREAM, "domain": {"a": [0, 4]}},
        "T": {**STREAM, "domain": {"a": [0, 4]}},
    },
    "relations": {name: {"columns": COLUMNS, "rows": 12} for name in "RQ"},
}
SOON = "T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2"
MOST = "(SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q"
QUERIES = {
    "left": "SELECT S.a, COUNT(R.b) AS n, COUNT(*) AS m FROM S LEFT JOIN R ON R.a = S.b GROUP BY S.a",
    "left, by its column": "SELECT R.b, SUM(S.b) AS n, MAX(S.a) AS m FROM S LEFT JOIN R ON R.a = S.a GROUP BY R.b",
    "left, an expression": "SELECT COALESCE(R.b, -1) AS k, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.b "
                           "GROUP BY COALESCE(R.b, -1)",
    "left, then a stream": f"SELECT R.b, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.a JOIN T ON {SOON} GROUP BY R.b",
    "right": "SELECT R.b, COUNT(S.a) AS n FROM R RIGHT JOIN S ON R.a = S.b AND R.b > 1 GROUP BY R.b",
    "semi": "SELECT S.b, COUNT(*) AS n FROM S LEFT SEMI JOIN R ON R.a = S.b GROUP BY S.b",
    "anti": "SELECT S.a, SUM(S.b) AS n FROM S LEFT ANTI JOIN R ON R.a = S.b GROUP BY S.a",
    "in": "SELECT S.b, COUNT(*) AS n FROM S WHERE S.b IN (SELECT a FROM R) GROUP BY S.b",
    "in, twice": "SELECT S.b, COUNT(*) AS n, COUNT(DISTINCT S.a) AS m FROM S WHERE S.b IN (SELECT a FROM R) AND "
                 "S.b IN (SELECT b FROM Q) GROUP BY S.b",
    "computed": f"SELECT q.m, COUNT(*) AS n, SUM(S.a * q.n) AS p FROM S JOIN {MOST} ON q.a = S.b GROUP BY q.m",
    "computed, left": f"SELECT q.n, COUNT(*) AS c FROM S LEFT JOIN {MOST} ON q.a = S.a GROUP BY q.n HAVING c < 4",
    "computed, of two": f"SELECT S.a, SUM(q.m) AS n FROM S JOIN {MOST} ON q.a = S.a JOIN T ON {SOON} GROUP BY S.a",
    "windows": f"SELECT S.ts DIV 3 AS w, q.m, MIN(S.b) AS n FROM S JOIN {MOST} ON q.a = S.b GROUP BY S.ts DIV 3, q.m",
    "a difference": "SELECT S.a FROM S LEFT JOIN R ON R.a = S.b EXCEPT SELECT a FROM T WHERE b IN (SELECT b FROM R)",
    "once a number": "SELECT a, n FROM (SELECT S.a, R.b AS n, ROW_NUMBER() OVER (PARTITION BY S.a ORDER BY S.ts, "
                     "R.b NULLS FIRST, S.b NULLS FIRST) AS rn FROM S LEFT JOIN R ON R.a = S.b) WHERE rn = 1",
    "above groups": "SELECT q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q JOIN R ON R.a = q.a",
    "above groups, on the left": "SELECT q.n, R.b FROM R JOIN (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q "
                                 "ON R.a = q.a AND R.b < q.n",
    "above groups, left": "SELECT q.a, q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT JOIN R "
                          "ON R.a = q.n",
    "above groups, right": "SELECT R.b, q.n FROM R RIGHT JOIN (SELECT a, SUM(b) AS n FROM S GROUP BY a) AS q "
                           "ON R.a = q.n",
    "above groups, anti": "SELECT q.a, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT ANTI JOIN R "
                          "ON R.a = q.n",
    "above groups, in": "SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) WHERE n IN (SELECT a FROM R)",
    "above groups, not in": "SELECT a, n FROM (SELECT a, SUM(b) AS n FROM S GROUP BY a) WHERE n NOT IN (SELECT a FROM "
                            "R WHERE b > 1)",
    "above groups, a value": "SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) "
                             "WHERE n > (SELECT MIN(b) FROM R)",
    "above groups, computed": f"SELECT p.n, q.m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS p JOIN {MOST} "
                              "ON q.a = p.a",
    "above windows": "SELECT q.w, q.n, R.b FROM (SELECT S.ts DIV 3 AS w, S.b, COUNT(*) AS n FROM S "
                     "GROUP BY S.ts DIV 3, S.b) AS q JOIN R ON R.a = q.b",
    "within an outer join": f"SELECT S.a, q.m, T.b FROM S JOIN {MOST} ON q.a = S.b LEFT JOIN T ON {SOON} WHERE S.a > 1",
    "left of an outer join": f"SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN R ON R.a = S.b LEFT JOIN T ON {SOON}",
    "after an outer join": f"SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN T ON {SOON} LEFT JOIN R ON R.a = T.b",
    "of a full join": "SELECT x.s, x.t, R.b FROM (SELECT S.b AS s, T.b AS t FROM S FULL JOIN T ON T.a = S.a AND "
                      "T.ts BETWEEN S.ts - 1 AND S.ts + 2) AS x JOIN R ON R.a = x.t",
    "not exists": f"SELECT S.b FROM S LEFT JOIN R ON R.a = S.a WHERE NOT EXISTS (SELECT 1 FROM T WHERE {SOON}) "
                  "AND R.b > 0",
    "exists and in": f"SELECT S.b FROM S WHERE S.b IN (SELECT a FROM R) AND EXISTS (SELECT 1 FROM T WHERE {SOON})",
    "groups of an outer join": f"SELECT S.a, COUNT(T.b) AS n, SUM(S.b) AS m FROM S LEFT JOIN T ON {SOON} GROUP BY S.a",
    "groups of an outer join with a relation": f"SELECT S.a, COUNT(R.b) AS n FROM S LEFT JOIN T ON {SOON} LEFT JOIN R "
                                               "ON R.a = T.b GROUP BY S.a HAVING COUNT(*) > 1",
    "groups of an anti join": "SELECT S.a, COUNT(*) AS n, MAX(S.a) AS m FROM S WHERE NOT EXISTS (SELECT 1 FROM T "
                              f"WHERE {SOON}) GROUP BY S.a",
    "values of a full join": "SELECT T.a, MIN(S.a) AS m, COUNT(DISTINCT S.a) AS n FROM S FULL JOIN T ON T.a = S.a AND "
                             "T.ts BETWEEN S.ts - 1 AND S.ts + 2 GROUP BY T.a",
    "kept": "SELECT R.a, R.b, S.a AS c, S.b AS d FROM R LEFT JOIN S ON S.b = R.a",
    "kept, right": "SELECT S.b AS c, R.b FROM S RIGHT JOIN R ON S.b = R.a AND S.a > 1",
    "kept, full": "SELECT R.b, S.b AS c FROM S FULL JOIN R ON R.a = S.b AND S.a > R.b",
    "kept, not exists": f"SELECT R.b FROM R WHERE NOT EXISTS (SELECT 1 FROM S JOIN T ON {SOON} WHERE S.b > R.a) "
                        "AND R.a > 0",
    "kept, exists": "SELECT R.b FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.a)",
    "kept, not in": "SELECT R.a, R.b FROM R WHERE R.a NOT IN (SELECT S.b FROM S)",
    "kept, counted": "SELECT COUNT(*) AS n FROM R WHERE R.b >= 0 AND R.a NOT IN (SELECT S.b FROM S WHERE S.a > 0)",
    "kept, groups": "SELECT R.a, COUNT(S.b) AS n, MIN(R.b) AS m FROM R LEFT JOIN S ON S.b = R.b GROUP BY R.a",
    "kept, beside groups": "SELECT R.b, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q FULL JOIN R "
                           "ON q.n = R.a",
    "except": "SELECT a FROM R EXCEPT SELECT a FROM S",
    "except all": "SELECT a FROM R EXCEPT ALL SELECT a FROM S",
    "intersect": "SELECT a FROM S INTERSECT ALL SELECT a FROM R",
    "union of groups": "SELECT a, COUNT(*) AS n FROM S GROUP BY a UNION ALL SELECT a, COUNT(*) AS n FROM R GROUP BY a",
    "two of one name": "SELECT x.m, COUNT(*) AS n FROM (SELECT q.m FROM S JOIN (SELECT DISTINCT a, b AS m FROM "
                                "R) AS q ON q.a = S.a UNION ALL SELECT q.m FROM T JOIN (SELECT DISTINCT b, a AS m FROM "
                                "R) AS q ON q.b = T.a) AS x GROUP BY x.m",
}  # fmt: skip


def checked(sql: str) -> Checked:
    (found,) = check_source(SourceText("q.sql", sql), catalog_from_mapping(CATALOG))
    return found


def changes(sql: str, rows: Rows) -> dict[int, Counter[tuple[Any, ...]]]:
    """What becomes true, or no longer is, at each timestamp."""
    oracle, before, found = Oracle(CATALOG, rows), Counter[tuple[Any, ...]](), {}
    for now in oracle.timestamps:
        after = oracle.counts(sql, now)
        difference = Counter(after)
        difference.subtract(before)
        found[now] = Counter({row: n for row, n in difference.items() if n})
        before = after
    return {now: new for now, new in found.items() if new}


def with_results(sql: str) -> tuple[Rows, dict[int, Any]]:
    """Random rows, and what DuckDB makes of them at each timestamp: those of the first seed that gives results."""
    for seed in range(50):
        rows = small_rows(Choices.seeded(seed), CATALOG, 12)
        if len(found := changes(sql, rows)) > 2:
            return rows, found
    raise AssertionError("no rows give results")


def ran(spark: Any, folder: Path, name: str) -> None:
    """Run a statement, on Spark or, without it, in this process; the changes are those of batch SQL."""
    found = checked(QUERIES[name])
    assert found.verdict == "bounded" and found.catalog is not None, found.diagnostics
    rows, expected = with_results(QUERIES[name])
    for table in (*"ST", *"RQ"):
        write(folder / f"{table}.jsonl", *sorted(rows[table], key=lambda row: row.get("ts", 0)))
    plan = planned_circuit(found, found.catalog)
    assert plan is not None
    job, files = job_spec(plan, tick="timestamp"), [f"--{kind}={folder / kind}" for kind in ("output", "checkpoint")]
    options = ["--input", str(folder), *files]
    if spark is None:
        run_embedded(job, usage.checked(job, settings_of(job, options)), lambda event: None)
    else:
        run_with(spark, job, options)
    assert by_timestamp(read(folder / "output")) == expected


@pytest.mark.parametrize("name", QUERIES)
def test_changes_are_those_of_batch_sql_on_every_prefix(tmp_path: Path, name: str) -> None:
    ran(None, tmp_path, name)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["computed, left", "above groups, not in"])
def test_changes_on_spark_are_the_same(spark: Any, tmp_path: Path, name: str) -> None:
    ran(spark, tmp_path, name)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.b, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.b GROUP BY S.b",
        "SELECT S.b, COUNT(*) AS n FROM S LEFT ANTI JOIN R ON R.a = S.b GROUP BY S.b",
        f"SELECT S.b, COUNT(*) AS n FROM S JOIN {MOST} ON q.a = S.a GROUP BY S.b",
        f"SELECT S.a, COUNT(*) AS n FROM S JOIN {MOST} ON q.a = S.a JOIN T ON T.b = S.b AND T.ts > S.ts GROUP BY S.a",
        f"SELECT S.b, COUNT(*) AS n FROM S LEFT JOIN T ON {SOON} GROUP BY S.b",
        f"SELECT S.b, MAX(T.b) AS n FROM S LEFT JOIN T ON {SOON} GROUP BY S.b",
    ],
)
def test_what_relations_do_not_bound_is_not_bounded(sql: str) -> None:
    assert checked(sql).verdict in ("unbounded", "unknown")


def test_a_bound_counts_the_rows_of_what_is_computed() -> None:
    found = checked(QUERIES["computed"])
    assert found.circuit_bound is not None
    assert found.circuit_bound.entries.value == 12
