"""A plan that remembers nothing, without Spark: rows are results as they arrive, and no timestamp is waited for."""

from __future__ import annotations

from dataclasses import replace
from typing import TextIO

import numpy as np

from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.checkpoint.store import missing_batch
from streambound_runtime.placement.decoded_chunk import DecodedChunk, decoded_on_driver
from streambound_runtime.placement.on_driver import OnDriver
from streambound_runtime.placement.result_rows import batch_of, deltas_of, empty_results, of_plan
from streambound_runtime.placement.results_in_process import in_order_in_process, results_in_process
from streambound_runtime.placement.state_owner import AT_ONCE, Closed
from streambound_runtime.reading.batch import Batch
from streambound_runtime.results import write_results

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
        self.add_arrived()
        plan = of_plan(self.job)
        made = map(self.operator.step, self.open.closed(None, AT_ONCE[self.job.plan.kernel]))
        batches = [batch_of(plan, delta) for delta in (empty_results(plan), *made)]
        results = results_in_process(self.job, batches)
        self.run.checkpoint.store.write(self._part(batch), packed({}, {_RESULTS: results}))
        return Closed(results.num_rows)

    def pending(self) -> int:
        """No timestamp is waited for."""
        return 0

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches in order of time and of their values."""
        import pyarrow as pa

        store, parts = self.run.checkpoint.store, []
        for batch in range(last + 1):
            found = unpacked(store.read(self._part(batch)))
            if found is None:
                raise missing_batch(store, "results", batch)
            parts.append(found[1][_RESULTS])
        if parts:
            for delta in deltas_of(in_order_in_process(self.job, pa.concat_tables(parts)), self.job):
                write_results(file, self.job, delta, self.run.settings.multiplicity)
