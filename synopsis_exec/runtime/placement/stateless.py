"""Nothing is remembered: rows are decoded, made into results and written as they arrive, where they are.

No timestamp is waited for, so that no row is late; those that come after a closed timestamp are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import numpy as np

from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.checkpoint.store import missing_batch
from streambound_runtime.operators.formula import Relations
from streambound_runtime.operators.pending import Pending
from streambound_runtime.placement.decoded_chunk import DecodedChunk, decoded_on_driver, packed_facts
from streambound_runtime.placement.executors import over_rows
from streambound_runtime.placement.on_driver import OnDriver, operator_of
from streambound_runtime.placement.on_executors import OnExecutors
from streambound_runtime.placement.result_rows import (
    FACTS,
    batch_of,
    deltas_of,
    empty_results,
    facts,
    facts_of,
    results_of,
    schema_of,
)
from streambound_runtime.placement.results_in_process import (
    in_order_in_process,
    upserts_in_process,
)
from streambound_runtime.placement.state_owner import Closed
from streambound_runtime.reading.batch import Batch
from streambound_runtime.results import result_lines, typed_results, write_results
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
        run, plan = self.run, self.plan
        made = lambda number: _results(plan, number, run.relations, late_before)  # noqa: E731
        results = lambda raised: over_rows(run, arrived, schema_of(plan), made, raised=raised)  # noqa: E731
        return self.taken(arrived, None, results, facts_of)

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """No good row is on the driver."""

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Make the batch's results."""
        plan = self.plan
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
    relations: Relations,
    late_before: int | None,
) -> Callable[[Iterator[DecodedChunk]], Iterator[pa.RecordBatch]]:
    stream = job.streams[number]

    def made(chunks: Iterator[DecodedChunk]) -> Iterator[pa.RecordBatch]:
        operator = operator_of(job, relations)
        for chunk in chunks:
            late = 0 if late_before is None else int(np.count_nonzero(chunk.ts < late_before))
            yield facts(job, packed_facts(chunk, counted=False, late=late))
            if chunk.good is None:
                continue
            now = Pending(job.streams)
            now.add(stream.name, [chunk.good])
            found = operator.step(now.closed(None))
            if found.size:
                yield batch_of(job, found)

    return made


_RESULTS = "results"


class StatelessEmbedded(OnDriver):
    """Makes the results of a batch at once; those of all batches are put in order of time at the end."""

    def decoded(self, arrived: Batch, late_before: int | None) -> list[DecodedChunk]:
        """A batch's rows; those that come after their timestamp was closed are only counted."""
        run = self.run
        chunks = [*decoded_on_driver(arrived, run.job, run.settings, run.decoders, None)]
        if late_before is None:
            return chunks
        return [replace(chunk, late=int(np.count_nonzero(chunk.ts < late_before))) for chunk in chunks]

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Make the batch's results."""
        import pyarrow as pa

        self.add_arrived()
        job, found = self.job, self.operator.step(self.open.closed(None))
        rows = pa.Table.from_batches([batch_of(job, found if found.size else empty_results(job))])
        results = upserts_in_process(job, in_order_in_process(job, rows.drop_columns([FACTS])))
        self.run.checkpoint.store.write(self._part(batch), packed({}, {_RESULTS: results}))
        return Closed(results.num_rows)

    def pending(self) -> int:
        """No timestamp is waited for."""
        return 0

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of the batch to the sink."""
        self.run.sinks.results(lambda: self._typed(batch), batch, results)

    def _typed(self, batch: int) -> pa.Table:
        found = unpacked(self.run.checkpoint.store.read(self._part(batch)))
        assert found is not None, "it has just been written"
        lines = (result_lines(self.job, delta) for delta in deltas_of(found[1][_RESULTS], self.job))
        return typed_results(self.job, [line for some in lines for line in some.to_pylist()])

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches in order of time and of their values."""
        import pyarrow as pa

        store, parts = self.run.checkpoint.store, []
        for batch in range(last + 1):
            found = unpacked(store.read(self._part(batch)))
            if found is None:
                raise missing_batch(store, "results", batch)
            parts.append(found[1][_RESULTS])
        every = parts if self.job.key or not parts else [in_order_in_process(self.job, pa.concat_tables(parts))]
        for delta in (delta for rows in every for delta in deltas_of(rows, self.job)):
            write_results(file, self.job, delta, self.run.settings.multiplicity)
