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
from support.cases import read_queries
from support.choices import Choices
from support.jobs import read, run_with, write
from support.oracle import Oracle, by_timestamp
from support.streams import Rows, small_rows

CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": {"a": "bigint", "s": "string", "ts": "bigint"}} for name in "ST"},
    "relations": {name: {"columns": {"a": "bigint", "s": "string"}, "rows": 50} for name in "RQ"},
}
QUERIES = read_queries("rows_that_ask.sql")


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


@pytest.mark.parametrize("name", ON_SPARK)
def test_results_on_spark_are_the_same(
    spark: Any, results: Callable[[str], dict[int, Any]], tmp_path: Path, name: str
) -> None:
    expected = results(name)
    assert ran(spark, tmp_path, name) == expected


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
