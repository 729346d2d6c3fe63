"""Large batches that the driver folds a slice of time after the other: the same files and reports as of whole ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_executors_on_spark import CATALOG, COUNTS, WINDOWS, arrived, ran

from support.jobs import kernel

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LEAST = "SELECT DISTINCT T.a FROM S, T WHERE T.ts > S.ts AND T.b > S.b"
"""It keeps the least text, which only the kernel of rows does."""
AGES = "SELECT S.b FROM S, T WHERE S.ts >= T.ts + 3 AND S.b = T.b AND T.b IN ('x', 'y')"
"""It tells timestamps apart without end."""


@pytest.mark.parametrize(
    ("sql", "ranges"),
    [(LEAST, False), (AGES, False), (COUNTS, True), (WINDOWS, True)],
    ids=["least text", "timestamps", "counts", "windows of a set"],
)
def test_slices_of_a_large_batch_are_the_batch(spark: Any, tmp_path: Path, sql: str, ranges: bool) -> None:
    """Also of queries that executors could fold, where a batch cannot be cut for them."""
    arrived(tmp_path / "in")
    job = kernel(sql, CATALOG)
    whole = ran(spark, job, tmp_path / "whole", 10**9)
    assert job.Batches is (job.SpreadJob if ranges else job.LargeJob)
    job.SLICE, sizes, fetch = 10, [], job.LargeJob.fetch

    def noted(self: Any, rows: Any) -> None:
        before = self.pending.num_rows
        fetch(self, rows)
        sizes.append(self.pending.num_rows - before)

    job.LargeJob.fetch = noted
    if ranges:
        job.SpreadJob.divide = lambda self, left, complete: []
    assert ran(spark, job, tmp_path / "slices", 0) == whole
    assert len(sizes) > 20
    assert max(sizes) < 60
    assert len(whole[0].splitlines()) > 1
    assert whole[2][-1]["quarantined"]["not a JSON object"] == 6
    assert ("more than max_per_timestamp = 4 rows" in whole[2][-1]["quarantined"]) == (sql != AGES)
    assert not spark.sparkContext._jsc.sc().getPersistentRDDs().size()


def test_rows_that_the_kernel_takes_one_by_one(spark: Any, tmp_path: Path) -> None:
    """Few of them are dictionaries at a time."""
    arrived(tmp_path / "in")
    job = kernel(LEAST, CATALOG)
    assert job.Kernel is job.RowWise
    whole = ran(spark, job, tmp_path / "whole", 10**9)
    job.AT_ONCE, sizes, row_dicts = 7, [], job.row_dicts
    job.row_dicts = lambda rows: (sizes.append(len(rows.time)), row_dicts(rows))[1]
    assert ran(spark, job, tmp_path / "few", 10**9) == whole
    assert len(sizes) > 40
    assert max(sizes) < 20


def test_a_batch_that_fails_between_slices_is_done_again(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in")
    job = kernel(LEAST, CATALOG)
    whole = ran(spark, job, tmp_path / "whole", 10**9)
    job.SLICE, calls, fetch = 10, [], job.LargeJob.fetch

    def failing(self: Any, rows: Any) -> None:
        calls.append(1)
        if len(calls) == 12:
            raise RuntimeError("the machine is gone")
        fetch(self, rows)

    job.LargeJob.fetch = failing
    with pytest.raises(RuntimeError, match="the machine is gone"):
        ran(spark, job, tmp_path / "slices", 0)
    output, bad, reports = ran(spark, job, tmp_path / "slices", 0)
    assert (output, bad, reports[-1]) == (*whole[:2], whole[2][-1])
