"""A job in this process, without Spark: the same decoders, frontier, operators and checkpoints, over files here."""

from __future__ import annotations

from collections.abc import Callable

from streambound_runtime.driver import Driver, Report
from streambound_runtime.embedded_limits import why_not_embedded
from streambound_runtime.reading.input_log import InputLog, ListedFiles, why_not_local
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec


def needs_spark(job: JobSpec, settings: Settings) -> str | None:
    """What of a job needs Spark, in words; None where it can run without."""
    if job.sink is not None or job.quarantine is not None:
        return "its sink in the catalog is written by Spark"
    if not settings.ends:
        return "it runs on, with a micro-batch every so often"
    sources = (why for table in job.tables if (why := why_not_local(table, settings)) is not None)
    return next(sources, None) or why_not_embedded(job)


def run_embedded(job: JobSpec, settings: Settings, report: Callable[[Report], None]) -> Report:
    """Run a job over all the input there is; returns the summary, which is also the last report.

    Raises JobError, or OverflowError for more duplicates than `_mult` can hold.
    """
    return ended(job, settings, report)[1]


def ended(job: JobSpec, settings: Settings, report: Callable[[Report], None]) -> tuple[Driver, Report]:
    """As `run_embedded`, with what has folded the batches: it knows the results."""
    driver = Driver(None, job, settings, report)
    try:
        for batch, listed in InputLog(driver.checkpoint.store, job, settings).batches(driver.batch):
            driver.fold(ListedFiles(listed, job, driver.context.files), batch)
        summary = driver.finish()
    finally:
        driver.checkpoint.lock.release()
    report(summary)
    return driver, summary
