"""A key spans all streams: rows that agree in it meet in one of some buckets, and each has a state by itself.

The executor that has a bucket loads its state from the checkpoint, folds the batch's rows into it and saves it, so that
state may outgrow the driver, which keeps only what has been promised, and counts. Spark may try a bucket several times,
also at once. Each attempt saves a file of its own, and the driver's state names the one whose results Spark takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast
from uuid import uuid4

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.checkpoint.store import LocalStore, write_atomically
from streambound_runtime.engine.loop import Engine
from streambound_runtime.errors import usage
from streambound_runtime.frontier.intervals import END
from streambound_runtime.operators.delta import times_of
from streambound_runtime.operators.entries import State
from streambound_runtime.operators.formula import Relations, value
from streambound_runtime.operators.pending import Pending
from streambound_runtime.placement.decoded_chunk import DecodedChunk
from streambound_runtime.placement.executors import (
    FOUND,
    blob_of,
    decoded_on_executors,
    facts_found,
    good_rows,
    in_buckets,
    record,
)
from streambound_runtime.placement.on_driver import of_kind, operator_of, state_of
from streambound_runtime.placement.on_executors import OnExecutors
from streambound_runtime.placement.result_rows import (
    TIME,
    batch_of,
    facts,
    facts_of,
    results_of,
    schema_of,
)
from streambound_runtime.placement.state_owner import Closed, RunContext, too_many
from streambound_runtime.reading.batch import Batch
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class _BucketFacts(TypedDict, total=False):
    """The outcome of a batch in a bucket, as JSON.

    ``peak`` is the most entries between two timestamps of the batch, ``file`` the one with the state after it; the
    batch's rows took ``taken`` bytes, and so many ``waiting`` ones stay. ``damaged`` is its state where that cannot be
    read, ``overflow`` what is beyond its type.
    """

    bucket: int
    file: str
    entries: int
    peak: int
    bytes: int
    taken: int
    waiting: int
    damaged: str
    overflow: str


@dataclass(frozen=True, slots=True)
class Folding:
    """How buckets are folded: from their states in ``files`` (None: from nothing); timestamps before ``until`` close.

    ``folder`` has the states, a directory for each bucket; nothing is kept of the ``last`` batch.
    """

    job: JobSpec
    relations: Relations
    folder: str
    files: tuple[str, ...] | None
    batch: int
    until: int | None
    last: bool


class InBuckets(OnExecutors):
    """Closes timestamps on executors; the results of a batch are Spark's rows."""

    def __init__(self, run: RunContext) -> None:
        store = run.checkpoint.store
        if not isinstance(store, LocalStore):
            what = f"a plan in buckets keeps its state where executors open it as a path, and not at {store.path}"
            raise usage(f"{what}: give --checkpoint a directory that all machines share, or compile the query with "
                        "--placement driver")  # fmt: skip
        super().__init__(run)
        self.folder = str(store.folder / "buckets")
        limit = run.settings.limit
        self.limit = value(run.job.plan.bound, run.relations) if limit is None else limit

    def restart(self, batch: int | None, tables: dict[str, pa.Table]) -> None:
        """Go on after a batch, whose state the buckets have."""
        self.files = None if batch is None else tuple(tables["files"].column("file").to_pylist())
        self.forget()
        saved = tables["entries"].to_pylist()[0] if tables else {"n": 0}
        self.entries: int = saved["n"]
        self.newest: int | None = saved.get("newest")
        self.size = self.waiting = 0

    def decoded(self, arrived: Batch, late_before: int | None) -> list[DecodedChunk]:
        """A batch's rows; the good ones stay where they are."""
        rows = lambda raised: decoded_on_executors(self.run, arrived, late_before, raised)  # noqa: E731
        chunks = self.taken(arrived, late_before, rows, facts_found)
        times = [time for chunk in chunks for time in chunk.largest.values()]
        self.newest = max((time for time in (self.newest, *times) if time is not None), default=None)
        return chunks

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """Send good rows to their buckets."""
        for table in rows:
            self.here += [
                (stream, len(self.here), bucket, blob_of(part)) for bucket, part in in_buckets(self.job, stream, table)
            ]

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Fold every bucket: take in its rows, close timestamps, and keep its state."""
        run, plan = self.run, self.plan
        schema = schema_of(plan)
        if until == END and self.newest is not None:  # as far in all buckets, so that their entries add up
            until = self.newest + 1
        folding = Folding(plan, run.relations, self.folder, self.files, batch, until, last)
        buckets = self.job.placement.buckets
        every = run.session.range(buckets).selectExpr(
            "0 AS stream", "-1L AS place", "CAST(id AS INT) AS bucket", "CAST(NULL AS BINARY) AS data"
        )
        rows = every if self.found is None else every.union(self.found.where("bucket IS NOT NULL"))
        if self.here:
            rows = rows.union(_rows_of(run, self.here))
        tasks = min(buckets, int(run.session.conf.get("spark.sql.shuffle.partitions") or buckets))
        by_bucket = rows.repartition(tasks, "bucket").sortWithinPartitions("bucket", "stream", "place")
        folded = by_bucket.mapInArrow(_folded(folding), schema).persist()
        found = [unpacked(data) for data in facts_of(folded)]
        self.forget()
        states = [(cast("_BucketFacts", state[0]), state[1]) for state in found if state is not None]
        for one, _ in states:
            if one.get("damaged"):
                raise run.checkpoint.damaged(one["damaged"])
            if one.get("overflow"):
                raise OverflowError(one["overflow"])
        assert len(states) == buckets, "every bucket says what it has"
        closed = np.unique(np.concatenate([tables["closed"].column(0).to_numpy() for _, tables in states]))
        results = self.keep(batch, results_of(self._at_end_of_tick(folded, closed), plan), folded)
        return self._counted(states, results, len(closed), until, last)

    def _at_end_of_tick(self, results: DataFrame, closed: Integers) -> DataFrame:
        """Results without times of their own, with the last timestamp of the batch's tick, wherever its row was."""
        from pyspark.sql import functions as F

        plan = self.job.plan
        if plan.timestamps or plan.by_timestamp or not len(closed):
            return results
        return results.withColumn(TIME, F.lit(int(closed[-1])).cast("bigint"))

    def _counted(
        self,
        states: list[tuple[_BucketFacts, dict[str, pa.Table]]],
        results: int,
        closed: int,
        until: int | None,
        last: bool,
    ) -> Closed:
        """The outcome of all buckets, after closing the same timestamps: entries are added up only then.

        Between the timestamps of a batch there were at least as many as any one bucket had.
        """
        entries = sum(one["entries"] for one, _ in states)
        waiting = np.unique(np.concatenate([tables["open"].column(0).to_numpy() for _, tables in states]))
        peak = max(self.entries, entries, *(one["peak"] for one, _ in states))
        if self.limit is not None and peak > self.limit:
            raise too_many(self.limit, [0 if until is None else until - 1], [peak])
        if not last:
            self.files = tuple(one["file"] for one in sorted((one for one, _ in states), key=itemgetter("bucket")))
            self.entries, self.size = entries, sum(one["bytes"] for one, _ in states)
            self.waiting = len(waiting)
        taken, waiting_rows = (sum(one[what] for one, _ in states) for what in ("taken", "waiting"))
        return Closed(results, closed, entries, peak, taken=taken, waiting=waiting_rows)

    def forget(self) -> None:
        """Forget the batch's rows."""
        super().forget()
        self.here: list[tuple[int, int, int | None, bytes]] = []

    def dump(self) -> dict[str, pa.Table]:
        """How many entries there are, the latest timestamp, and the files with the buckets' states."""
        import pyarrow as pa

        entries = pa.table({"n": [self.entries], "newest": pa.array([self.newest], pa.int64())})
        return {"entries": entries, "files": pa.table({"file": pa.array(self.files, pa.string())})}

    def pending(self) -> int:
        """How many timestamps have rows and are open."""
        return self.waiting

    def bytes(self) -> int:
        """How many bytes the entries take."""
        return self.size


def _rows_of(run: RunContext, rows: list[tuple[int, int, int | None, bytes]]) -> DataFrame:
    import pyarrow as pa

    return run.session.createDataFrame(pa.Table.from_batches([record(rows)]), schema=FOUND)


def _folded(folding: Folding) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        operator = operator_of(
            folding.job, folding.relations
        )  # one for all, as making it costs more than a small bucket
        empty = operator.dump()
        for bucket, mine in groupby(rows, lambda row: row["bucket"]):
            data = [(row["stream"], row["data"]) for row in mine if row["data"]]
            try:
                yield from _bucket(folding, operator, empty, int(bucket), data)
            except OverflowError as error:  # as itself it would not leave Spark
                yield facts(folding.job, packed({"overflow": str(error)}, {}))

    return fold


def _bucket(
    folding: Folding, operator: Engine, empty: State, bucket: int, rows: list[tuple[int, bytes]]
) -> Iterator[pa.RecordBatch]:
    """Fold one bucket, from its state or an ``empty`` one; its results, and what the driver has to know."""
    import pyarrow as pa

    job, folder = folding.job, Path(folding.folder) / f"{bucket:04d}"
    file = None if folding.files is None else folder / folding.files[bucket]
    tables = {} if file is None else _state(file)
    if tables is None:
        yield facts(job, packed({"damaged": f"buckets/{bucket:04d}/{(folding.files or ())[bucket]}"}, {}))
        return
    operator.load(of_kind(tables, "table") if tables else empty)
    waiting = Pending(job.streams, of_kind(tables, "pending"))
    for stream, data in rows:
        waiting.add(job.streams[stream].name, [good_rows(data)])
    deltas = {} if folding.until is None else waiting.closed(folding.until)
    peak = operator.entries()
    for given, until, last in ((deltas, None, False), ({}, folding.until, folding.last)):
        found = operator.step(given, until, last)
        peak = max(peak, operator.peak)
        if found.size:
            yield batch_of(job, found)
    kept = operator.dump()
    saved = f"{folding.batch}.{uuid4().hex}"
    if not folding.last:
        write_atomically(folder / saved, packed({}, state_of(kept, waiting)))
        _forget_before(folder, folding.batch - 2)
    found_of = {
        "closed": pa.table({"time": times_of(deltas.values())}),
        "open": pa.table({"time": waiting.open()}),
    }
    counts = {"entries": operator.entries(), "peak": peak, "bytes": sum(table.nbytes for table in kept.values())}
    counts |= {"taken": sum(len(data) for _, data in rows), "waiting": waiting.rows()}
    yield facts(job, packed({"bucket": bucket, "file": saved, **counts}, found_of))


def _state(file: Path) -> dict[str, pa.Table] | None:
    """The tables of a bucket's state; None where they are not whole."""
    state = unpacked(file.read_bytes()) if file.is_file() else None
    return None if state is None else state[1]


def _forget_before(folder: Path, batch: int) -> None:
    """Remove a bucket's states after the batches before one: Spark gives none again that needs them."""
    for file in folder.iterdir():
        number = file.name.partition(".")[0]
        if number.isdecimal() and int(number) < batch:
            file.unlink(missing_ok=True)
