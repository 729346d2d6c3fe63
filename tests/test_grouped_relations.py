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
from support.cases import read_queries
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
QUERIES = read_queries("grouped_relations.sql")


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
