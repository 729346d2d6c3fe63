"""What the placements share whose rows and results never come to the driver: both are Spark's, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING, TextIO

from streambound_runtime.checkpoint.store import missing_batch
from streambound_runtime.placement.decoded_chunk import DecodedChunk, unpacked_facts
from streambound_runtime.placement.derived_on_executors import Errors
from streambound_runtime.placement.executors import with_errors
from streambound_runtime.placement.result_rows import (
    computed,
    computed_above,
    computing,
    consolidated,
    typed,
    upserts,
    write_in_order,
)
from streambound_runtime.placement.state_owner import RunContext
from streambound_runtime.reading.batch import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class OnExecutors:
    """A batch's rows, then its results, each persisted as long as they are needed."""

    def __init__(self, run: RunContext) -> None:
        self.run, self.job = run, run.job
        self.plan, self.above = computed_above(run.job)
        self.found: DataFrame | None = None
        self.results: DataFrame | None = None
        self.made_of: DataFrame | None = None

    def taken(
        self,
        arrived: Batch,
        late_before: int | None,
        found: Callable[[Errors | None], DataFrame],
        facts: Callable[[DataFrame], Iterable[bytes]],
    ) -> list[DecodedChunk]:
        """A batch's rows as a function of the errors of its expressions finds them; ``facts`` of them are returned."""

        def attempt(raised: Errors | None) -> list[DecodedChunk]:
            self.forget()
            self.found = found(raised).persist()
            return [*map(unpacked_facts, facts(self.found))]

        return with_errors(self.run, arrived, late_before, attempt)

    def release(self) -> None:
        """Nothing is run here."""

    def forget(self) -> None:
        """Forget the batch's rows."""
        if self.found is not None:
            self.found.unpersist()
        self.found = None

    def keep(self, batch: int, results: DataFrame, of: DataFrame) -> int:
        """Take the results that a plan has in a batch, made ``of`` persisted rows; returns how many the job has."""
        self._drop()
        self.results, self.made_of = upserts(computed(results, self.job, self.above), self.job).persist(), of
        with computing(results, self.job, self.above):
            if self.run.settings.output:
                self.run.checkpoint.store.guard()
                self.results.write.mode("overwrite").parquet(self._part(batch))
            return self.results.count()

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of the batch to the sink."""
        rows = self.results
        assert rows is not None, "they were taken before"
        self.run.sinks.results(lambda: typed(rows, self.job), batch, results)
        self._drop()

    def _drop(self) -> None:
        for rows in (self.results, self.made_of):
            if rows is not None:
                rows.unpersist()
        self.results = self.made_of = None

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches in order of time and of their values."""
        store = self.run.checkpoint.store
        written, parts = {*store.names("results")}, []
        for batch in range(last + 1):
            if f"{batch:09d}" not in written:
                raise missing_batch(store, "results", batch)
            parts.append(self.run.session.read.parquet(self._part(batch)))
        if self.job.key:  # a row that comes and goes is upserts of two batches
            every = parts
        else:
            every = [consolidated(reduce(lambda one, other: one.union(other), parts), self.job)] if parts else []
        for rows in every:
            write_in_order(rows, self.job, file, self.run.settings.multiplicity)

    def _part(self, batch: int) -> str:
        return self.run.checkpoint.store.where(f"results/{batch:09d}")
