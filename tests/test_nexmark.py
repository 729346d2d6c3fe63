"""The example queries of Nexmark and Flink: each is decided or refused with words, and Spark accepts what it can."""

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import streambound
from streambound.analyzer.catalog import Catalog, load_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.workspace import read_sql
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound_runtime.embedded import why_not_embedded
from support.embedded import run_here
from support.jobs import run
from support.program import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = ROOT / "examples" / "nexmark"
QUERIES = sorted(file.stem for file in EXAMPLE.glob("*.sql"))
STREAMS = ("bid", "auction", "person")
BATCH = {
    "flink_window_aggregation": "SELECT window.start AS window_start, window.end AS window_end, "
    "SUM(price) AS total_price FROM bid GROUP BY window(dateTime, '10 minutes')",
    "flink_temporal_join": "SELECT A.id, A.initialBid, C.name FROM auction AS A "
    "LEFT JOIN category AS C ON A.category = C.id",
}
"""What Flink's words are in Spark's."""
IN_FLINKS_WORDS = ("flink_temporal_join", "flink_window_aggregation")
"""Spark has no TUMBLE(TABLE …), and a version of a table only for a constant time."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(EXAMPLE / "streams.toml")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nexmark")
    written(folder, 5_000)
    return folder


@pytest.fixture(scope="module")
def views(spark: SparkSession, catalog: Catalog, rows: Path) -> SparkSession:
    """A session that has the rows as views."""
    for table in catalog.tables:
        schema = ", ".join(f"`{column.name}` {column.type.name}" for column in table.columns)
        spark.read.schema(schema).json(str(rows / f"{table.name}.jsonl")).createOrReplaceTempView(table.name)
    return spark


def written(folder: Path, events: int, seed: int = 1) -> dict[str, int]:
    count: dict[str, int] = runpy.run_path(str(EXAMPLE / "generate.py"))["write"](
        folder, events, seed, timedelta(milliseconds=10)
    )
    return count


def lines(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


def tables_of(sql: str, catalog: Catalog) -> list[str]:
    read = {name for found in re.findall(r"\b(?:FROM|JOIN|TABLE)\s+(\w+)(?: AS \w+, (\w+))?", sql) for name in found}
    return [table.name for table in catalog.tables if table.name in read]


def test_all_are_there() -> None:
    assert {name for name in QUERIES if name.startswith("q")} == {f"q{number}" for number in range(23)}
    assert len(QUERIES) == 28


VERDICTS = {
    Verdict.BOUNDED: "q0 q1 q2 q5 q7 q8 q10 q11 q13 q14 q15 q16 q17 q21 q22 flink_interval_join "
                     "flink_window_aggregation flink_window_top_n flink_temporal_join",
    Verdict.UNBOUNDED: "q3 q4 q6 q9 q18 q19 q20 flink_deduplication",
    Verdict.UNSUPPORTED: "q12",
}  # fmt: skip


def test_most_are_decided(catalog: Catalog) -> None:
    found = {name: check_source(read_sql(EXAMPLE / f"{name}.sql"), catalog)[0] for name in QUERIES}
    assert {name: item.verdict for name, item in found.items()} == {
        name: verdict for verdict, names in VERDICTS.items() for name in names.split()
    }
    bound = found["flink_interval_join"].bound
    assert bound is not None
    assert bound.entries.text == "3600*rate_auction"


@pytest.mark.parametrize("name", QUERIES)
def test_each_has_a_verdict_or_is_refused_at_a_token(name: str, catalog: Catalog) -> None:
    source = read_sql(EXAMPLE / f"{name}.sql")
    (item,) = check_source(source, catalog)
    assert item.statement.name == name
    assert item.statement.tree is not None
    assert item.verdict in (Verdict.BOUNDED, Verdict.UNBOUNDED, Verdict.UNKNOWN, Verdict.UNSUPPORTED)
    if item.verdict is Verdict.UNSUPPORTED:
        assert item.diagnostics
    for found in item.diagnostics:
        assert found.code.acceptable, found
        assert found.message
        assert found.span.end > found.span.start
        # The operator with the largest state, where a large bound is noted, may be all of the statement.
        assert found.span != item.statement.span or found.code is Code.LARGE_BOUND


def test_rows_are_in_order_of_time_and_in_proportion(rows: Path) -> None:
    counts = {name: sum(1 for _ in lines(rows / f"{name}.jsonl")) for name in STREAMS}
    assert counts == {"bid": 4_600, "auction": 300, "person": 100}
    for name in STREAMS:
        times = [row["dateTime"] for row in lines(rows / f"{name}.jsonl")]
        assert times == sorted(times)


def test_events_are_about_what_has_been_there_before(rows: Path) -> None:
    begun = {name: {row["id"]: row["dateTime"] for row in lines(rows / f"{name}.jsonl")} for name in STREAMS[1:]}
    for row in lines(rows / "bid.jsonl"):
        assert begun["auction"][row["auction"]] < row["dateTime"]
        assert begun["person"][row["bidder"]] < row["dateTime"]
    for row in lines(rows / "auction.jsonl"):
        assert begun["person"][row["seller"]] < row["dateTime"] < row["expires"]


def test_the_same_seed_gives_the_same_rows_and_more_events_only_add_some(rows: Path, tmp_path: Path) -> None:
    for folder, events, seed in (("same", 5_000, 1), ("more", 5_060, 1), ("other", 5_000, 2)):
        written(tmp_path / folder, events, seed)
    for name in STREAMS:
        first = (rows / f"{name}.jsonl").read_bytes()
        assert (tmp_path / "same" / f"{name}.jsonl").read_bytes() == first
        more = (tmp_path / "more" / f"{name}.jsonl").read_bytes()
        assert more.startswith(first) and len(more) > len(first)
        assert (tmp_path / "other" / f"{name}.jsonl").read_bytes() != first


def test_the_catalog_declares_what_is_written(catalog: Catalog, rows: Path) -> None:
    for table in catalog.tables:
        for row in lines(rows / f"{table.name}.jsonl"):
            assert list(row) == [column.name for column in table.columns]
        assert table.rows is None or sum(1 for _ in lines(rows / f"{table.name}.jsonl")) == table.rows


def test_spark_runs_each_and_finds_something(views: SparkSession) -> None:
    for name in QUERIES:
        if name not in IN_FLINKS_WORDS:
            found = views.sql((EXAMPLE / f"{name}.sql").read_text(encoding="utf-8")).limit(1).collect()
            assert found, name


@pytest.mark.parametrize("name", VERDICTS[Verdict.BOUNDED].split())
def test_a_job_gives_what_batch_sql_gives(views: SparkSession, rows: Path, tmp_path: Path, name: str) -> None:
    """Without Spark, where it can run so."""
    sql = (EXAMPLE / f"{name}.sql").read_text(encoding="utf-8")
    batch = views.sql(BATCH.get(name, sql))
    job = streambound.compile(sql, EXAMPLE / "streams.toml").compiled.job
    (tmp_path / "in").symlink_to(rows)
    if why_not_embedded(job) is None:
        run_here(job, tmp_path)
    else:
        run(views, job, tmp_path)
    printed = views.read.schema(batch.selectExpr("*", "1L AS _mult").schema).json(str(tmp_path / "output"))
    found = Counter[tuple[Any, ...]]()
    for row in printed.toArrow().to_pylist():
        found[tuple(value for column, value in row.items() if column != "_mult")] += row["_mult"]
    assert found == Counter(tuple(row.values()) for row in batch.toArrow().to_pylist())
    assert found.total() > 0


def test_a_query_of_spark_gives_what_batch_sql_gives(views: SparkSession, catalog: Catalog, rows: Path) -> None:
    """Of one query, by the API; others run on Spark elsewhere."""
    sql = (EXAMPLE / "q5.sql").read_text(encoding="utf-8")
    inputs = {name: rows / f"{name}.jsonl" for name in tables_of(sql, catalog)}
    found = streambound.compile(sql, EXAMPLE / "streams.toml").run(views, inputs=inputs).to_arrow().to_pylist()
    told = Counter[tuple[Any, ...]]()
    for row in found:
        told[tuple(value for column, value in row.items() if column not in ("_ts", "_mult"))] += row["_mult"]
    assert told == Counter(tuple(row.values()) for row in views.sql(sql).toArrow().to_pylist())
    assert told.total() > 0
