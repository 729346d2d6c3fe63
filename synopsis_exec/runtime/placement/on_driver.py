"""The driver keeps the open rows and the synopsis.

On a cluster executors decode rows, and combine those that it need not tell apart.
What operators compute of rows is one query a tick.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TextIO

from streambound_runtime.checkpoint.store import missing_batch
from streambound_runtime.engine.loop import Engine
from streambound_runtime.expressions import of_any_row
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.operators.delta import Delta, times_of
from streambound_runtime.operators.ended_ranges import EndedPattern
from streambound_runtime.operators.formula import Relations
from streambound_runtime.operators.pending import Pending
from streambound_runtime.placement.decoded_chunk import DecodedChunk, decoded_on_driver, unpacked_facts
from streambound_runtime.placement.executors import decoded_on_executors, good_rows, with_errors
from streambound_runtime.placement.result_rows import (
    FACTS,
    TIME,
    WEIGHT,
    batch_of,
    columns_of,
    computed,
    computing,
    deltas_of,
)
from streambound_runtime.placement.results_in_process import made_in_process, upserts_in_process
from streambound_runtime.placement.state_owner import Closed, RunContext, too_many
from streambound_runtime.reading.batch import Batch
from streambound_runtime.results import write_punctuations, write_results
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


class OnDriver:
    """Closes timestamps on the driver; the results of a batch are a file of lines."""

    def __init__(self, run: RunContext) -> None:
        self.run, self.job, self.here = run, run.job, run.here

    def restart(self, batch: int | None, tables: dict[str, pa.Table]) -> None:
        """Take over the state after a batch; a fresh one for None."""
        self.operator = operator_of(self.job, self.run.relations, self.run.spark)
        limit = self.run.settings.limit
        self.limit = self.operator.limit if limit is None else limit
        if batch is not None:
            self.operator.load(of_kind(tables, "table"))
        self.open = Pending(self.job.streams, of_kind(tables, "pending"))
        self.size = 0
        self.forget()

    def decoded(self, arrived: Batch, late_before: int | None) -> list[DecodedChunk]:
        """A batch's rows, with the good ones."""
        run = self.run
        if self.here:
            return [*decoded_on_driver(arrived, run.job, run.settings, run.decoders, late_before)]
        decode = lambda raised: decoded_on_executors(run, arrived, late_before, raised).toArrow()  # noqa: E731
        found = with_errors(run, arrived, late_before, decode)
        chunks = []
        for row in found.select(["stream", "bucket", "data"]).to_pylist():
            if row["bucket"] is None:
                chunks.append(unpacked_facts(row["data"]))
            else:
                self.add(row["stream"], [good_rows(row["data"])])
        return chunks

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """Keep good rows."""
        self.arrived[stream] += rows

    def release(self) -> None:
        """Let go of the operator, and with it of the database that it may have."""
        del self.operator

    def forget(self) -> None:
        """Forget the batch's rows."""
        self.arrived: dict[int, list[pa.Table]] = defaultdict(list)

    def add_arrived(self) -> None:
        """Add the batch's rows to the open ones."""
        for stream, rows in self.arrived.items():
            self.open.add(self.job.streams[stream].name, rows)
        self.forget()

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Close the timestamps before one, and write their results."""
        taken = sum(table.nbytes for tables in self.arrived.values() for table in tables)
        self.add_arrived()
        results, closed, highest = 0, 0, self.operator.entries()
        refused, changes, ended = list[RejectedRow](), list["pa.RecordBatch"](), list[EndedPattern]()
        with self.run.checkpoint.store.lines(self._part(batch)) as file:
            write = partial(self._write, changes if self.job.key else file)
            if deltas := {} if until is None else self.open.closed(until):
                results = write(self.operator.step(deltas))
                closed = len(times_of(deltas.values()))
                highest = max(highest, self.operator.peak)
                refused, ended = self.operator.rejected, self.operator.passed
                if self.limit is not None and self.operator.peak > self.limit:
                    raise too_many(self.limit, *self.operator.history, self.operator.beyond())
            results += write(self.operator.step({}, until, last))
            highest = max(highest, self.operator.peak)
            if changes:
                results = self._write_upserts(file, changes)
            told = write_punctuations(file, self.job, ended, None if last else until)
        since = self.operator.open_since()
        waiting = self.open.rows()
        return Closed(results, closed, self.operator.entries(), highest, tuple(refused), since, told, taken, waiting)

    def _write(self, to: TextIO | list[pa.RecordBatch], found: Delta) -> int:
        """Write results; returns how many lines. Those that become upserts are only taken down."""
        if not isinstance(to, list):
            return write_results(to, self.job, found, self.run.settings.multiplicity)
        to.append(batch_of(self.job, found))
        return 0

    def _write_upserts(self, file: TextIO, changes: Sequence[pa.RecordBatch]) -> int:
        import pyarrow as pa

        rows = upserts_in_process(self.job, pa.Table.from_batches(changes).drop_columns([FACTS]))
        return sum(write_results(file, self.job, delta, "count") for delta in deltas_of(rows, self.job))

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of a batch to the sink."""
        sinks = self.run.sinks
        sinks.results(lambda: sinks.lines(self.run.checkpoint.store.where(self._part(batch))), batch, results)

    def dump(self) -> dict[str, pa.Table]:
        """The tables and the open rows."""
        kept = self.operator.dump()
        self.size = sum(table.nbytes for table in kept.values())
        return state_of(kept, self.open)

    def pending(self) -> int:
        """How many timestamps have rows and are open."""
        return self.open.timestamps()

    def bytes(self) -> int:
        """How many bytes the entries take."""
        return self.size

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches, one after the other."""
        store = self.run.checkpoint.store
        for batch in range(last + 1):
            if not store.copy_lines(self._part(batch), file):
                raise missing_batch(store, "results", batch)

    def _part(self, batch: int) -> str:
        """The file of a batch's results: in the place of the one two before, if no one wants it."""
        return f"results/{batch:09d}.jsonl" if self.run.settings.output else f"results/{batch % 2}.jsonl"


def operator_of(job: JobSpec, relations: Relations, spark: SparkSession | None = None) -> Engine:
    """The engine of a job's plan; without a session DuckDB computes Spark's expressions."""
    return Engine(job.plan, relations, partial(rows_computed, job, spark), job.streams)


def state_of(kept: dict[str, pa.Table], open_rows: Pending) -> dict[str, pa.Table]:
    """An operator's dumped tables and the open rows, as one state."""
    tables = {f"table {name}": table for name, table in kept.items()}
    return tables | {f"pending {name}": table for name, table in open_rows.tables.items()}


def of_kind(tables: dict[str, pa.Table], kind: str) -> dict[str, pa.Table]:
    """The tables of a state that are of a kind, "table" or "pending", by their names."""
    return {name.removeprefix(f"{kind} "): table for name, table in tables.items() if name.startswith(f"{kind} ")}


def rows_computed(job: JobSpec, spark: SparkSession | None, node: MapNode, rows: pa.Table) -> pa.Table:
    """The rows of a node of the engine, by DuckDB, or else by Spark; raises JobError where an expression raises one."""
    texts = (*node.engine, *([node.engine_where] if node.where else []))
    if spark is not None and not of_any_row(texts or [""]):
        return _computed_by_spark(spark, replace(job, columns=columns_of(node.columns)), node, rows)
    return made_in_process(node, rows)


def _computed_by_spark(spark: SparkSession, job: JobSpec, node: MapNode, rows: pa.Table) -> pa.Table:
    frame = spark.createDataFrame(rows.rename_columns([TIME, *rows.column_names[1:-1], WEIGHT]))
    with computing(frame, job, node):
        found = computed(frame, job, node).toArrow()
    return found.rename_columns(["t", *(f"c{place}" for place in range(len(node.columns))), "w"])
