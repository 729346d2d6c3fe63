"""Part of every job: batches of near files are folded while Spark commits them and prepares the next one.

Between two batches Spark writes its logs, lists files and plans, which takes longer than to fold a batch that the
driver reads by itself. So Spark is told that such a batch is done when it has only been begun. Which files it has is
noted in the checkpoint before, so that a job that was killed in between makes it up from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from synopsis_exec.job.arrivals import Arrived, arriving
from synopsis_exec.job.given import STREAMS
from synopsis_exec.job.saved import BEGIN_ANEW, Checkpoint
from synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Ahead:
    """The one batch that Spark may have committed before the job has saved its state; in a thread of its own."""

    def __init__(self, spark: SparkSession, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        # A sink may ask for the active session, which belongs to a thread; to make a table sets it.
        self.thread = ThreadPoolExecutor(1, "fold", lambda: spark.createDataFrame([], "nothing INT"))
        self.begun: Future[None] | None = None

    def begin(self, fold: Callable[[Arrived, int], None], arrived: Arrived, batch: int) -> None:
        """Fold a batch of near files, after noting which; the one before it must be folded."""
        self.checkpoint.note(batch, arrived.near or [])
        self.begun = self.thread.submit(self._run, fold, arrived, batch)

    def _run(self, fold: Callable[[Arrived, int], None], arrived: Arrived, batch: int) -> None:
        fold(arrived, batch)
        self.checkpoint.forget()

    def failed(self) -> bool:
        """Whether something has stopped the batch that was begun last."""
        return self.begun is not None and self.begun.done() and self.begun.exception() is not None

    def wait(self) -> None:
        """Until the batch that was begun last is folded. Raises what has stopped that."""
        if self.begun is not None:
            self.begun.result()


def stays_near(arrived: Arrived) -> bool:
    """Whether a batch's files are near and stay there: a source may remove those that Spark has committed."""
    options = (option.lower() for source in STREAMS for option in source.options)
    return arrived.near is not None and (bool(arrived.options.input) or "cleansource" not in options)


def begun_before(spark: SparkSession, options: argparse.Namespace, files: list[dict[str, int]]) -> Arrived:
    """A batch that an earlier run has begun, of such files of each stream. Raises JobError where one is not there."""
    for path, size in (file for mine in files for file in mine.items()):
        if not Path(path).is_file() or Path(path).stat().st_size != size:
            message = f"{path} is gone, or was changed, before the job had folded it; restore it, or {BEGIN_ANEW}"
            raise JobError("input", message, 3)
    return Arrived(arriving(spark, options, [[*mine] for mine in files]), options)
