"""Mode `upsert`: the row of each key after each batch, by its key; applied, the upserts are what batch SQL returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streambound import StreamboundError, compile, verify
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.job_file import CompiledJob, job_in
from streambound_runtime.errors import JobError
from streambound_runtime.placement.results_in_process import upserts_in_process
from support.embedded import run_here
from support.jobs import read, run
from support.upserts import BATCHES, CATALOG, GROUPS, HAVING, KEYS, applied, by_sql, streams

NONE = [
    ("SELECT a FROM S", "group by the key"),
    ("SELECT COUNT(*) AS n FROM S", "1 AS id"),
    ("SELECT COUNT(*) AS n FROM S GROUP BY a, b", "select a, b as well"),
    ("SELECT a, b, COUNT(*) AS n FROM S GROUP BY ROLLUP (a, b)", "group by the key"),
    ("SELECT a, ts FROM S UNION ALL SELECT a, ts FROM O", "group by the key"),
]
"""Queries without one, and what is said of them."""


def job_of(sql: str, tick: str = "batch", placement: str | None = None, **catalog: Any) -> CompiledJob:
    text = f"-- name: q\n-- streambound: emit upsert\n{sql}"
    found = compile(text, CATALOG | catalog, tick=tick, placement=placement).compiled
    assert isinstance(found, CompiledJob)
    return found


@pytest.mark.parametrize(("sql", "key", "tick"), [(*one, "batch") for one in KEYS] + [(*KEYS[2], "timestamp")])
def test_upserts_are_what_batch_sql_returns(sql: str, key: tuple[str, ...], tick: str, tmp_path: Path) -> None:
    compiled = job_of(sql, tick)
    assert compiled.job.key == key
    assert f"the row of each {', '.join(key)}" in compiled.text and job_in(compiled.text) == compiled.job
    rows, batches = streams(tmp_path, len(tick)), list[dict[str, Any]]()
    summary = run_here(compiled.job, tmp_path, report=batches.append)
    found = read(tmp_path / "output")
    assert applied(found, key) == by_sql(sql, rows)
    assert summary["results"] == len(found)
    assert sum("batch" in one for one in batches) == BATCHES


@pytest.mark.parametrize(
    ("sql", "placement"), [(GROUPS, "driver"), (GROUPS, "buckets"), (HAVING, "buckets"), (KEYS[-1][0], "driver")]
)
def test_upserts_on_spark(spark: SparkSession, sql: str, placement: str, tmp_path: Path) -> None:
    """The same lines; and a sink gets the same upserts, batch by batch, as rows with their types."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        rows = streams(folder, 7)
    run_here(job_of(sql).job, here)
    sinks = {"q": {"format": "parquet", "path": str(tmp_path / "sink")}}
    job = job_of(sql, placement=placement, sinks=sinks).job
    assert job.placement.where == placement
    run(spark, job, there)
    assert in_words(read(there / "output")) == in_words(read(here / "output"))
    sent = spark.read.parquet(str(tmp_path / "sink")).orderBy("batch").drop("batch").toArrow().to_pylist()
    assert applied(sent, job.key) == by_sql(sql, rows)


def in_words(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row) for row in rows)


def test_a_next_job_reads_them_as_changes(tmp_path: Path) -> None:
    rows = streams(tmp_path, 3)
    run_here(job_of(HAVING).job, tmp_path)
    catalog = {
        "relations": {
            "H": {
                "columns": {"a": "bigint", "n": "bigint"},
                "rows": 10,
                "changes": {"timestamp": "_ts", "op": "_op", "insert": "upsert", "key": ["a"]},
            }
        },
        "streams": {"S": CATALOG["streams"]["S"]},
    }
    (tmp_path / "in" / "H.jsonl").write_text((tmp_path / "output").read_text())
    sql = "SELECT COUNT(*) AS groups, SUM(n) AS n, COUNT(a) AS known FROM {}"
    (found,) = verify(sql.format("H"), catalog, inputs=tmp_path / "in", runs=1).trials
    assert found.comparison.equal and found.comparison.results
    *_, last = (row for row in compile(sql.format("H"), catalog).run(inputs=tmp_path / "in").rows() if row["_mult"] > 0)
    assert [tuple(last.values())[:3]] == by_sql(sql.format(f"({HAVING})"), rows)


@pytest.mark.parametrize(("sql", "said"), NONE)
def test_a_query_without_a_key_is_refused_where_it_asks_for_one(sql: str, said: str) -> None:
    source = SourceText("q.sql", f"-- streambound: emit upsert\n{sql}")
    (item,) = check_source(source, catalog_from_mapping(CATALOG))
    (found,) = item.diagnostics
    assert item.verdict is Verdict.UNSUPPORTED and said in found.help
    assert (found.span.line, found.span.column, found.span.end_column) == (1, 22, 28)
    (changes,) = check_source(SourceText("q.sql", sql), catalog_from_mapping(CATALOG))
    assert changes.verdict is Verdict.BOUNDED


def test_no_key_has_two_rows() -> None:
    job = job_of(GROUPS).job
    columns = {"c0": [1, 1], "c1": [2, None], "c2": [3, 3], "c3": [4, 4]}
    table = pa.table({"_ts": [5, 6], **columns, "_mult": [1, 1]})
    assert upserts_in_process(job, table).num_rows == len(table)
    for wrong in ({"_mult": [1, 2]}, {"c1": [2, 2], "c2": [3, 4]}, {"c1": [None, None], "c2": [3, 4]}):
        with pytest.raises(JobError, match="two results agree in a, b"):
            upserts_in_process(job, pa.table({**table.to_pydict(), **wrong}))


def test_what_upserts_are_not(tmp_path: Path) -> None:
    with pytest.raises(StreamboundError, match="_op is a column that the job adds itself"):
        job_of("SELECT a AS _op, COUNT(*) AS n FROM S GROUP BY a")
    streams(tmp_path, 1)
    with pytest.raises(JobError, match="upserts have no multiplicity"):
        run_here(job_of(GROUPS).job, tmp_path, "--multiplicity", "rows")
    run_here(job_of(GROUPS).job, tmp_path)
    with pytest.raises(JobError, match="cannot be continued"):
        run_here(compile(GROUPS, CATALOG).compiled.job, tmp_path)
