"""What every placement does: it decodes a batch's rows, keeps the open ones and the state, and gives results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TextIO

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.operators.formula import Relations
from streambound_runtime.placement.decoded_chunk import DecodedChunk
from streambound_runtime.reading.batch import Batch
from streambound_runtime.reading.computing import decoder_of
from streambound_runtime.reading.files import Files
from streambound_runtime.reading.relation_views import Views
from streambound_runtime.session import is_local
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import Sinks, SinksHere
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RunContext:
    """The context of a job's run; ``relations`` has the encoded good rows of each, ``spark`` is None without Spark.

    ``views`` are those relations that subqueries ask, where DuckDB computes them.
    """

    spark: SparkSession | None
    job: JobSpec
    settings: Settings
    checkpoint: Checkpoint
    sinks: Sinks | SinksHere
    relations: Relations
    views: Views
    files: dict[str, Files] = field(init=False)
    decoders: dict[str, Decoder] = field(init=False)

    def __post_init__(self) -> None:
        streams, lines, most = self.job.streams, bool(self.settings.input), self.job.quarantine_limit.most
        found = {each.name: decoder_of(self.spark, each, lines, most, self.views) for each in streams}
        object.__setattr__(self, "files", {each.name: Files(self.spark, each, self.settings) for each in streams})
        object.__setattr__(self, "decoders", found)

    @property
    def session(self) -> SparkSession:
        """Spark, where a run has it."""
        assert self.spark is not None, "a run without Spark has placements of its own"
        return self.spark

    @property
    def here(self) -> bool:
        """Whether all runs on this machine."""
        return self.spark is None or is_local(self.spark)


@dataclass(frozen=True, slots=True)
class Closed:
    """The outcome of closing: numbers of results and timestamps, the entries now and the most there were.

    ``refused`` are bad rows of which that is only known when their timestamp closes: changes of relations that have no
    meaning, rows that come after the punctuation of their key, and those that conflict with others valid then. Of rows
    with periods ``open_since`` is the begin of the oldest result row that is not printed, as it has not ended. Beside
    the results so many punctuations are ``told``. The batch's rows took ``taken`` bytes; so many ``waiting`` rows stay.
    """

    results: int = 0
    timestamps: int = 0
    entries: int = 0
    peak: int = 0
    refused: tuple[RejectedRow, ...] = ()
    open_since: int | None = None
    told: int = 0
    taken: int = 0
    waiting: int = 0


class StateOwner(Protocol):
    """Keeps a plan's open rows and its state, where the placement says."""

    limit: int | None
    """The most entries between two timestamps; None where no number is known."""

    def restart(self, batch: int | None, tables: dict[str, pa.Table]) -> None:
        """Take over the state after a batch, of which these are the driver's tables; a fresh one for None."""
        ...

    def decoded(self, arrived: Batch, late_before: int | None) -> list[DecodedChunk]:
        """A batch's rows; good ones that are not on the driver are kept."""
        ...

    def add(self, stream: int, rows: Sequence[pa.Table]) -> None:
        """Keep good rows that are on the driver."""
        ...

    def forget(self) -> None:
        """Forget the batch's rows, before it is closed."""
        ...

    def release(self) -> None:
        """Let go of what runs the operators, after the last batch: Spark holds a query's function until it ends."""
        ...

    def close(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Close the timestamps before ``until`` (None: no timestamp) as one batch, and compute its results.

        The state after the ``last`` batch is not saved. Raises JobError for more entries than the bound allows.
        """
        ...

    def deliver(self, batch: int, results: int) -> None:
        """Give the results of the batch to the sink."""
        ...

    def dump(self) -> dict[str, pa.Table]:
        """The driver's tables after a batch."""
        ...

    def pending(self) -> int:
        """How many timestamps have rows and are open."""
        ...

    def bytes(self) -> int:
        """How many bytes the entries take."""
        ...

    def write_output(self, last: int, file: TextIO) -> None:
        """Write the results of all batches up to the last one, in order of time."""
        ...


def too_many(
    limit: int, times: Sequence[int] | Integers, sizes: Sequence[int] | Integers, states: Sequence[str] = ()
) -> JobError:
    """The error for more entries than the bound says, by how many there are from each timestamp on.

    ``states`` are those that have more than their part of it, in words.
    """
    first = int((np.asarray(sizes) > limit).argmax())
    where = f"{int(sizes[first])} entries at timestamp {int(times[first])}"
    which = "".join(f"; {state}" for state in states)
    return JobError("limit", f"the synopsis has {where}, more than its bound M = {limit}{which}", 1)
