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

from synopsis_exec.job.checking import check_arguments
from synopsis_exec.job.folding import Job
from synopsis_exec.job.given import QUERY
from synopsis_exec.job.reading import in_one_line, tagged
from synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(spark: SparkSession, options: argparse.Namespace, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run the query over all the input there is; returns the summary, which is also the last report.

    Raises JobError, or OverflowError for more duplicates than `_mult` can hold.
    """
    job = Job(spark, options, report)
    try:
        query = (
            tagged(spark, options)
            .writeStream.foreachBatch(job.on_batch)
            .option("checkpointLocation", str(job.folder / "spark"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    except Exception as error:
        cause = job.failure or error
        if type(cause).__module__.partition(".")[0] in ("pyspark", "py4j"):
            raise JobError("spark", f"Spark stopped the job: {in_one_line(cause)}", 3) from cause
        raise cause from None
    summary = job.finish()
    report(summary)
    return summary


def session() -> SparkSession:
    """A Spark session on this machine, in UTC, for small and frequent micro-batches."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    manager = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    spark = (
        SparkSession.builder.appName(f"streambound: {QUERY}")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", True)
        .config("spark.sql.streaming.checkpointFileManagerClass", manager)
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .getOrCreate()
    )
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
    parser.add_argument("--output", metavar="FILE", default="out.jsonl", help="results, in order of _ts")
    parser.add_argument("--quarantine", metavar="FILE", help="rows that are malformed, late or outside their contract")
    parser.add_argument("--checkpoint", metavar="DIR", help="state for a restart; without it there is none")
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
        run(session(), options, report)
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
