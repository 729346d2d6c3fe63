"""Rows that are read and decoded where they are, by functions under `mapInArrow`.

What such a function finds travels as bytes: Arrow tables and what JSON can hold (`checkpoint.state`). So Spark moves
few rows, whatever their columns are: for each chunk that was decoded what the driver has to know, and its good rows,
for each bucket apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.errors import unreadable
from streambound_runtime.failures import failure_of
from streambound_runtime.operators.pending import combined
from streambound_runtime.placement.decoded_chunk import DecodedChunk, chunk_of, packed_facts
from streambound_runtime.placement.derived_on_executors import DerivedOnExecutors, Errors, MissingRowTextError, union
from streambound_runtime.placement.state_owner import RunContext
from streambound_runtime.reading.batch import Batch
from streambound_runtime.reading.computing import decoder_of, errors, is_of_spark, needs_no_spark
from streambound_runtime.reading.files import AT_ONCE, LocalFiles, Raw, shown
from streambound_runtime.reading.sources import by_path, failing
from streambound_runtime.spec import ROW, JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    Batches = Iterator[pa.RecordBatch]
    Mapped = Callable[[Batches], Batches]

T = TypeVar("T")
FOUND = "stream INT, place BIGINT, bucket INT, data BINARY"
"""What decoding gives: ``place`` is the chunk's among those of its task; what has no bucket is for the driver."""
MOST_TASKS = 200
"""In which the files of a batch are read."""


def decoded_on_executors(
    run: RunContext, arrived: Batch, late_before: int | None, raised: Errors | None = None
) -> DataFrame:
    """A batch's rows, read and decoded by executors, as `FOUND` says."""
    made = lambda number: _decoding(run.job, number)  # noqa: E731
    return over_rows(run, arrived, FOUND, made, late_before, raised)


def over_rows(
    run: RunContext,
    arrived: Batch,
    schema: str,
    made: Callable[[int], Callable[[Iterator[DecodedChunk]], Batches]],
    late_before: int | None = None,
    raised: Errors | None = None,
) -> DataFrame:
    """The results of functions of decoded rows, one for each stream by its number, run where a batch's rows are.

    Where expressions have ``raised`` errors on it, their rows are rejected.
    """
    parts = [run.session.createDataFrame([], schema)]
    for number, stream in enumerate(run.job.streams):
        function = made(number)
        if not needs_no_spark(stream):
            derived = DerivedOnExecutors(run.job, number, raised, bool(run.settings.input))
            for rows in _first_step(run, arrived, derived, late_before):
                parts.append(derived.computed(rows).mapInArrow(_of_tables(derived.second_step, function), schema))
        else:
            decode = _decoded(run.job, number, bool(run.settings.input), late_before)
            parts += _on_executors(run, arrived, number, _in_turn(decode, function), schema)
    return union(parts)


def with_errors(run: RunContext, arrived: Batch, late_before: int | None, attempt: Callable[[Errors | None], T]) -> T:
    """The result of an attempt on a batch's rows; where expressions reject some, of another one with their errors."""
    try:
        return attempt(None)
    except Exception as error:
        tables = enumerate(run.job.streams)
        streams = [(number, stream) for number, stream in tables if not needs_no_spark(stream)]
        raised = {}
        for number, stream in streams if is_of_spark(error) else ():
            derived = DerivedOnExecutors(run.job, number, None, bool(run.settings.input))
            first_step = _first_step(run, arrived, derived, late_before)
            raised[stream.name] = {
                k: message for rows in first_step for k, message in errors(rows, derived.derivation).items()
            }
        if not any(raised.values()) and MissingRowTextError.__name__ not in str(error):
            raise
    return attempt(raised)


def _first_step(
    run: RunContext, arrived: Batch, derived: DerivedOnExecutors, late_before: int | None
) -> list[DataFrame]:
    """The rows of a stream before its derived columns are computed.

    Not in one union: Spark 4 fails where it pushes a subquery in a select list below one.
    """
    begin, schema = derived.first_step(late_before), derived.schema()
    found = _on_executors(run, arrived, derived.number, begin, schema)
    return [rows.selectExpr(*derived.derivation.read(rows.columns)).alias(ROW) for rows in found]


def _on_executors(
    run: RunContext, arrived: Batch, number: int, function: Callable[[Iterator[Raw]], Batches], schema: str
) -> Iterator[DataFrame]:
    """The results of a function of raw rows on those of a stream."""
    import pyarrow as pa

    stream = run.job.streams[number]
    files = run.files[stream.name]
    with failing(stream, run.job, run.settings):
        if not by_path(stream, run.settings):
            yield arrived.rows(number).mapInArrow(_of_rows(function), schema)
            return
        ours, theirs = files.apart(arrived.paths(number))
        if ours:
            listed = run.session.createDataFrame(pa.table({"path": ours, "place": range(len(ours))}))
            apart = listed.repartitionByRange(min(len(ours), MOST_TASKS), "place").sortWithinPartitions("place")
            yield apart.mapInArrow(_of_files(function, files.local), schema)
        if theirs:
            yield files.by_spark(theirs).mapInArrow(_of_rows(function), schema)


def facts_found(rows: DataFrame) -> list[bytes]:
    """The facts about decoded rows that the driver needs (`decoded_chunk.packed_facts`)."""
    found: list[bytes] = rows.where("bucket IS NULL").select("data").toArrow().column("data").to_pylist()
    return found


def good_rows(blob: bytes) -> pa.Table:
    """The open rows that `blob_of` has made bytes of."""
    found = unpacked(blob)
    assert found is not None, "Spark hands on what it was given"
    return found[1]["good"]


def blob_of(rows: pa.Table) -> bytes:
    """Open rows as bytes: a column of Spark's can hold these, whatever the rows' own columns are."""
    return packed({}, {"good": rows})


def record(rows: list[tuple[int, int, int | None, bytes]]) -> pa.RecordBatch:
    """Tuples of the columns of `FOUND` as a batch of Arrow."""
    import pyarrow as pa

    stream, place, bucket, data = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(stream, pa.int32()), pa.array(place, pa.int64()), pa.array(bucket, pa.int32()), pa.array(data)],
        names=["stream", "place", "bucket", "data"],
    )


def _decoded(
    job: JobSpec, number: int, lines: bool, late_before: int | None
) -> Callable[[Iterator[Raw]], Iterator[DecodedChunk]]:
    stream, most = job.streams[number], job.quarantine_limit.most

    def decode(raws: Iterator[Raw]) -> Iterator[DecodedChunk]:
        decoder = decoder_of(None, stream, lines, most, {})
        return (chunk_of(stream, number, decoder.decode(raw.rows, late_before, raw.all_columns), raw) for raw in raws)

    return decode


def _decoding(job: JobSpec, number: int) -> Callable[[Iterator[DecodedChunk]], Batches]:
    stream = job.streams[number]

    def apart(chunks: Iterator[DecodedChunk]) -> Batches:
        for place, chunk in enumerate(chunks):
            found: list[tuple[int, int, int | None, bytes]] = [
                (number, place, None, packed_facts(chunk, stream.counted))
            ]
            if chunk.good is not None:
                good = combined(chunk.good)
                found += [(number, place, bucket, blob_of(rows)) for bucket, rows in in_buckets(job, number, good)]
            yield record(found)

    return apart


def in_buckets(job: JobSpec, number: int, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Open rows of a stream, apart by the bucket of their key; all in one where the plan has none."""
    import pyarrow as pa

    if not job.placement.buckets:
        if rows.num_rows:
            yield 0, rows
        return
    place = 1 + job.streams[number].needs.index(job.placement.key[number])
    bucket = hashed(rows.column(place).combine_chunks()) % job.placement.buckets
    for found in np.unique(bucket).tolist():
        yield found, rows.filter(pa.array(bucket == found))


def hashed(values: pa.Array) -> Integers:
    """A number below 2**32 for each value, the same for equal ones on every machine, and 0 for NULL."""
    import pyarrow as pa

    if pa.types.is_floating(values.type):  # -0.0 equals 0.0
        values = pa.array(values.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0)
    distinct = values.dictionary_encode()
    texts = [str(value).encode() for value in distinct.dictionary.to_pylist()] or [b""]
    numbers = np.array([crc32(text) for text in texts], dtype=np.int64)
    places: Integers = distinct.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return np.where(distinct.is_null().to_numpy(zero_copy_only=False), 0, numbers[places])


def _in_turn(
    first: Callable[[Iterator[Raw]], Iterator[DecodedChunk]], second: Callable[[Iterator[DecodedChunk]], Batches]
) -> Callable[[Iterator[Raw]], Batches]:
    return lambda raws: second(first(raws))


def _of_tables(
    first: Callable[[Iterator[pa.Table]], Iterator[DecodedChunk]], second: Callable[[Iterator[DecodedChunk]], Batches]
) -> Mapped:
    """Functions one after the other over rows that Spark has."""
    return lambda batches: second(first(_larger(batches)))


def _of_rows(function: Callable[[Iterator[Raw]], Batches]) -> Mapped:
    """A function of raw rows over raw rows that Spark has."""

    def over(batches: Batches) -> Batches:
        return function(Raw(table) for table in _larger(batches))

    return over


def _of_files(function: Callable[[Iterator[Raw]], Batches], files: LocalFiles) -> Mapped:
    """A function of raw rows over files, by their paths."""

    def over(batches: Batches) -> Batches:
        read = [""]

        def raws() -> Iterator[Raw]:
            for path in (path for batch in batches for path in batch.column("path").to_pylist()):
                read[0] = path
                yield from files.opened(path) or ()

        try:
            yield from function(raws())
        except Exception as error:
            raise unreadable(f"{shown(read[0])}: {failure_of(error)}") from error

    return over


def _larger(batches: Batches) -> Iterator[pa.Table]:
    """Spark's batches, which are small, as tables of about as many rows as are decoded at a time."""
    import pyarrow as pa

    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(each.num_rows for each in some) >= AT_ONCE:
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)
