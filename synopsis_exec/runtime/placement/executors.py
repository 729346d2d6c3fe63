"""Rows that are read and decoded where they are, by functions under `mapInArrow`.

What such a function finds travels as bytes: Arrow tables and what JSON can hold (`checkpoint.state`). So Spark moves
few rows, whatever their columns are: for each piece that was decoded what the driver has to know, and its good rows,
for each bucket apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import numpy as np

from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.pending import combined
from streambound_runtime.placement.clipping import Ends, clipped
from streambound_runtime.placement.computing_there import ComputedThere, Errors, union
from streambound_runtime.placement.keeper import Run
from streambound_runtime.placement.pieces import Piece, heard, piece_of, told
from streambound_runtime.reading.batch import Batch
from streambound_runtime.reading.computing import errors, is_of_spark
from streambound_runtime.reading.files import AT_ONCE, LocalFiles, Raw
from streambound_runtime.reading.sources import by_path, failing
from streambound_runtime.spec import ROW, Job, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    Batches = Iterator[pa.RecordBatch]
    Mapped = Callable[[Batches], Batches]

T = TypeVar("T")
FOUND = "stream INT, place BIGINT, bucket INT, data BINARY"
"""What decoding gives: ``place`` is the piece's among those of its task; what has no bucket is for the driver."""
MOST_TASKS = 200
"""In which the files of a batch are read."""


def decoded_there(run: Run, arrived: Batch, late_before: int | None, raised: Errors | None = None) -> DataFrame:
    """A batch's rows, read and decoded by executors, as `FOUND` says."""
    made = lambda number: _decoding(run.job, number, run.ends[number])  # noqa: E731
    return over_rows(run, arrived, FOUND, made, late_before, raised)


def over_rows(
    run: Run,
    arrived: Batch,
    schema: str,
    made: Callable[[int], Callable[[Iterator[Piece]], Batches]],
    late_before: int | None = None,
    raised: Errors | None = None,
) -> DataFrame:
    """What functions of decoded rows, one for each stream by its number, find in a batch, where its rows are.

    Where expressions have ``raised`` errors on it, their rows are rejected.
    """
    parts = [run.spark.createDataFrame([], schema)]
    for number, stream in enumerate(run.job.streams):
        function = made(number)
        if stream.derived:
            there = ComputedThere(stream, number, raised)
            for rows in _begun(run, arrived, there, late_before):
                parts.append(there.computed(rows).mapInArrow(_of_tables(there.pieces, function), schema))
        else:
            decode = _decoded(stream, number, bool(run.settings.input), late_before)
            parts += _where_they_are(run, arrived, number, _in_turn(decode, function), schema)
    return union(parts)


def carefully(run: Run, arrived: Batch, late_before: int | None, attempt: Callable[[Errors | None], T]) -> T:
    """What is made of a batch's rows; made again where expressions raise errors, which the second attempt is told."""
    try:
        return attempt(None)
    except Exception as error:
        streams = [(number, stream) for number, stream in enumerate(run.job.streams) if stream.derived]
        raised = {}
        for number, stream in streams if is_of_spark(error) else ():
            there = ComputedThere(stream, number, None)
            begun = _begun(run, arrived, there, late_before)
            raised[stream.name] = {k: said for rows in begun for k, said in errors(rows, there.derivation).items()}
        if not any(raised.values()):
            raise
    return attempt(raised)


def _begun(run: Run, arrived: Batch, there: ComputedThere, late_before: int | None) -> list[DataFrame]:
    """The rows of a stream before its derived columns are computed.

    Not in one union: Spark 4 fails where it pushes a subquery in a select list below one.
    """
    begin, schema = there.begun(bool(run.settings.input), late_before), there.schema()
    return [rows.alias(ROW) for rows in _where_they_are(run, arrived, there.number, begin, schema)]


def _where_they_are(
    run: Run, arrived: Batch, number: int, function: Callable[[Iterator[Raw]], Batches], schema: str
) -> Iterator[DataFrame]:
    """What a function of raw rows finds in those of a stream."""
    import pyarrow as pa

    stream = run.job.streams[number]
    files = run.files[stream.name]
    with failing(stream, run.job, run.settings):
        if not by_path(stream, run.settings):
            yield arrived.rows(number).mapInArrow(_of_rows(function), schema)
            return
        ours, theirs = files.apart(arrived.paths(number))
        if ours:
            listed = run.spark.createDataFrame(pa.table({"path": ours, "place": range(len(ours))}))
            apart = listed.repartitionByRange(min(len(ours), MOST_TASKS), "place").sortWithinPartitions("place")
            yield apart.mapInArrow(_of_files(function, files.local), schema)
        if theirs:
            yield files.by_spark(theirs).mapInArrow(_of_rows(function), schema)


def pieces_of(found: DataFrame) -> list[Piece]:
    """What the driver has to know of decoded rows."""
    rows = found.where("bucket IS NULL").select("data").toArrow()
    return [heard(data) for data in rows.column("data").to_pylist()]


def good_rows(blob: bytes) -> pa.Table:
    """Good rows that have travelled."""
    found = unpacked(blob)
    assert found is not None, "Spark hands on what it was given"
    return found[1]["good"]


def blob_of(rows: pa.Table) -> bytes:
    """Good rows to travel."""
    return packed({}, {"good": rows})


def record(rows: list[tuple[int, int, int | None, bytes]]) -> pa.RecordBatch:
    """Some rows of `FOUND`."""
    import pyarrow as pa

    stream, place, bucket, data = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(stream, pa.int32()), pa.array(place, pa.int64()), pa.array(bucket, pa.int32()), pa.array(data)],
        names=["stream", "place", "bucket", "data"],
    )


def _decoded(
    stream: Stream, number: int, lines: bool, late_before: int | None
) -> Callable[[Iterator[Raw]], Iterator[Piece]]:
    def decode(raws: Iterator[Raw]) -> Iterator[Piece]:
        decoder = Decoder(stream, lines=lines)
        return (piece_of(stream, number, decoder.decode(raw.rows, late_before, raw.whole), raw) for raw in raws)

    return decode


def _decoding(job: Job, number: int, ends: dict[str, Ends]) -> Callable[[Iterator[Piece]], Batches]:
    stream = job.streams[number]

    def apart(pieces: Iterator[Piece]) -> Batches:
        for place, piece in enumerate(pieces):
            found: list[tuple[int, int, int | None, bytes]] = [(number, place, None, told(piece, stream.counted))]
            if piece.good is not None:
                good = combined(clipped(piece.good, stream, ends))
                found += [(number, place, bucket, blob_of(rows)) for bucket, rows in in_buckets(job, number, good)]
            yield record(found)

    return apart


def in_buckets(job: Job, number: int, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Open rows of a stream, apart by the bucket of their key; all in one where the plan has none."""
    import pyarrow as pa

    if not job.plan.buckets:
        if rows.num_rows:
            yield 0, rows
        return
    place = 1 + job.streams[number].needs.index(job.plan.key[number])
    bucket = hashed(rows.column(place).combine_chunks()) % job.plan.buckets
    for found in np.unique(bucket).tolist():
        yield found, rows.filter(pa.array(bucket == found))


def hashed(values: pa.Array) -> Any:
    """A number below 2**32 for each value, the same for equal ones on every machine."""
    import pyarrow as pa

    if pa.types.is_floating(values.type):  # -0.0 equals 0.0
        values = pa.array(values.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0)
    distinct = values.dictionary_encode()
    texts = [str(value).encode() for value in distinct.dictionary.to_pylist()] or [b""]
    numbers = np.array([crc32(text) for text in texts], dtype=np.int64)
    return numbers[distinct.indices.fill_null(0).to_numpy(zero_copy_only=False)]


def _in_turn(
    first: Callable[[Iterator[Raw]], Iterator[Piece]], second: Callable[[Iterator[Piece]], Batches]
) -> Callable[[Iterator[Raw]], Batches]:
    return lambda raws: second(first(raws))


def _of_tables(
    first: Callable[[Iterator[pa.Table]], Iterator[Piece]], second: Callable[[Iterator[Piece]], Batches]
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
        paths = (path for batch in batches for path in batch.column("path").to_pylist())
        return function(raw for path in paths for raw in files.opened(path) or ())

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
