"""Run a generated job as a process of its own, and turn whatever happens there into one clear message."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.errors import InputError, RuntimeLimitError, StreamboundError, UsageError
from synopsis_exec.java import JavaError, require_java
from synopsis_exec.recorded import input_files

Report = dict[str, Any]
_INSTALL = "pip install 'streambound[spark]'"
_ERRORS: dict[str, type[StreamboundError]] = {
    "limit": RuntimeLimitError,
    "overflow": RuntimeLimitError,
    "input": InputError,
    "rows": RuntimeLimitError,
    "usage": UsageError,
    "state": UsageError,
    "contract": RuntimeLimitError,
    "output": InputError,
    "spark": InputError,
}
_REMEDIES = {
    "limit": "is max_per_timestamp in the catalog too low? The job was stopped before memory could grow",
    "overflow": 'declare counters = "decimal" in the catalog, or restrict the query so that fewer tuples combine',
    "rows": "declare more rows in the catalog and check the query again, or remove some",
    "contract": 'correct the row, or let the catalog put such rows aside: on_violation = "quarantine"',
    "output": "make room or correct the path, then run again; with the same --checkpoint it goes on where it stopped",
}


@dataclass(frozen=True)
class RunSummary:
    """What a run did: rows per stream, quarantined rows by reason, results, and entries against the bound M.

    ``waited_for`` are the streams that held back the output until the input ended, each with since when.
    """

    query: str
    rows: dict[str, int]
    quarantined: dict[str, int]
    results: int
    peak: int
    limit: int | None
    output: Path
    quarantine: Path | None
    batches: tuple[Report, ...] = field(default=(), repr=False)
    waited_for: dict[str, str] = field(default_factory=dict)


def run_query(
    job_text: str,
    input_dir: Path | None,
    output: Path,
    quarantine: Path | None = None,
    checkpoint: Path | None = None,
    on_batch: Callable[[Report], None] | None = None,
    *,
    base: Path | None = None,
    multiplicity: str = "count",
    driver_rows: int | None = None,
) -> RunSummary:
    """Run a job over all the input there is; ``on_batch`` gets the report of each micro-batch.

    Without ``input_dir`` the catalog's sources are read, relative paths from ``base``. ``multiplicity`` is "count" or
    "rows": how duplicates are written. Micro-batches with more useful rows than ``driver_rows`` (the job's default for
    None) are folded on the executors. Raises InputError for unusable input, RuntimeLimitError for more entries than M
    or an overflow, and StreamboundError for what Spark reports.
    """
    check_spark()
    if input_dir is not None:
        check_input(job_text, input_dir)
    for file in (output, quarantine):
        if file is not None:
            _check_writable(file)
    folder = Path(tempfile.mkdtemp(prefix="streambound-run-"))
    job, log = folder / "job.py", folder / "spark.log"
    job.write_text(job_text, encoding="utf-8")
    options = {
        "--input": input_dir,
        "--base": base,
        "--output": output,
        "--quarantine": quarantine,
        "--checkpoint": checkpoint,
    }
    command = [sys.executable, str(job), "--report", "json", "--multiplicity", multiplicity]
    command += [] if driver_rows is None else ["--driver-rows", str(driver_rows)]
    command += [part for name, value in options.items() if value for part in (name, str(value.absolute()))]
    status, reports = _watch(command, log, on_batch)
    last = reports[-1] if reports else {}
    if status != 0 or "summary" not in last:
        raise failure(last, status, log)
    _remove(folder)
    return RunSummary(
        last["summary"],
        last["rows"],
        last["quarantined"],
        last["results"],
        last["peak"],
        last["limit"],
        output,
        quarantine,
        tuple(report for report in reports if "batch" in report),
        last["waited_for"],
    )


def check_input(job_text: str, folder: Path) -> None:
    """Whether a directory holds a file for every stream and relation of a job; raises InputError."""
    from synopsis_exec.simulate import load_kernel

    if not folder.exists():
        raise InputError("there is no such input directory", file=str(folder), remedy="name it with --input DIR")
    if not folder.is_dir():
        message = "the input must be a directory with a file NAME.jsonl for each stream and relation"
        raise InputError(message, file=str(folder))
    job = load_kernel(job_text)
    for source in (*job.STREAMS, *job.RELATIONS):
        for file in input_files(source.name, folder):
            _readable(file)


def _readable(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            start = opened.read(4096)
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(file)) from error
    if b"\0" in start and not start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        raise InputError("the file is binary", file=str(file), remedy="it must hold one JSON object a line")


def _check_writable(file: Path) -> None:
    """Whether a result file can be written, before anything runs; raises UsageError.

    Its directory must be there: making it would hide a mistyped path.
    """
    if file.is_dir():
        raise UsageError("the result must be a file, and this is a directory", file=str(file))
    if not file.parent.is_dir():
        remedy = "make the directory first, or correct the path"
        raise UsageError(f"there is no directory {file.parent}", file=str(file), remedy=remedy)
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"cannot write in the directory {file.parent}", file=str(file))


def check_spark() -> None:
    """Whether pyspark is installed and there is a Java for it; raises UsageError with the remedy."""
    from importlib.util import find_spec

    for package in ("pyspark", "pyarrow"):
        if find_spec(package) is None:
            raise UsageError(f"running a query needs {package}, which is not installed", remedy=_INSTALL)
    try:
        require_java()
    except JavaError as error:
        raise UsageError(error.message, remedy=error.remedy) from error


def _watch(command: list[str], log: Path, on_batch: Callable[[Report], None] | None) -> tuple[int, list[Report]]:
    """Run the job and pass its reports on; everything else that it and Spark print goes to the log."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"}
    reports: list[Report] = []
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", env=environment
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                report = report_of(line)
                if report is None:
                    errors.write(line)
                    continue
                reports.append(report)
                if "batch" in report and on_batch is not None:
                    on_batch(report)
            return process.wait(), reports
        finally:
            process.terminate()


def report_of(line: str) -> Report | None:
    """A line that a job prints as one of its reports; None for anything else."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.keys() & {"batch", "summary", "error"} else None


def failure(last: Report, status: int, log: Path) -> StreamboundError:
    """What to raise after a job that ended with a status and a last report."""
    if "error" in last:
        kind = str(last["error"])
        return _ERRORS.get(kind, StreamboundError)(str(last["message"]), remedy=_REMEDIES.get(kind, ""))
    reason = last_meaningful_line(log.read_text(encoding="utf-8", errors="replace"))
    message = f"the Spark job ended with status {status}{': ' + reason if reason else ''}"
    return StreamboundError(message, remedy=f"its full log is {log}")


def last_meaningful_line(text: str) -> str:
    r"""The line of a log that says most: the last that is no part of a stack trace or plan.

    >>> last_meaningful_line("Traceback (most recent call last):\n  File x\nValueError: no\n\tat org.x\n")
    'ValueError: no'
    """
    skipped = ("at ", "...", "File ", "Traceback", "Caused by: org.apache.spark.SparkException: Job aborted")
    lines = [line.rstrip() for line in text.splitlines()]
    top = [line for line in lines if line and not line[0].isspace() and not line.startswith(skipped)]
    errors = [line for line in top if "Error" in line or "Exception" in line or line.startswith("error:")]
    return (errors or top or [""])[-1][:500]


def _remove(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
