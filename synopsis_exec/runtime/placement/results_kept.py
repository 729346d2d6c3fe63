"""The results of batches as Spark's rows: given to sinks, and kept for a file of all of them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TextIO

from streambound_runtime.checkpoint.store import gone
from streambound_runtime.placement.keeper import Run
from streambound_runtime.placement.result_rows import computed, computing, consolidated, typed, write_in_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class KeptResults:
    """What `--output` and the sink get of results that never come to the driver."""

    def __init__(self, run: Run) -> None:
        self.run, self.job = run, run.job
        self.rows: DataFrame | None = None
        self.of: DataFrame | None = None

    def keep(self, batch: int, results: DataFrame, of: DataFrame) -> int:
        """Take the results that a plan has in a batch, made ``of`` persisted rows; returns how many the job has."""
        self.drop()
        self.rows, self.of = computed(results, self.job).persist(), of
        with computing(results, self.job):
            if self.run.settings.output:
                self.rows.write.mode("overwrite").parquet(self._part(batch))
            return self.rows.count()

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of the batch to the sink."""
        rows = self.rows
        assert rows is not None, "they were taken before"
        self.run.sinks.results(lambda: typed(rows, self.job), batch, results)
        self.drop()

    def drop(self) -> None:
        """Forget the results of a batch."""
        for rows in (self.rows, self.of):
            if rows is not None:
                rows.unpersist()
        self.rows = self.of = None

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches in order of time and of their values."""
        store = self.run.checkpoint.store
        there, parts = {*store.names("results")}, []
        for batch in range(last + 1):
            if f"{batch:09d}" not in there:
                raise gone(store, "results", batch)
            parts.append(self.run.spark.read.parquet(self._part(batch)))
        if parts:
            every = reduce(lambda one, other: one.union(other), parts)
            write_in_order(consolidated(every, self.job), self.job, file, self.run.settings.multiplicity)

    def _part(self, batch: int) -> str:
        return self.run.checkpoint.store.where(f"results/{batch:09d}")
