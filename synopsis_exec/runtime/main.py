"""A job's command: what `python job.py` and `spark-submit … job.py` run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from streambound_runtime import __version__
from streambound_runtime.driver import Driver, Report
from streambound_runtime.endpoints import with_servers
from streambound_runtime.errors import JobError, usage
from streambound_runtime.failures import in_one_line, of_full_disk, stopped
from streambound_runtime.progress import observed, set_figures
from streambound_runtime.reading.computing import is_of_spark
from streambound_runtime.reading.files import check_files
from streambound_runtime.reading.sources import arriving, failing
from streambound_runtime.scratch import scratch_folder
from streambound_runtime.session import check_cluster, check_workers, is_local, session
from streambound_runtime.settings import Settings, settings_of
from streambound_runtime.signals import signals_raised
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from streambound_runtime.visible import as_line
from streambound_runtime.zipped import give_to_executors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Frames = Mapping[str, "DataFrame"]
"""What a program gives in place of the sources of these streams and relations (`given`)."""
NONE: Frames = {}


def main(job: JobSpec, argv: Sequence[str] | None = None) -> int:
    """Run a job; returns its exit status."""
    settings = settings_of(job, argv)
    report = reporter(settings.report)
    try:
        check_runtime(job)
        with signals_raised(), _with_checkpoint(settings) as settings:  # so that what is temporary is left in order
            settings = checked(job, settings)
            report({"doing": "starting Spark"})
            spark = session(job.name)
            report({"doing": "reading the input"})
            run(spark, job, settings, report)
    except (JobError, OverflowError) as error:
        return failed(error, settings.report, report)
    except OSError as error:
        return failed(of_full_disk(error), settings.report, report)
    return 0


@contextmanager
def _with_checkpoint(settings: Settings) -> Iterator[Settings]:
    """The settings with a checkpoint: a temporary one if none is given."""
    if settings.checkpoint:
        yield settings
        return
    with scratch_folder() as folder:
        yield replace(settings, checkpoint=str(folder / "checkpoint"))


def failed(error: JobError | OverflowError, form: str, report: Callable[[Report], None]) -> int:
    """Say why a job failed; its exit status."""
    kind = error.kind if isinstance(error, JobError) else "overflow"
    if form == "json":
        report({"error": kind, "message": str(error)})
    print(f"error: {as_line(str(error))}", file=sys.stderr)
    return error.status if isinstance(error, JobError) else 1


def check_runtime(job: JobSpec) -> None:
    """Raise JobError where a job was written for another version of this package."""
    if job.runtime != __version__:
        what = f"the job {job.name} was written for streambound_runtime {job.runtime}, and this is {__version__}"
        raise usage(f"{what}: run it with the zip that it was compiled with, or compile it again")


def run(spark: SparkSession, job: JobSpec, settings: Settings, report: Callable[[Report], None]) -> Report:
    """Run a job over all the input there is; returns the summary, which is also the last report.

    Raises JobError, or OverflowError for more duplicates than `_mult` can hold.
    """
    driver = prepare(spark, job, settings, report)
    with running(job, settings, driver):
        query_of(spark, job, settings, driver).start().awaitTermination()
        summary = driver.finish()
    report(summary)
    return summary


def prepare(
    spark: SparkSession, job: JobSpec, settings: Settings, report: Callable[[Report], None], frames: Frames = NONE
) -> Driver:
    """The driver that processes a job's batches; raises JobError if it cannot be made."""
    check_cluster(spark, settings)
    if job.placement.where != "driver" or settings.trigger != "end":  # the figures of a query are read by a worker
        check_workers(spark)
    if job.placement.where != "driver" or not is_local(spark):
        give_to_executors(spark)
    for stream in job.streams:
        with failing(stream, job, settings):
            check_files(spark, stream, settings)
    return Driver(spark, job, settings, report, frames)


def query_of(
    spark: SparkSession, job: JobSpec, settings: Settings, driver: Driver, frames: Frames = NONE
) -> DataStreamWriter:
    """The query whose batches a driver folds; its progress has the job's figures, unless it only runs to an end."""
    rows = arriving(spark, job, settings, frames)
    if settings.trigger != "end":
        set_figures(spark, driver.figures)
        rows = observed(rows, job)
    return (
        rows.writeStream.foreachBatch(driver.on_batch)
        .option("checkpointLocation", driver.checkpoint.of_spark)
        .trigger(**({"availableNow": True} if settings.ends else {"processingTime": settings.trigger}))
    )


@contextmanager
def running(job: JobSpec, settings: Settings, driver: Driver) -> Iterator[None]:
    """Run a query, and leave its checkpoint to the next run; what stops it is a JobError where it is not ours."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:
        cause = driver.failure or error
        if cause is error and (name := driver.checkpoint.unreadable()) is not None:
            raise driver.checkpoint.damaged(name) from error
        if is_of_spark(cause):
            why = with_servers(in_one_line(cause), cause, job, settings)
            raise stopped(why) from cause
        raise cause from None
    finally:
        driver.owner.release()
        driver.checkpoint.lock.release()


def reporter(form: str) -> Callable[[Report], None]:
    """Reports as sentences on stderr, or as JSON lines on stdout."""
    if form == "json":
        return lambda event: print(json.dumps(event), flush=True)
    return lambda event: print(as_line(", ".join(f"{key}: {value}" for key, value in event.items())), file=sys.stderr)
