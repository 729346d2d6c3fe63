"""Upserts in tables of SQLite, DuckDB and PostgreSQL: they are what batch SQL returns, whenever the job is killed.

PostgreSQL's are tested where a variable says how to connect; `.ci/run` starts a server:

    STREAMBOUND_POSTGRES="host=localhost dbname=postgres user=postgres" pytest tests/synopsis_exec/test_table_sinks.py
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from pyspark.sql import SparkSession

from streambound import StreamboundError, compile
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import CatalogError
from streambound.synopsis_exec.job_file import CompiledJob
from streambound_runtime.errors import JobError
from streambound_runtime.spec import JobSpec
from streambound_runtime.table_sinks import BATCHES
from support.embedded import run_here
from support.jobs import run, write
from support.killed_sink import POINTS
from support.upserts import BATCHES as PARTS
from support.upserts import CATALOG, GROUPS, HAVING, KEYS, by_sql, plain, streams

POSTGRES = os.environ.get("STREAMBOUND_POSTGRES", "")
TABLE = "results of q"
FORMATS = [
    "sqlite",
    "duckdb",
    pytest.param(
        "postgres",
        marks=[
            pytest.mark.skipif(not POSTGRES, reason="STREAMBOUND_POSTGRES names no database"),
            pytest.mark.xdist_group("postgres"),
        ],
    ),
]
TYPES = """SELECT CAST(a AS STRING) AS k, DATE'2026-01-31' AS d, amount > 1 AS large, CAST(MAX(ts) AS DOUBLE) AS x,
    MAX(amount) AS most, MAX(TIMESTAMP'2026-01-31 12:00:00') AS moment FROM S GROUP BY CAST(a AS STRING), amount > 1"""


def target(kind: str, folder: Path) -> dict[str, Any]:
    """A sink's place."""
    if kind == "postgres":
        return {"options": dict(part.split("=", 1) for part in POSTGRES.split())}
    return {"path": str(folder / kind)}


def job_of(sql: str, kind: str, folder: Path, mode: str = "upsert") -> JobSpec:
    sinks = {"q": {"format": kind, "table": TABLE, **target(kind, folder)}}
    compiled = compile(f"-- name: q\n-- streambound: emit {mode}\n{sql}", {**CATALOG, "sinks": sinks}).compiled
    assert isinstance(compiled, CompiledJob)
    (folder / "job.py").write_text(compiled.text)
    return compiled.job


def session(kind: str, folder: Path) -> Any:
    if kind == "postgres":
        return psycopg.connect(POSTGRES, autocommit=True)
    return sqlite3.connect(folder / kind, isolation_level=None) if kind == "sqlite" else duckdb.connect(folder / kind)


def queried(kind: str, folder: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = session(kind, folder)
    try:
        cursor = connection.cursor()
        cursor.execute(sql)
        return sorted((tuple(map(plain, row)) for row in cursor.fetchall()), key=repr)
    finally:
        connection.close()


def rows_in(kind: str, folder: Path) -> list[tuple[Any, ...]]:
    return queried(kind, folder, f'SELECT * FROM "{TABLE}"')


def with_table(kind: str, folder: Path, job: JobSpec, primary_key: str = "") -> None:
    """Make the table as the error says that it is to be, where there is none."""
    _run_all(kind, folder, f'DROP TABLE IF EXISTS "{TABLE}"', f"DROP TABLE IF EXISTS {BATCHES}")
    with pytest.raises(JobError, match="make it with") as raised:
        run_here(job, folder)
    made = str(raised.value).partition("make it with ")[2]
    _run_all(kind, folder, f"{made[:-1]}, PRIMARY KEY ({primary_key}))" if primary_key else made)


def _run_all(kind: str, folder: Path, *statements: str) -> None:
    connection = session(kind, folder)
    for one in statements:
        connection.cursor().execute(one)
    connection.close()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("sql", [sql for sql, _ in KEYS[1:3]])
def test_a_table_is_what_batch_sql_returns(sql: str, kind: str, tmp_path: Path) -> None:
    rows = streams(tmp_path, 5)
    job = job_of(sql, kind, tmp_path)
    with_table(kind, tmp_path, job)
    run_here(job, tmp_path)
    assert rows_in(kind, tmp_path) == by_sql(sql, rows)
    assert queried(kind, tmp_path, f"SELECT * FROM {BATCHES}") == [(TABLE, PARTS)]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_primary_key_is_kept(kind: str, tmp_path: Path) -> None:
    sql = "SELECT COALESCE(a, -1) AS k, COUNT(*) AS n FROM S GROUP BY COALESCE(a, -1)"
    rows = streams(tmp_path, 6)
    job = job_of(sql, kind, tmp_path)
    with_table(kind, tmp_path, job, primary_key='"k"')
    run_here(job, tmp_path)
    assert rows_in(kind, tmp_path) == by_sql(sql, rows)


@pytest.mark.parametrize("kind", FORMATS)
def test_values_of_each_type(kind: str, tmp_path: Path) -> None:
    streams(tmp_path, 8)
    job = job_of(TYPES, kind, tmp_path)
    with_table(kind, tmp_path, job)
    run_here(job, tmp_path)
    found = queried(kind, tmp_path, f'SELECT k, large, x, most FROM "{TABLE}" WHERE k IS NOT NULL')
    assert found and all(isinstance(k, str) and large in (0, 1) for k, large, _, _ in found)
    texts = "CAST(d AS VARCHAR(10)), CAST(moment AS VARCHAR(19))"
    days = queried(kind, tmp_path, f'SELECT DISTINCT {texts} FROM "{TABLE}"')
    assert days == [("2026-01-31", "2026-01-31 12:00:00")]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("point", POINTS)
def test_a_job_that_is_killed(point: str, kind: str, tmp_path: Path) -> None:
    """Between the transaction and the checkpoint, and within the transaction, in the first batch and in the second: the
    table is what no kill leaves.
    """
    rows = streams(tmp_path, 9)
    job = job_of(HAVING, kind, tmp_path)
    with_table(kind, tmp_path, job)
    arguments = [str(tmp_path), str(tmp_path / "job.py"), point, str(POINTS.index(point))]
    command = [sys.executable, "-m", "support.killed_sink", *arguments]
    died = subprocess.run(command, check=False, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    run_here(job, tmp_path)
    assert rows_in(kind, tmp_path) == by_sql(HAVING, rows)
    assert queried(kind, tmp_path, f"SELECT batch FROM {BATCHES}") == [(PARTS,)]
    run_here(job, tmp_path)
    assert rows_in(kind, tmp_path) == by_sql(HAVING, rows), "nothing came, and nothing changes"


def test_a_table_is_of_one_run(tmp_path: Path) -> None:
    streams(tmp_path, 2)
    job = job_of(GROUPS, "sqlite", tmp_path)
    with_table("sqlite", tmp_path, job)
    run_here(job, tmp_path)
    write(tmp_path / "in" / "S" / "9.jsonl", {"a": 1, "b": 1, "amount": 1, "ts": 99}, modified=1_700_000_000)
    with pytest.raises(JobError, match="what was closed when the input ended, and there is more"):
        run_here(job, tmp_path)
    other = tmp_path / "other"
    streams(other, 2)
    with pytest.raises(JobError, match="holds the batches of another run"):
        run_here(job, other)
    _run_all("sqlite", tmp_path, f"DELETE FROM {BATCHES}")
    run_here(job, other)
    _run_all("sqlite", tmp_path, f"UPDATE {BATCHES} SET batch = 7")
    third = tmp_path / "third"
    streams(third, 2)
    with pytest.raises(JobError, match="holds the batches of another run"):
        run_here(job, third)


def test_batches_that_the_table_lacks(tmp_path: Path) -> None:
    """A checkpoint goes on where it was, and its table with it."""
    streams(tmp_path, 2)
    job = job_of(GROUPS, "sqlite", tmp_path)
    with_table("sqlite", tmp_path, job)
    run_here(job, tmp_path, "--trigger", "available")
    write(tmp_path / "in" / "S" / "9.jsonl", {"a": 1, "b": 1, "amount": 1, "ts": 99}, modified=1_700_000_000)
    _run_all("sqlite", tmp_path, f"UPDATE {BATCHES} SET batch = 1")
    with pytest.raises(JobError, match="has batch 1 as the last one, and this run goes on with 5"):
        run_here(job, tmp_path, "--trigger", "available")
    _run_all("sqlite", tmp_path, f"DELETE FROM {BATCHES}")
    with pytest.raises(JobError, match="has no batch, and this run goes on with 5"):
        run_here(job, tmp_path, "--trigger", "available")
    _run_all("sqlite", tmp_path, f"INSERT INTO {BATCHES} VALUES ('{TABLE}', 4)")
    run_here(job, tmp_path, "--trigger", "available")


def test_tables_take_upserts_alone(tmp_path: Path) -> None:
    with pytest.raises(StreamboundError, match="are replaced by a key"):
        job_of(GROUPS, "sqlite", tmp_path, mode="changes")


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        ({"format": "sqlite", "path": "x"}, "a sink of the format sqlite needs a table"),
        ({"format": "duckdb", "table": "x"}, "a sink of the format duckdb needs a path"),
        ({"format": "postgres", "table": "x", "path": "x"}, "postgres has no path"),
        ({"format": "parquet", "path": "x", "table": "x"}, "parquet has no table"),
        ({"call": "a:b", "table": "x"}, "either a format, path and options or a call"),
    ],
)
def test_sinks_that_are_none(sink: dict[str, str], said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        catalog_from_mapping({**CATALOG, "sinks": {"q": sink}})


def test_a_database_that_does_not_answer(tmp_path: Path) -> None:
    streams(tmp_path, 2)
    job = job_of(GROUPS, "sqlite", tmp_path)
    assert job.sink is not None
    nowhere = replace(job, sink=replace(job.sink, path=str(tmp_path / "none" / "x.db")))
    with pytest.raises(JobError, match=r"cannot use the table results of q of sqlite .*unable to open"):
        run_here(nowhere, tmp_path)


def test_a_table_from_spark(spark: SparkSession, tmp_path: Path) -> None:
    rows = streams(tmp_path, 5)
    job = job_of(GROUPS, "sqlite", tmp_path)
    with_table("sqlite", tmp_path, job)
    run(spark, job, tmp_path)
    assert rows_in("sqlite", tmp_path) == by_sql(GROUPS, rows)
