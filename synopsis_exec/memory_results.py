"""What a job and Spark's own operators have returned in the end, against the statement over the rows that they read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from streambound.recheck.oracle.spark_batch import BatchStatement, batch_session
from streambound.recheck.oracle.spark_results import ResultCounts, rows_counts, run_counts
from streambound.synopsis_exec.in_process import quiet
from streambound.synopsis_exec.native_run import NativeRun
from streambound.synopsis_exec.recorded_streams import rows_in


def compared(
    statement: BatchStatement, folder: Path, final: bool, run: NativeRun | None
) -> tuple[ResultCounts, ResultCounts | None]:
    """The job's results and those of Spark's own operators, if these read all that they were given.

    ``folder`` is where the job ran; ``final`` says that it returns final results. Raises StreamboundError for what
    Spark refuses as a batch query.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with quiet(folder / "compared.log"):
        spark = batch_session()
    job = run_counts(spark, statement, rows_in(folder), folder / "out.jsonl", final)
    if run is None or run.output is None or run.native.ended != "done":
        return job, None
    more = None if run.native.complete else run.closed
    return job, rows_counts(spark, statement, run.rows, run.output, more)
