"""Part of every job: large batches stay on the executors, and the driver folds them a slice of time after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from streambound.synopsis_exec.job.arrivals import Arrived
from streambound.synopsis_exec.job.arrow import COUNT, no_rows, together
from streambound.synopsis_exec.job.contracts import Spread
from streambound.synopsis_exec.job.cuts import chosen, quantiles
from streambound.synopsis_exec.job.folding import SLICE, Job, part
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.grouping import LEAST, MOST_OF_A_FEW, SAMPLE, once, worth_it
from streambound.synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COMPRESSED = 4
"""Bytes of a row of compressed columns, at least: Spark's estimate is of files, in proportion to the columns read."""


class Left(NamedTuple):
    """The good rows of a batch, left on the executors, and how many they are.

    ``parts`` are the timestamps between parts of them of about the same size; ``more`` are rows that the driver has.
    """

    rows: DataFrame
    number: int
    parts: list[int]
    more: Any

    def fetched(self) -> Any:
        """All of the rows, on the driver."""
        return together([self.rows.toArrow(), self.more])

    def closing(self, complete: int) -> tuple[int, list[int]]:
        """About how many of the rows are before a timestamp, and those of ``parts`` that are."""
        parts = [int(time) for time in self.parts if time < complete]
        return self.number * len(parts) // max(1, len(self.parts)), parts


class LargeJob(Job):
    """A job that fetches small batches whole, and of large ones a slice of time after the other."""

    seen: tuple[int, int | None] | None = None
    """How many useful rows the last batch had, and how many bytes it was by Spark's estimate."""
    held: tuple[DataFrame, ...] = ()
    """What of the batch is kept on the executors."""

    def fold(self, arrived: Arrived, batch: int) -> None:
        """As `Job`, with what is kept of the batch given up at its end."""
        try:
            super().fold(arrived, batch)
        finally:
            for kept in self.held:
                kept.unpersist()
            self.held = ()

    # --- small or large -------------------------------------------------------------------------------------------

    def take_in(self, arrived: Arrived) -> tuple[Any, list[dict[str, Any]]]:
        """As `Job`; but a batch that may be large is computed where it is, and counted, before it is fetched."""
        size = arrived.bytes
        if not self.may_be_large(size):
            good, bad = super().take_in(arrived)
            self.seen = good.num_rows, size
            return good, bad
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        fine, observation = f"NOT {self.wrong()} AND useful", Observation()
        more = F.expr(f"count(CASE WHEN {fine} THEN 1 END)").alias("number"), F.expr(quantiles(fine)).alias("parts")
        kept = self.kept(arrived.told, observation, *more).persist()
        self.held = (kept,)
        rejected = kept.where("bad").toArrow().to_pylist()
        observed = observation.get
        rows = kept.where("NOT bad").drop("part", "reason", "bad", "text", "file", "place")
        left = self.counted(Left(rows, observed["number"], list(observed["parts"] or ()), no_rows()))
        self.seen = left.number, size
        return self.if_large(left), self.noted(rejected, observed)

    def counted(self, left: Left) -> Left:
        """The same rows, those that are the same as one where they are many and then much fewer."""
        if COUNT not in left.rows.columns:
            sample = left.rows.limit(SAMPLE)
            if left.number <= self.options.driver_rows or not worth_it(sample.toArrow(), left.number):
                return left
            rows = once(left.rows).persist()
            self.held = (*self.held, rows)
            left = left._replace(rows=rows)
        number = left.rows.count()
        self.grouping = left.number >= LEAST and number <= MOST_OF_A_FEW * left.number
        return left._replace(number=number)

    def fits(self, arrived: Arrived) -> bool:
        """As `Job`: one that may be large has to be counted first."""
        return not self.may_be_large(arrived.bytes)

    def may_be_large(self, size: int | None) -> bool:
        """Whether a batch must be counted before it is fetched: by its bytes, and the rows and bytes of the last one.

        Where nothing is known, a row is some bytes at least.
        """
        if not self.options.driver_rows:
            return True
        if self.seen is None:
            least = min(least_bytes(source, bool(self.options.input)) for source in STREAMS)
            return size is None or size > least * self.options.driver_rows
        number, before = self.seen
        share = size / before if size and before else 1
        return bool(number * share > self.options.driver_rows)

    def if_large(self, left: Left) -> Any:
        """The rows where they are, or fetched where they are few."""
        return left if left.number > self.options.driver_rows else left.fetched()

    def within_rates(
        self, arrived: Arrived, good: Any, closed: int | None, complete: int | None
    ) -> tuple[Any, list[dict[str, Any]]]:
        """As `Job`."""
        if not isinstance(good, Left):
            return super().within_rates(arrived, good, closed, complete)
        spread, bad = self.rates.checked(arrived, Spread(good.rows, no_rows()), closed, complete)
        return good._replace(rows=spread.rows, more=spread.kept), bad

    # --- slices ---------------------------------------------------------------------------------------------------

    def close_batch(self, batch: int, good: Any, complete: int | None) -> None:
        """As `Job`; of rows that are on the executors the driver has no more than a slice at a time."""
        if not isinstance(good, Left) or complete is None:
            super().close_batch(batch, good.fetched() if isinstance(good, Left) else good, complete)
            return
        number, parts = good.closing(complete)
        self.pending = together([self.pending, good.more])
        with self.files.written(part("results", batch)) as file:
            after = "TRUE"
            for until in [*chosen(parts, -(-number // SLICE), None), complete]:
                self.fetch(good.rows.where(f"{after} AND ts < {until}"))
                self.close(file, until)
                after = f"ts >= {until}"
        self.fetch(good.rows.where(after))

    def fetch(self, rows: DataFrame) -> None:
        """Fetch rows whose timestamps are open."""
        self.pending = together([self.pending, rows.toArrow()])


def least_bytes(source: Source, lines: bool) -> int:
    """How many bytes a row is at least by Spark's estimate: a line of JSON, or a row of compressed columns."""
    if lines or source.payload or source.format in ("json", "text"):
        return 1 + sum(len(column) + len('"":0,') for column in source.missing)
    return COMPRESSED
