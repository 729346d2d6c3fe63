"""Part of every job: batches of near files are folded while Spark commits them and prepares the next one.

Between two batches Spark writes its logs, lists files and plans, which takes longer than to fold a batch that the
driver reads by itself. So Spark is told that such a batch is done when it has only been begun. Which files it has is
noted in the checkpoint before, so that a job that was killed in between makes it up from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from streambound.synopsis_exec.job.arrivals import Arrived, arriving
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.near import is_near
from streambound.synopsis_exec.job.saved import BEGIN_ANEW
from streambound.synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Ahead:
    """The thread in which a job folds all its batches, so that a sink is always called by the same one.

    One batch may be folded there while Spark goes on. Nothing waits for that if the job is interrupted.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.thread: Thread | None = None
        self.tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self.begun: Future[Any] | None = None

    def __enter__(self) -> Ahead:
        self.thread = Thread(target=self._work, name="fold", daemon=True)
        self.thread.start()
        # A sink may ask for the active session, which each thread has its own of; to make a table sets it.
        self.call(lambda: self.spark.createDataFrame([], "nothing INT"))
        return self

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        self.tasks.put(None)
        if self.thread is not None and (kind is None or issubclass(kind, Exception)):
            self.thread.join()
        self.thread = None

    def _work(self) -> None:
        while (task := self.tasks.get()) is not None:
            self._do(*task)

    def _do(self, future: Future[Any], action: Callable[[], Any]) -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # for whoever waits for it
            future.set_exception(error)

    def _given(self, action: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        if self.thread is None:
            self._do(future, action)
        else:
            self.tasks.put((future, action))
        return future

    def call(self, action: Callable[[], Any]) -> Any:
        """Do something in the thread and wait for it; outside of `with`, in the caller's."""
        return self._given(action).result()

    def begin(self, action: Callable[[], Any]) -> None:
        """As `call`, without waiting; what was begun before must be over."""
        self.begun = self._given(action)

    def wait(self) -> None:
        """Until what was begun last is over. Raises what has stopped it."""
        if self.begun is not None:
            self.begun.result()

    def failed(self) -> bool:
        """Whether what was begun last has been stopped."""
        return self.begun is not None and self.begun.done() and self.failure() is not None

    def failure(self) -> BaseException | None:
        """What has stopped what was begun last, when that is over; None if nothing has."""
        return None if self.begun is None else self.begun.exception()


def stays_near(arrived: Arrived) -> bool:
    """Whether a batch's files are near and stay there: a source may remove those that Spark has committed."""
    options = (option.lower() for source in STREAMS for option in source.options)
    return arrived.near is not None and (bool(arrived.options.input) or "cleansource" not in options)


def begun_before(spark: SparkSession, options: argparse.Namespace, files: list[list[str]]) -> Arrived:
    """A batch that an earlier run has begun, of such files of each stream. Raises JobError where one is not there."""
    gone = next((path for mine in files for path in mine if not Path(path).is_file()), None)
    if gone is not None:
        message = f"{gone} is gone, and the job was stopped before it had folded it; restore it, or {BEGIN_ANEW}"
        raise JobError("input", message, 3)
    arrived = Arrived(arriving(spark, options, files), options)
    if is_near(spark, options):
        arrived.near = [{path: Path(path).stat().st_size for path in mine} for mine in files]
    return arrived
