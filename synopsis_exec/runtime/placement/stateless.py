"""Nothing is remembered: rows are decoded, made into results and written where they are, as they arrive.

No timestamp is waited for, so that no row is late; those that come after a closed timestamp are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.operators.pending import Pending
from streambound_runtime.operators.synopsis import SynopsisJoin
from streambound_runtime.placement.decoded_chunk import DecodedChunk, packed_facts
from streambound_runtime.placement.executors import over_rows
from streambound_runtime.placement.on_executors import OnExecutors
from streambound_runtime.placement.result_rows import batch_of, facts, facts_of, of_plan, results_of, schema_of
from streambound_runtime.placement.state_owner import AT_ONCE, Closed
from streambound_runtime.reading.batch import Batch
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa


class Stateless(OnExecutors):
    """Makes results on executors; those of a batch are Spark's rows."""

    limit: int | None = 0

    def restart(self, batch: int | None, tables: dict[str, pa.Table]) -> None:
        """There is nothing to take over."""

    def decoded(self, arrived: Batch, late_before: int | None) -> list[DecodedChunk]:
        """A batch's rows, of which the good ones are results already."""
        run, plan = self.run, of_plan(self.job)
        made = lambda number: _results(plan, number, run.relations, late_before)  # noqa: E731
        results = lambda raised: over_rows(run, arrived, schema_of(plan), made, raised=raised)  # noqa: E731
        return self.taken(arrived, None, results, facts_of)

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """No good row is on the driver."""

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Make the batch's results."""
        plan = of_plan(self.job)
        rows = self.run.session.createDataFrame([], schema_of(plan)) if self.found is None else self.found
        self.found = None
        return Closed(self.keep(batch, results_of(rows, plan), rows))

    def dump(self) -> dict[str, pa.Table]:
        """Nothing."""
        return {}

    def pending(self) -> int:
        """No timestamp is waited for."""
        return 0

    def bytes(self) -> int:
        """There are no entries."""
        return 0


def _results(
    job: JobSpec,
    number: int,
    relations: dict[str, list[dict[str, Value]]],
    late_before: int | None,
) -> Callable[[Iterator[DecodedChunk]], Iterator[pa.RecordBatch]]:
    stream = job.streams[number]

    def made(chunks: Iterator[DecodedChunk]) -> Iterator[pa.RecordBatch]:
        operator = SynopsisJoin(job.synopsis, relations)
        for chunk in chunks:
            late = 0 if late_before is None else int(np.count_nonzero(chunk.ts < late_before))
            yield facts(job, packed_facts(chunk, counted=False, late=late))
            if chunk.good is None:
                continue
            now = Pending(job.streams)
            now.add(stream.name, [chunk.good])
            for deltas in now.closed(None, AT_ONCE[job.plan.kernel]):
                found = operator.step(deltas)
                if found.size:
                    yield batch_of(job, found)

    return made
