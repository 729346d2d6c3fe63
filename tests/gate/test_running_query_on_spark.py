"""`streambound watch` of a checkpoint: Spark's own state reader finds the rows that should have gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gate.test_running_query import CATALOG, QUERIES

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.gate.running_query import RunningQuery
from streambound.synopsis_exec.spark_checkpoint import SparkCheckpoint
from support.command_line import call
from support.spark_state import make_views, measure, write_streams


@pytest.fixture(scope="module")
def checkpoints(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The queries, and "pairs" with pairs that are up to 40 minutes apart."""
    folder = tmp_path_factory.mktemp("checkpoints")
    write_streams(folder, 6)
    make_views(spark, folder)
    for name, sql in {**QUERIES, "wider": QUERIES["pairs"].replace("1 MINUTE", "40 MINUTES")}.items():
        ran = measure(spark, sql.replace(" s a", " sw a").replace(" t b", " tw b").replace(" s G", " sw G"), "append",
                      folder / name)  # fmt: skip
        assert ran.rows, name
    return folder


def told(spark: Any, folder: Path, name: str) -> list[str]:
    """What is said of a checkpoint, as one of a query's."""
    catalog = parse_catalog(CATALOG)
    (checked,) = check_source(SourceText("q.sql", QUERIES[name]), catalog)
    running = RunningQuery(checked, catalog, EngineProfile(StreamEngine.SPARK))
    return [f"{one.kind}: {one.subject}: {one.message}" for one in running.aged(SparkCheckpoint.read(folder, spark))]


@pytest.mark.parametrize("name", QUERIES)
def test_rows_of_a_clean_run_are_young(spark: Any, checkpoints: Path, name: str) -> None:
    assert told(spark, checkpoints / name, name) == []


def test_rows_that_stay_are_shown(spark: Any, checkpoints: Path) -> None:
    left, right = told(spark, checkpoints / "wider", "pairs")
    assert left.startswith("age: join (1:45) left: ") and "rows are older than 11 minutes, as {" in left
    assert '"ts":"2026-01-01T00:0' in left and right.startswith("age: join (1:45) right: ")
    (other,) = told(spark, checkpoints / "counts", "chain")
    assert other == "another query: the query: 1 of its operators keep rows, and 2 of q: is it the same query?"


def test_what_is_no_checkpoint_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(CATALOG, encoding="utf-8")
    Path("pairs.sql").write_text(QUERIES["pairs"], encoding="utf-8")
    Path("empty").mkdir()
    found = call("watch", "pairs.sql", "empty")
    assert found.exit_code == 3 and "no checkpoint of a Spark query" in found.output
