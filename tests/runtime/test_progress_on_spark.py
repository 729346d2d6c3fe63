"""The job's figures in Spark's progress: those of the job's own reports, one batch later."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import streambound
from support.jobs import job_of, run_with, write
from support.transcripts import blocks_of

COLUMNS = {"k": "bigint", "ts": "timestamp"}
CATALOG: dict[str, Any] = {"streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "ST"}}
QUERIES = {
    "driver": "SELECT S.k FROM S, T WHERE S.k = T.k AND S.k BETWEEN 1 AND 3 AND S.ts < T.ts",
    "buckets": "SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts <= T.ts AND T.ts <= S.ts + INTERVAL 5 SECONDS",
    "stateless": "SELECT S.k FROM S WHERE S.k > 0",
}
BATCHES = [[1, 2, 4], [3, 6], [8, 7]]
"""Seconds of the rows of each file; those of the second are partly late."""


def row(k: object, second: int) -> dict[str, object]:
    return {"k": k, "ts": f"2024-01-01T00:00:{second:02d}Z"}


def bring(folder: Path, batches: list[list[int]], first: int = 0) -> None:
    for part, seconds in enumerate(batches, start=first):
        for name in "ST":
            rows = [row(1 + second % 3, second) for second in seconds]
            write(folder / name / f"{part}.jsonl", *rows, row("none", 9), modified=1_600_000_000 + part)


class Watch:
    """The listener of the page, with something to tell it to."""

    def __init__(self, spark: Any) -> None:
        self.spark, self.seen = spark, list[dict[str, Any]]()

    def __enter__(self) -> Watch:
        (block,) = blocks_of("docs/deploy.md", "python")
        names: dict[str, Any] = {"spark": self.spark, "gauges": lambda **figures: self.seen.append(figures)}
        exec(compile(block.text, "docs/deploy.md", "exec"), names)
        self.listener = names["listener"]
        return self

    def __exit__(self, *failure: object) -> None:
        self.spark.streams.removeListener(self.listener)

    def until(self, count: int) -> list[dict[str, Any]]:
        """What it was told, once it was told so much: Spark tells it later, in a thread of its own."""
        for _ in range(600):
            if len(self.seen) >= count:
                break
            time.sleep(0.1)
        return self.seen


@pytest.mark.parametrize("placement", QUERIES)
def test_the_listener_of_the_page_hears_what_the_job_reports(spark: Any, tmp_path: Path, placement: str) -> None:
    job = job_of(QUERIES[placement], CATALOG, placement)
    files = [f"--{name}={tmp_path / name}" for name in ("output", "checkpoint")]
    options = ["--input", str(tmp_path / "in"), *files, "--files-per-batch", "1", "--trigger", "available"]
    events: list[dict[str, Any]] = []
    bring(tmp_path / "in", BATCHES)
    with Watch(spark) as watch:
        run_with(spark, job, options, events.append)
        assert len(watch.until(3)) == 3
        bring(tmp_path / "in", [[9, 10]], first=3)
        run_with(spark, job, options, events.append)
        seen = watch.until(4)
    reports = [event for event in events if "batch" in event]
    assert [figures["batch"] for figures in seen] == [None, 0, 1, 2]
    assert (seen[0]["entries"], seen[0]["quarantined"], seen[0]["closed_until"]) == (0, 0, None)
    put_aside = [*accumulate(report["quarantined"] for report in reports)]
    late_of_streams = 1 if placement == "stateless" else 2
    for figures, report, total in zip(seen[1:], reports, put_aside, strict=False):
        assert (figures["entries"], figures["bound"]) == (report["entries"], report["limit"])
        assert (figures["pending"], figures["quarantined"]) == (report["pending"], total)
        last = max(second for seconds in BATCHES[: report["batch"] + 1] for second in seconds)
        closed = datetime.fromtimestamp(figures["closed_until"].timestamp(), UTC)
        assert closed == datetime(2024, 1, 1, 0, 0, last - 1, 999_999, UTC)
        assert figures["late"] == (late_of_streams if report["batch"] >= 1 else 0)
    assert (seen[-1]["entries"] > 0) == (placement != "stateless")


def test_a_query_over_streaming_dataframes_has_them_and_a_run_to_the_end_does_not(spark: Any, tmp_path: Path) -> None:
    for part in range(2):
        write(tmp_path / "S" / f"{part}.jsonl", {"k": 7, "ts": 4 + part}, modified=1_600_000_000 + part)
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}}}}
    job = streambound.compile("SELECT A.k FROM S A, S B WHERE A.k = B.k AND A.k IN (7) AND A.ts < B.ts", catalog)
    rows = spark.readStream.schema("k BIGINT, ts BIGINT").option("maxFilesPerTrigger", 1).json(str(tmp_path / "S"))
    running = job.run(spark, {"S": rows})
    assert running.query is not None
    try:
        running.query.processAllAvailable()
        found = [progress.observedMetrics["streambound"] for progress in running.query.recentProgress]
    finally:
        running.query.stop()
    assert [(each.batch, each.closed_until) for each in found[:2]] == [(None, None), (0, 3)]
    with Watch(spark) as watch:
        assert len(job.run(spark, {"S": tmp_path / "S"}).rows()) == 1
        assert watch.seen == []
