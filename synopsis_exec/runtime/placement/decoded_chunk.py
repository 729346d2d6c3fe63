"""What raw rows come to once they are decoded, on the driver or on executors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.decoding.decoder import Decoded, Decoder, Ended
from streambound_runtime.operators.pending import open_rows
from streambound_runtime.reading.batch import Batch
from streambound_runtime.reading.files import Raw
from streambound_runtime.reading.sources import failing
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Stream

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 2
"""Parts of a batch that are decoded at the same time, each in a thread: Arrow and numpy let others run meanwhile."""


@dataclass(frozen=True, slots=True)
class DecodedChunk:
    """Some rows of a stream, by its number. ``rows`` were read, of one ``file`` unless ``rejected`` says otherwise.

    ``largest``, ``ended``, ``rejected`` and ``beyond`` are those of `Decoded`. ``ts`` are the timestamps of the good
    rows, where these are counted, and ``good`` are the rows (`pending.open_rows`); None where they are elsewhere. Of
    these ``marks`` are no rows and not counted. ``late`` rows are good ones that came after their timestamp was closed,
    where nothing waits for that.
    """

    stream: int
    rows: int
    largest: dict[int, int]
    ended: frozenset[Ended]
    rejected: pa.Table
    beyond: pa.Table
    file: str
    ts: Integers
    good: pa.Table | None
    late: int = 0
    marks: Mask | None = None


def chunk_of(stream: Stream, number: int, found: Decoded, raw: Raw) -> DecodedChunk:
    """The decoding result of some raw rows."""
    ts, good = found.good.column(1).to_numpy()[~found.marks], open_rows(stream, found.good)
    facts = found.largest, found.ended, found.rejected, found.beyond
    return DecodedChunk(number, found.rows, *facts, raw.file, ts, good, marks=found.marks)


def decoded_on_driver(
    arrived: Batch, job: JobSpec, settings: Settings, decoders: dict[str, Decoder], late_before: int | None
) -> Iterator[DecodedChunk]:
    """A batch's rows, read and decoded on the driver."""
    for number, stream in enumerate(job.streams):
        with failing(stream, job, settings):
            for raw, found in _decoded(arrived.raws(number), decoders[stream.name], late_before):
                yield chunk_of(stream, number, found, raw)


def _decoded(raws: Iterable[Raw], decoder: Decoder, late_before: int | None) -> Iterator[tuple[Raw, Decoded]]:
    """Raw rows with what is in them, in order: the next ones are read and decoded meanwhile."""
    begun = deque[tuple[Raw, Future[Decoded]]]()
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for raw in raws:
            begun.append((raw, threads.submit(decoder.decode, raw.rows, late_before, raw.all_columns)))
            if len(begun) > _AT_ONCE:
                first, found = begun.popleft()
                yield first, found.result()
        for first, found in begun:
            yield first, found.result()


class _Facts(TypedDict):
    """A chunk's facts as JSON holds them."""

    stream: int
    rows: int
    largest: list[tuple[int, int]]
    ended: list[tuple[int, int | None, int]]
    file: str
    late: int


def packed_facts(chunk: DecodedChunk, counted: bool, late: int = 0) -> bytes:
    """All of a chunk but its good rows, as it travels to the driver; their timestamps only where they are counted."""
    import pyarrow as pa

    times, counts = np.unique(chunk.ts[: None if counted else 0], return_counts=True)
    head = {
        "stream": chunk.stream,
        "rows": chunk.rows,
        "largest": [*chunk.largest.items()],
        "ended": [*chunk.ended],
        "file": chunk.file,
        "late": late,
    }
    return packed(
        head, {"rejected": chunk.rejected, "beyond": chunk.beyond, "times": pa.table({"ts": times, "n": counts})}
    )


def unpacked_facts(data: bytes) -> DecodedChunk:
    """The chunk that `packed_facts` has made bytes of, without its good rows."""
    found = unpacked(data)
    assert found is not None, "Spark hands on what it was given"
    head, tables = cast("_Facts", found[0]), found[1]
    ts = np.repeat(*(column.to_numpy() for column in tables["times"].columns))
    ended = frozenset(Ended(*values) for values in head["ended"])
    largest = {int(part): int(time) for part, time in head["largest"]}
    bad = tables["rejected"], tables["beyond"]
    return DecodedChunk(head["stream"], head["rows"], largest, ended, *bad, head["file"], ts, None, head["late"])
