"""Nothing is remembered: rows are decoded, made into results and written where they are, as they arrive.

No timestamp is waited for, so that no row is late; those that come after a closed timestamp are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from streambound_runtime.pending import Pending
from streambound_runtime.placement.computing_there import Errors
from streambound_runtime.placement.executors import carefully, over_rows
from streambound_runtime.placement.keeper import AT_ONCE, Closed, Run
from streambound_runtime.placement.on_driver import OPERATORS
from streambound_runtime.placement.pieces import Piece, heard, told
from streambound_runtime.placement.result_rows import batch_of, facts, of_plan, results_of, said, schema_of
from streambound_runtime.placement.results_kept import KeptResults
from streambound_runtime.reading.batch import Batch
from streambound_runtime.spec import Job

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Nowhere:
    """Makes results on executors; those of a batch are Spark's rows."""

    limit: int | None = 0

    def __init__(self, run: Run) -> None:
        self.run, self.job, self.results = run, run.job, KeptResults(run)
        self.found: DataFrame | None = None

    def restart(self, batch: int | None, tables: dict[str, pa.Table]) -> None:
        """There is nothing to take over."""

    def decoded(self, arrived: Batch, late_before: int | None) -> list[Piece]:
        """A batch's rows, of which the good ones are results already."""
        run = self.run
        plan = of_plan(run.job)
        made = lambda number: _results(plan, number, run.relations, late_before)  # noqa: E731

        def decode(raised: Errors | None) -> list[Piece]:
            self.forget()
            self.found = over_rows(run, arrived, schema_of(plan), made, raised=raised).persist()
            return [heard(data) for data in said(self.found)]

        return carefully(run, arrived, None, decode)

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """No good row is on the driver."""

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Make the batch's results."""
        plan = of_plan(self.job)
        rows = self.run.spark.createDataFrame([], schema_of(plan)) if self.found is None else self.found
        self.found = None
        return Closed(self.results.keep(batch, results_of(rows, plan), rows))

    def forget(self) -> None:
        """Forget the batch's rows."""
        if self.found is not None:
            self.found.unpersist()
        self.found = None

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of a batch to the sink."""
        self.results.deliver(batch, results)

    def dump(self) -> dict[str, pa.Table]:
        """Nothing."""
        return {}

    def pending(self) -> int:
        """No timestamp is waited for."""
        return 0

    def bytes(self) -> int:
        """There are no entries."""
        return 0

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches in order of time and of their values."""
        self.results.write_output(last, file)


def _results(
    job: Job,
    number: int,
    relations: dict[str, list[dict[str, Any]]],
    late_before: int | None,
) -> Callable[[Iterator[Piece]], Iterator[pa.RecordBatch]]:
    stream = job.streams[number]

    def made(pieces: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
        operator = OPERATORS[job.plan.kernel](job.plan, relations)
        for piece in pieces:
            late = 0 if late_before is None else int(np.count_nonzero(piece.ts < late_before))
            yield facts(job, told(piece, counted=False, late=late))
            if piece.good is None:
                continue
            now = Pending(job.streams)
            now.add(stream.name, [piece.good])
            for deltas in now.closed(None, AT_ONCE[job.plan.kernel]):
                found = operator.step(deltas)
                if found.size:
                    yield batch_of(job, found)

    return made
