"""A process that runs a job, or Spark's own operators, and reports its memory after every micro-batch, as JSON lines.

`synopsis_exec.memory` starts it, with a Java heap of a given size; it is run with the name of a request, a JSON file.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from streambound.analyzer.job_reports import BatchReport, ErrorReport, JobReport, object_of, report_in, report_of
from streambound.analyzer.json_models import plain
from streambound.synopsis_exec.in_process import status_of
from streambound.synopsis_exec.job_file import job_in
from streambound.synopsis_exec.recorded_streams import write_part
from streambound.synopsis_exec.spark_progress import progress_of, spark_state
from streambound_runtime.embedded import run_embedded
from streambound_runtime.errors import JobError
from streambound_runtime.scratch import JAVA_OPTIONS, java_options
from streambound_runtime.settings import settings_of
from streambound_runtime.usage import checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Request = Mapping[str, Any]
Emit = Callable[[dict[str, Any]], None]
_NO_EQUALITY = "Stream-stream join without equality predicate"
_NO_APPEND = "Invalid streaming output mode: append"


def main(argv: list[str]) -> int:
    """Do what the request says; the exit status is that of the job."""
    request = object_of(Path(argv[0]).read_text(encoding="utf-8"))
    out = sys.stdout

    def emit(event: dict[str, Any]) -> None:
        print(json.dumps(event), file=out, flush=True)

    runs = {"job": run_job, "embedded job": run_embedded_job, "native": run_native}
    return runs[str(request["what"])](request, emit)


def sample_embedded() -> dict[str, int]:
    """Resident memory now, in bytes, of a process without Java."""
    return {"heap": 0, "java": 0, "python": resident(os.getpid())["python"], "state_rows": 0, "state_bytes": 0}


def sample() -> dict[str, int]:
    """Memory now, in bytes: of Java what is in use after a collection, and the processes' resident memory."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None, "there is a session while a query runs"
    java: Any = context._jvm
    java.java.lang.System.gc()
    heap = java.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    found = resident(os.getpid())
    return {"heap": int(heap), "java": found["java"], "python": found["python"]}


# --- the job ----------------------------------------------------------------------------------------------------------


def run_job(request: Request, emit: Emit) -> int:
    """Run a job as its file is run; a sample goes with each of its reports."""
    sys.argv = [request["job"], *request["options"], "--report", "json"]
    with redirect_stdout(_Reports(_measuring(emit, lambda: {**sample(), **job_state()}))):
        return status_of(Path(request["job"]))


def run_embedded_job(request: Request, emit: Emit) -> int:
    """Run a job without Spark; a sample goes with each of its reports."""
    job, note = job_in(Path(request["job"]).read_text(encoding="utf-8")), _measuring(emit, sample_embedded)
    assert job is not None, "the job was compiled for this"

    def take(event: Mapping[str, object]) -> None:
        report = report_in(event)
        assert report is not None, "the job's own reports are known"
        note(report)

    try:
        run_embedded(job, checked(job, settings_of(job, request["options"])), take)
    except (JobError, OverflowError) as error:
        note(ErrorReport(error.kind if isinstance(error, JobError) else "overflow", str(error)))
        return 1
    return 0


def _measuring(emit: Emit, sizes: Callable[[], dict[str, int]]) -> Callable[[JobReport], None]:
    """A function that passes a job's reports on, those of batches with the current sizes."""
    begun, rows = time.monotonic(), 0

    def note(report: JobReport) -> None:
        nonlocal rows
        measured = {}
        if isinstance(report, BatchReport):
            rows += report.rows
            measured = {**sizes(), "tuples": rows}
        emit({**plain(report), **measured, "seconds": round(time.monotonic() - begun, 3)})

    return note


class _Reports(io.TextIOBase):
    """Takes what a job prints: its reports are passed on, all else goes to the log."""

    def __init__(self, note: Callable[[JobReport], None]) -> None:
        self.note, self.line = note, ""

    def write(self, text: str) -> int:
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            report = report_of(line)
            if report is None:
                print(line, file=sys.stderr)
            else:
                self.note(report)
        return len(text)


def job_state() -> dict[str, int]:
    """Spark's own metrics of the running query: the state of the last batch that is done."""
    from pyspark.sql import SparkSession

    progress = [query.lastProgress for query in SparkSession.builder.getOrCreate().streams.active]
    return spark_state([progress_of(p.json) for p in progress if p is not None])


# --- Spark's own operators --------------------------------------------------------------------------------------------


def run_native(request: Request, emit: Emit) -> int:
    """Run Spark's own operators over the same files; says ``refused`` with Spark's reason where it takes none of it.

    A join without equality is tried again with one of constant columns (``keyed``), an aggregation that has no end in
    ``complete`` mode.
    """
    spark = _session(request)
    try:
        _run(spark, request, request["sql"], emit)
    except Exception as error:
        reason = in_one_line(error)
        if "keyed" in request and _NO_EQUALITY in str(error):
            emit({"keyed": reason})
            _retry(spark, request, request["keyed"], emit)
        elif "output" in request and _NO_APPEND in str(error):
            emit({"complete": reason})
            _retry(spark, request, request["sql"], emit, "complete")
        else:
            emit({"refused": reason})
    return 0


def _retry(spark: SparkSession, request: Request, sql: str, emit: Emit, mode: str = "append") -> None:
    try:
        _run(spark, request, sql, emit, mode)
    except Exception as error:
        emit({"refused": in_one_line(error)})


def _session(request: Request) -> SparkSession:
    from pyspark.sql import SparkSession

    manager = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    spark = (
        SparkSession.builder.appName("streambound: Spark's own operators")
        .config(JAVA_OPTIONS, java_options())
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.checkpointFileManagerClass", manager)
        .config("spark.sql.streaming.numRecentProgressUpdates", 10_000)
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _run(spark: SparkSession, request: Request, sql: str, emit: Emit, mode: str = "append") -> None:
    """Run one form of the query until its input ends or its time is up."""
    begun, batches, seen, dropped = time.monotonic(), 0, 0, 0
    frame = _frame(spark, request, sql)
    _close(request, mode == "append")
    query = (
        _written(frame, request, mode)
        .option("checkpointLocation", str(Path(request["checkpoint"]) / f"{mode} {hash(sql)}"))
        .trigger(availableNow=True)
        .start()
    )
    while True:
        done = query.awaitTermination(1)
        updates = [progress_of(progress.json) for progress in query.recentProgress]
        for progress in updates[seen:]:
            dropped += sum(operator.numRowsDroppedByWatermark for operator in progress.stateOperators)
            if progress.numInputRows and batches < len(request["tuples"]):  # else only a watermark has moved
                batches += 1
                measured = {**sample(), **spark_state([progress]), "tuples": request["tuples"][batches - 1]}
                emit({"batch": progress.batchId, **measured, "seconds": round(time.monotonic() - begun, 3)})
        seen = len(updates)
        if done:
            emit({"ended": True, "dropped": dropped})
            return
        if time.monotonic() - begun > request["seconds"]:
            query.stop()
            emit({"stopped": True, "dropped": dropped})
            return


def _close(request: Request, waits: bool) -> None:
    """Last batches that say that time has gone on, for a query that ``waits`` for that; none for another."""
    for table, batches in request.get("closing", {}).items():
        for number, lines in enumerate(batches, start=len(request["tuples"])):
            write_part(Path(request["input"]), table, number, lines if waits else [])


def _written(frame: DataFrame, request: Request, mode: str) -> DataStreamWriter:
    """What returns nothing; or, where there is an ``output``, what has all results there in the end."""
    if "output" not in request:
        return frame.writeStream.format("noop").outputMode(mode)

    def keep(rows: DataFrame, number: int) -> None:
        rows.write.mode("append" if mode == "append" else "overwrite").parquet(request["output"])

    named = frame.toDF(*(f"c{number}" for number in range(request["columns"])))
    return named.writeStream.foreachBatch(keep).outputMode(mode)


def _frame(spark: SparkSession, request: Request, sql: str) -> DataFrame:
    for view in request["views"]:
        streaming = view["time"] is not None
        reader = spark.readStream.option("maxFilesPerTrigger", 1) if streaming else spark.read
        folder = str(Path(request["input"]) / view["table"])
        frame = reader.schema(view["schema"]).json(folder).selectExpr(*view["columns"])
        if streaming:
            frame = frame.withWatermark(f"`{view['time']}`", "0 seconds")
        frame.createOrReplaceTempView("`" + view["table"].replace("`", "``") + "`")
    frame = spark.sql(sql)
    return frame.dropDuplicates() if request["distinct"] else frame


def in_one_line(error: Exception) -> str:
    """Spark's message without Java's stack."""
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    best = next((line for line in lines if _NO_EQUALITY in line), lines[0])
    return best[:500]


class Process(NamedTuple):
    """A process: the one that started it, the name of its program, and its resident memory in bytes."""

    parent: int
    program: str
    resident: int


def resident(root: int, processes: Mapping[int, Process] | None = None) -> dict[str, int]:
    """Resident bytes of a process and all that it started, by program: ``java``, ``python`` (and all others).

    Java that Java has started is a copy that is about to become another program, and shares its memory until then.
    """
    processes = running() if processes is None else processes
    found = {"java": 0, "python": 0}
    for number in started_by(root, processes):
        if number in processes and not _is_copy(processes, number):
            program = "java" if processes[number].program == "java" else "python"
            found[program] += processes[number].resident
    return found


def started_by(root: int, processes: Mapping[int, Process]) -> Iterator[int]:
    """A process and all that it started."""
    children: dict[int, list[int]] = {}
    for number, process in processes.items():
        children.setdefault(process.parent, []).append(number)
    waiting = [root]
    while waiting:
        yield (number := waiting.pop())
        waiting.extend(children.get(number, ()))


def _is_copy(processes: Mapping[int, Process], number: int) -> bool:
    parent = processes.get(processes[number].parent)
    return parent is not None and parent.program == processes[number].program == "java"


def running() -> dict[int, Process]:
    """All processes: from /proc where there is one (it starts no process), else from `ps`."""
    return _from_proc() if Path("/proc/self/status").is_file() else _from_ps()


def _from_proc() -> dict[int, Process]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            text = (folder / "status").read_text(encoding="utf-8", errors="replace")
            fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            size = int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
            program = (folder / "exe").readlink().name  # the name in `status` is that of a thread after a fork
            found[int(folder.name)] = Process(int(fields["PPid"]), program, size)
    return found


def _from_ps() -> dict[int, Process]:
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,rss=,comm="], capture_output=True, text=True, check=True)
    found = {}
    for line in listed.stdout.splitlines():
        number, parent, size, program = line.split(None, 3)
        found[int(number)] = Process(int(parent), Path(program).name, int(size) * 1024)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
