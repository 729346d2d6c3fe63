"""Part of every job: the streaming query, the session and the command line."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streambound.synopsis_exec.job.arrivals import arriving
from streambound.synopsis_exec.job.checking import check_arguments
from streambound.synopsis_exec.job.endpoints import with_servers
from streambound.synopsis_exec.job.files import is_uri
from streambound.synopsis_exec.job.folding import Job
from streambound.synopsis_exec.job.given import QUERY, STREAMS, Batches
from streambound.synopsis_exec.job.reading import in_one_line, is_local
from streambound.synopsis_exec.job.sinks import importable
from streambound.synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


DRIVER_ROWS = 2_000_000
"""Useful rows of a micro-batch above which it is folded on the executors."""

SECONDS = 1
"""How long a batch that failed while Spark went on may go unnoticed."""

SMALLEST_PART = 1 << 18
"""Bytes of a file of lines that a core reads, at least: with Spark's 4 MiB the other cores idle while one parses."""


def run(spark: SparkSession, options: argparse.Namespace, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run the query over all the input there is; returns the summary, which is also the last report.

    Raises JobError, or OverflowError for more duplicates than `_mult` can hold.
    """
    check_cluster(spark, options)
    job: Job = Batches(spark, options, report)
    forever = options.trigger not in ("end", "available")
    with job.ahead:
        try:
            job.ahead.call(lambda: job.make_up(spark))
            query = (
                arriving(spark, options)
                .writeStream.foreachBatch(job.on_batch)
                .option("checkpointLocation", job.files.where("spark"))
                .trigger(**({"processingTime": options.trigger} if forever else {"availableNow": True}))
                .start()
            )
            while not query.awaitTermination(SECONDS):
                if job.ahead.failed():  # Spark does not ask before more rows come
                    query.stop()
            job.ahead.wait()
        except JobError:
            raise
        except Exception as error:
            cause = job.ahead.failure() or job.failure or error
            if cause is error and (name := job.checkpoint.unreadable()) is not None:
                raise job.checkpoint.damaged(name) from error
            if type(cause).__module__.partition(".")[0] in ("pyspark", "py4j"):
                why = with_servers(in_one_line(cause), cause, options)
                raise JobError("spark", f"Spark stopped the job: {why}", 3) from cause
            raise cause from None
        summary: dict[str, Any] = job.ahead.call(job.finish)
    report(summary)
    return summary


def check_cluster(spark: SparkSession, options: argparse.Namespace) -> None:
    """Raise JobError for a checkpoint that the machines of a cluster do not share."""
    if not is_local(spark) and not is_uri(options.checkpoint):
        where = f"on a cluster ({spark.sparkContext.master}) every machine must reach the checkpoint"
        what = "give --checkpoint a URI, such as hdfs://…, s3a://… or, for a mounted disk, file:/…"
        raise JobError("usage", f"{where}: {what}", 2)


def session() -> SparkSession:
    """A Spark session in UTC; on this machine alone, one for small and frequent micro-batches.

    `spark-submit` brings its own settings, which are left as they are.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        manager = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        builder = (
            builder.appName(f"streambound: {QUERY}")
            .config("spark.sql.shuffle.partitions", 2)
            .config("spark.sql.streaming.checkpointFileManagerClass", manager)
            .config("spark.ui.enabled", False)
            .config("spark.ui.showConsoleProgress", False)
        )
        if any(source.format in (None, "csv", "json", "text") for source in STREAMS):
            builder = builder.config("spark.sql.files.openCostInBytes", SMALLEST_PART)
    spark = builder.getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.ansi.enabled", True)
    spark.sparkContext.setLogLevel("ERROR")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it would log what `main` reports
    return spark


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=f"Run the query {QUERY} as a Spark Structured Streaming job.")
    parser.add_argument(
        "--input", metavar="DIR", help="read NAME.jsonl or NAME/*.jsonl here, not the catalog's sources"
    )
    parser.add_argument("--base", metavar="DIR", help="where relative paths of the catalog's sources start")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="all results, in order of _ts (default: out.jsonl where the catalog has no sink)",
    )
    parser.add_argument("--quarantine", metavar="FILE", help="rows that are malformed, late or outside their contract")
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="state for a restart, a directory or a URI; without it there is none"
    )
    parser.add_argument(
        "--trigger",
        metavar="WHEN",
        default="end",
        help="end: read what is there, then close all timestamps; available: leave the last ones open for the next "
        "run; or run on, with a micro-batch every so often, as in '10 seconds'",
    )
    parser.add_argument(
        "--limit", type=int, metavar="M", help="stop above this many synopsis entries (default: the bound M)"
    )
    parser.add_argument(
        "--multiplicity",
        choices=("count", "rows"),
        default="count",
        help="write a result once with _mult, how many duplicates there are, or as so many rows",
    )
    parser.add_argument("--files-per-batch", type=int, default=1, metavar="N", help="files of a stream per micro-batch")
    parser.add_argument(
        "--driver-rows",
        type=int,
        default=DRIVER_ROWS,
        metavar="N",
        help="fold a micro-batch on the driver where no more useful rows are left of it, else on the executors, where "
        "the query allows that (default: %(default)s)",
    )
    parser.add_argument("--report", choices=("text", "json"), default="text", help="how each batch is reported")
    return parser.parse_args(argv)


def reporter(form: str) -> Callable[[dict[str, Any]], None]:
    """Reports as sentences on stderr, or as JSON lines on stdout."""
    if form == "json":
        return lambda event: print(json.dumps(event), flush=True)
    return lambda event: print(", ".join(f"{key}: {value}" for key, value in event.items()), file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Run the job; returns its exit status."""
    options = arguments(argv)
    report = reporter(options.report)
    temporary = None if options.checkpoint else tempfile.mkdtemp(prefix="streambound-")
    options.checkpoint = options.checkpoint or temporary
    try:
        check_arguments(options)
        importable(options)
        report({"doing": "starting Spark"})
        spark = session()
        report({"doing": "reading the input"})
        run(spark, options, report)
    except (JobError, OverflowError) as error:
        kind = error.kind if isinstance(error, JobError) else "overflow"
        if options.report == "json":
            report({"error": kind, "message": str(error)})
        print(f"error: {error}", file=sys.stderr)
        return error.status if isinstance(error, JobError) else 1
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
    return 0
