"""What raw rows come to once they are decoded, on the driver or on executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.decoding.decoder import Decoded, Decoder, Ended
from streambound_runtime.pending import open_rows
from streambound_runtime.reading.batch import Batch
from streambound_runtime.reading.files import Raw
from streambound_runtime.reading.sources import failing
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Job, Stream

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a stream, by its number. ``rows`` were read, of one ``file`` unless ``rejected`` says otherwise.

    ``largest``, ``ended`` and ``rejected`` are those of `Decoded`. ``ts`` are the timestamps of the good rows, where
    these are counted, and ``good`` are the rows (`pending.open_rows`); None where they are elsewhere. ``late`` rows are
    good ones that came after their timestamp was closed, where nothing waits for that.
    """

    stream: int
    rows: int
    largest: dict[int, int]
    ended: frozenset[Ended]
    rejected: pa.Table
    file: str
    ts: Any
    good: pa.Table | None
    late: int = 0


def piece_of(stream: Stream, number: int, found: Decoded, raw: Raw) -> Piece:
    """What has been decoded of some raw rows."""
    ts, good = found.good.column(1).to_numpy(), open_rows(stream, found.good)
    return Piece(number, found.rows, found.largest, found.ended, found.rejected, raw.file, ts, good)


def decoded_here(
    arrived: Batch, job: Job, settings: Settings, decoders: dict[str, Decoder], late_before: int | None
) -> Iterator[Piece]:
    """A batch's rows, read and decoded on the driver."""
    for number, stream in enumerate(job.streams):
        with failing(stream, job, settings):
            for raw in arrived.raws(number):
                yield piece_of(stream, number, decoders[stream.name].decode(raw.rows, late_before, raw.whole), raw)


def told(piece: Piece, counted: bool, late: int = 0) -> bytes:
    """All of a piece but its good rows, as it travels to the driver; their timestamps only where they are counted."""
    import pyarrow as pa

    times, counts = np.unique(piece.ts[: None if counted else 0], return_counts=True)
    said = {
        "stream": piece.stream,
        "rows": piece.rows,
        "largest": [*piece.largest.items()],
        "ended": [*piece.ended],
        "file": piece.file,
        "late": late,
    }
    return packed(said, {"rejected": piece.rejected, "times": pa.table({"ts": times, "n": counts})})


def heard(data: bytes) -> Piece:
    """What `told` says."""
    found = unpacked(data)
    assert found is not None, "Spark hands on what it was given"
    said, tables = found
    ts = np.repeat(*(column.to_numpy() for column in tables["times"].columns))
    ended = frozenset(Ended(*values) for values in said["ended"])
    largest = {int(part): int(time) for part, time in said["largest"]}
    return Piece(said["stream"], said["rows"], largest, ended, tables["rejected"], said["file"], ts, None, said["late"])
