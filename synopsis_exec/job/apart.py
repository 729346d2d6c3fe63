"""Part of a job: large batches divided into parts that the executors fold, each without the rows of the others.

How a batch was divided is written down before anything else of it is, so that a second attempt writes the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from streambound.synopsis_exec.job.arrivals import Arrived
from streambound.synopsis_exec.job.arrow import COUNT, on_spark, together, with_counts
from streambound.synopsis_exec.job.folding import part
from streambound.synopsis_exec.job.given import SINK
from streambound.synopsis_exec.job.large import LargeJob, Left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Arrow = Iterator[Any]


class ApartJob(LargeJob):
    """A job that fetches small batches, and folds large ones on the executors."""

    FOLDER: ClassVar[str]
    """Where it is written how a batch was divided."""
    division: list[int] | None = None
    """How an attempt at the batch has divided it."""
    divided: int | None = None
    """The last batch that was divided, or may have been."""

    def restart(self, batch: int | None) -> None:
        """As `Job`; how the batch was divided is needed no more, if it was."""
        super().restart(batch)
        self.divided = batch

    def fold(self, arrived: Arrived, batch: int) -> None:
        """As `LargeJob`; a batch that is tried again is divided as before."""
        self.division = self.saved_division(batch)
        super().fold(arrived, batch)

    def saved_division(self, batch: int) -> list[int] | None:
        """How an attempt at the batch has divided it: a replay does the same, and writes the same files."""
        try:
            division: list[int] = json.loads(self.files.read(part(self.FOLDER, batch)) or "null")
        except ValueError:
            return None
        return division

    def may_be_large(self, size: int | None) -> bool:
        """As `LargeJob`; a batch that was divided is.

        Kafka's records are numbered in the order of the files, so that whether a batch is large must not depend on what
        came before.
        """
        return self.division is not None or (SINK is not None and SINK.format == "kafka") or super().may_be_large(size)

    def if_large(self, left: Left) -> Any:
        """As `LargeJob`; a batch that was divided stays where it is."""
        return left if self.division is not None and left.number else super().if_large(left)

    def close_batch(self, batch: int, good: Any, complete: int | None) -> None:
        """As `Job`; the parts are folded, and their results written, by the executors."""
        if self.divided is not None:
            self.files.remove(part(self.FOLDER, self.divided))
        division: list[int] = []
        if isinstance(good, Left) and complete is not None:
            division = self.divide(good, complete) if self.division is None else self.division
        self.divided = batch if division else None
        if not division:
            super().close_batch(batch, good, complete)
            return
        with self.files.written(part(self.FOLDER, batch)) as file:
            json.dump(division, file)
        waiting = together([self.pending, good.more])
        early = waiting.column("ts").to_numpy() < complete
        self.pending = together([waiting.filter(~early), good.rows.where(f"ts >= {complete}").toArrow()])
        closing = with_sent(good.rows.where(f"ts < {complete}"), waiting.filter(early))
        self.write_parts(batch, closing, division)

    def divide(self, left: Left, complete: int) -> list[int]:
        """How to divide what a batch closes; not at all where that is too little for more than one part."""
        closing, times = left.closing(complete)
        if closing <= self.options.driver_rows or not hasattr(left.rows, "repartitionById"):  # Spark 4.0 has no such
            return []
        processors = left.rows.sparkSession.sparkContext.defaultParallelism
        return self.division_of(closing, times, processors)

    def division_of(self, closing: int, times: list[int], processors: int) -> list[int]:
        """How to divide so many rows for so many processors; ``times`` are between parts of them of the same size."""
        raise NotImplementedError

    def write_parts(self, batch: int, closing: DataFrame, division: list[int]) -> None:
        """Fold the parts of some rows and write their results."""
        raise NotImplementedError


def with_sent(rows: DataFrame, table: Any) -> DataFrame:
    """Rows, and those that the driver has; all with how often each came where some have that."""
    from pyspark.sql import functions as F

    if COUNT in table.column_names and COUNT not in rows.columns:
        rows = rows.withColumn(COUNT, F.lit(1).cast("bigint"))
    table = with_counts(table) if COUNT in rows.columns else table
    return rows.unionByName(on_spark(rows.sparkSession, table))
