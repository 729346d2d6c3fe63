"""What asks relations when a row arrives: results are those of DuckDB on every prefix, wherever rows are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.synopsis_exec.job_file import compiled
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime.embedded import run_embedded
from streambound_runtime.placement import state_owner
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from support.choices import Choices
from support.jobs import read, run_with, write
from support.oracle import Oracle, by_timestamp
from support.streams import Rows, small_rows

CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": {"a": "bigint", "s": "string", "ts": "bigint"}} for name in "ST"},
    "relations": {name: {"columns": {"a": "bigint", "s": "string"}, "rows": 50} for name in "RQ"},
}
SOON = "T.ts >= S.ts AND T.ts <= S.ts + 2"
QUERIES = {
    "left": "SELECT S.a, R.s, coalesce(R.s, 'none') AS named FROM S LEFT JOIN R ON R.a = S.a",
    "left, of two streams": f"SELECT S.a, R.s, T.s AS t FROM S LEFT JOIN R ON R.a = S.a AND R.s > S.s JOIN T ON {SOON}",
    "left, using": "SELECT * EXCEPT (s), S.s AS s, R.s AS t FROM S LEFT JOIN R USING (a)",
    "right": "SELECT S.a, R.s FROM R RIGHT JOIN S ON R.a = S.a AND R.s <> 'b'",
    "semi": "SELECT S.a, S.s FROM S SEMI JOIN R ON R.a = S.a",
    "anti": f"SELECT S.a, T.a AS t FROM S ANTI JOIN R USING (a) JOIN T ON {SOON}",
    "exists": "SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a < S.a AND s = 'a') OR S.s = 'z'",
    "not in": "SELECT S.a, S.s FROM S WHERE S.a NOT IN (SELECT a FROM R WHERE s = 'ab')",
    "a value": "SELECT S.a, (SELECT max(R.s) FROM R WHERE R.a = S.a) AS m, (SELECT count(*) FROM R) AS n FROM S",
    "compared": "SELECT DISTINCT S.s FROM S WHERE S.a > (SELECT avg(a) FROM R) AND S.s IN ('a', 'b', 'ab')",
    "grouped": "WITH k AS (SELECT a, count(*) AS n FROM R GROUP BY a) SELECT S.a FROM S JOIN T USING (a) "
               f"SEMI JOIN k ON k.a = S.a AND n < 3 WHERE {SOON}",
    "computed": "SELECT S.a, c.n, c.most FROM S JOIN (SELECT a, count(*) AS n, max(s) AS most FROM R GROUP BY a) AS c "
                "ON c.a = S.a",
    "computed, left": "SELECT S.a, c.n FROM S LEFT JOIN (SELECT a, count(*) FROM R GROUP BY a HAVING count(*) > 1) "
                      "AS c(a, n) ON c.a = S.a",
    "computed, a difference": "WITH k AS (SELECT DISTINCT a FROM R EXCEPT SELECT a FROM R WHERE s = 'a') "
                              f"SELECT S.s, T.s AS t FROM S JOIN k ON k.a = S.a JOIN T ON {SOON} AND T.a = k.a",
    "computed, all of two": "SELECT S.a, x.b FROM S JOIN (SELECT y.a, z.s AS b FROM R AS y FULL JOIN R AS z "
                            "ON y.a = z.a + 1) AS x ON x.a = S.a OR x.a IS NULL",
    "computed, remembered": "SELECT DISTINCT c.n FROM S JOIN (SELECT a, sum(a) AS n FROM R GROUP BY a) AS c "
                            "ON c.a = S.a JOIN T ON T.ts > S.ts AND T.a >= c.a",
    "computed, expressions": "SELECT upper(c.most) AS u, S.a + c.n AS m FROM S JOIN (SELECT a % 3 AS k, count(*) AS n, "
                             "min(s) AS most FROM R GROUP BY a % 3) AS c ON c.k = S.a % 3",
    "joined, remembered": "SELECT S.a, T.s FROM S JOIN T ON T.a = S.a AND T.ts > S.ts WHERE S.a IN (SELECT a FROM R "
                          "WHERE R.s <> 'z') AND S.a <= (SELECT max(a) FROM Q)",
    "joined, once": "SELECT DISTINCT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND R.s < S.s)",
    "nested, exists": "SELECT S.a, S.s FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND NOT EXISTS "
                      "(SELECT 1 FROM Q WHERE Q.a = R.a AND s <> R.s))",
    "nested, none": "SELECT S.a, S.s FROM S WHERE NOT EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND (R.s = 'ab' OR "
                    "EXISTS (SELECT 1 FROM Q WHERE Q.a = R.a)))",
    "nested, of no row": "SELECT S.a, S.s FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a IN (SELECT a FROM Q "
                         "WHERE a > 1)) AND (S.a = 1 OR (SELECT count(*) > 1 FROM Q))",
    "nested, values": "SELECT S.a, (SELECT max(R.a) FROM R WHERE R.s = S.s AND R.a IN (SELECT a FROM Q)) AS m FROM S "
                      "WHERE S.a IN (SELECT a FROM R WHERE a >= (SELECT avg(a) FROM Q))",
    "nested, computed": "SELECT S.a, c.n FROM S JOIN (SELECT a, count(*) AS n FROM R WHERE a NOT IN (SELECT Q.a FROM Q "
                        "WHERE Q.s = R.s AND Q.a IS NOT NULL) GROUP BY a) AS c ON c.a = S.a",
    "nested, of two streams": f"SELECT S.a, T.s FROM S JOIN T USING (a) WHERE {SOON} AND S.s IN (SELECT s FROM R WHERE "
                              "a > (SELECT min(a) FROM Q WHERE Q.s = R.s OR Q.s IS NULL))",
}  # fmt: skip


def with_results(sql: str) -> tuple[Rows, dict[int, Any]]:
    """Random rows, and what DuckDB makes of them at each timestamp: those of the first seed that gives results."""
    for seed in range(50):
        rows = small_rows(Choices.seeded(seed), CATALOG, 12)
        found = {now: new for now, new in Oracle(CATALOG, rows).prefix_expected(sql).items() if new}
        if len(found) > 2:
            return rows, found
    raise AssertionError("no rows give results")


def job_checked(sql: str, placement: str | None) -> JobSpec:
    """The job of a statement as `check` decides it."""
    catalog = catalog_from_mapping(CATALOG)
    (found,) = check_source(SourceText("q.sql", sql), catalog)
    assert found.decision is not None
    return compiled(make_plan(found.decision, catalog), placement).job


ON_SPARK = ("left", "nested, values", "computed, a difference")
ON_A_CLUSTER = {"nested, exists": "driver", "nested, of two streams": "buckets"}


@pytest.fixture
def results(tmp_path: Path) -> Callable[[str], dict[int, Any]]:
    """Writes the input of a query, in two files of each stream, and gives what DuckDB returns of it."""

    def written(name: str) -> dict[int, Any]:
        rows, expected = with_results(QUERIES[name])
        for stream in "ST":
            ordered = sorted(rows[stream], key=lambda row: row["ts"])
            half = len(ordered) // 2
            for part, some in enumerate((ordered[:half], ordered[half:])):
                write(tmp_path / stream / f"{part}.jsonl", *some, modified=1_600_000_000 + part)
        for relation in "RQ":
            write(tmp_path / f"{relation}.jsonl", *rows[relation])
        return expected

    return written


def ran(spark: Any, folder: Path, name: str, placement: str | None = None, *more: str) -> dict[int, Any]:
    """The results of a job, on Spark or, without it, in this process."""
    job = job_checked(QUERIES[name], placement)
    files = [f"--{kind}={folder / kind}" for kind in ("output", "checkpoint")]
    options = ["--input", str(folder), *files, *more]
    if spark is None:
        run_embedded(job, checked(job, settings_of(job, options)), lambda event: None)
    else:
        run_with(spark, job, options)
    return by_timestamp(read(folder / "output"))


@pytest.mark.parametrize("name", QUERIES)
def test_results_are_those_of_batch_sql_on_every_prefix(
    results: Callable[[str], dict[int, Any]], tmp_path: Path, name: str
) -> None:
    expected = results(name)
    assert ran(None, tmp_path, name, None, "--files-per-batch", "1") == expected


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ON_SPARK)
def test_results_on_spark_are_the_same(
    spark: Any, results: Callable[[str], dict[int, Any]], tmp_path: Path, name: str
) -> None:
    expected = results(name)
    assert ran(spark, tmp_path, name) == expected


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "placement"), ON_A_CLUSTER.items())
def test_workers_are_given_the_relations(
    spark: Any,
    results: Callable[[str], dict[int, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    placement: str,
) -> None:
    monkeypatch.setattr(state_owner, "is_local", lambda spark: False)
    expected = results(name)
    assert ran(spark, tmp_path, name, placement, "--files-per-batch", "1") == expected
