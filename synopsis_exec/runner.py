"""Run a job, in this process or on Spark in its own, and turn every failure into one clear message."""

from __future__ import annotations

import codecs
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

from msgspec.structs import replace

from streambound.analyzer.errors import InputError, RuntimeLimitError, StreamboundError, UsageError
from streambound.analyzer.job_reports import BatchReport, ErrorReport, JobReport, SummaryReport, report_in, report_of
from streambound.synopsis_exec.java import JavaError, require_java
from streambound.synopsis_exec.job_file import JOB, CompiledJob
from streambound.synopsis_exec.period_job import CompiledPeriodJob
from streambound.synopsis_exec.recorded import input_files
from streambound_runtime import embedded
from streambound_runtime.errors import JobError
from streambound_runtime.failures import FULL, NO_SPACE
from streambound_runtime.periods.job import PeriodJob
from streambound_runtime.scratch import Scratch, new_scratch, scratch_folder
from streambound_runtime.settings import Settings
from streambound_runtime.signals import signals_raised
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked

LOG, SCRATCH = "spark.log", "tmp"
"""What the temporary directory of a run holds."""
_NO_ROOM = "make room there, or let TMPDIR name another directory"
_LEAST_FREE = 1 << 16
"""Bytes of a disk without which not even a log is whole."""
PATIENCE = 10
"""Seconds for a job and Spark's Java to end when they are asked to."""
_INSTALL = "pip install 'streambound[spark]'"
_ERRORS: dict[str, type[StreamboundError]] = {
    "limit": RuntimeLimitError,
    "overflow": RuntimeLimitError,
    "input": InputError,
    "rows": RuntimeLimitError,
    "usage": UsageError,
    "state": UsageError,
    "contract": RuntimeLimitError,
    "quarantine": RuntimeLimitError,
    "output": InputError,
    "expression": RuntimeLimitError,
    "spark": InputError,
    "lineage": RuntimeLimitError,
    "key": RuntimeLimitError,
}
_REMEDIES = {
    "limit": "is max_rate or max_per_timestamp in the catalog too low? The job was stopped before memory could grow",
    "overflow": 'declare counters = "decimal" in the catalog, or restrict the query so that fewer tuples combine',
    "rows": "declare more rows in the catalog and check the query again, or remove some",
    "contract": 'correct the row, or let the catalog put such rows aside: on_violation = "quarantine"',
    "quarantine": 'correct the input, or raise quarantine.max in the catalog, or let it count: beyond = "count"',
    "expression": "let the query say what such a result is, with the try_… function or a condition before it",
    "lineage": "raise lineage_nodes in the catalog, or join and project less in one query",
    "output": "make room or correct the path, then run again; with the same --checkpoint it goes on where it stopped",
}


@dataclass(frozen=True)
class RunSummary:
    """The figures of a run: rows per stream, quarantined rows by reason, results, and entries against the bound M.

    The last ``only_counted`` quarantined rows were not written. Without an ``output`` the results
    went to the catalog's sink alone, and without a ``quarantine`` such rows did. ``waited_for`` are the streams that
    held back the output until the input ended, each with since when.
    """

    query: str
    rows: dict[str, int]
    quarantined: dict[str, int]
    results: int
    peak: int | None
    limit: int | None
    output: Path | None
    quarantine: Path | None
    batches: tuple[BatchReport, ...] = field(default=(), repr=False)
    waited_for: dict[str, str] = field(default_factory=dict)
    checkpoint: Path | None = None
    only_counted: int = 0


def run_query(
    compiled: CompiledJob | CompiledPeriodJob,
    input_dir: Path | None,
    output: Path | None,
    quarantine: Path | None = None,
    checkpoint: Path | None = None,
    on_report: Callable[[JobReport], None] = lambda report: None,
    *,
    base: Path | None = None,
    multiplicity: str = "count",
    engine: str | None = None,
) -> RunSummary:
    """Run a job over all the input there is; ``on_report`` gets what it reports: what it does, and each micro-batch.

    The ``engine`` is "embedded", in this process without Spark, or "spark", in a process of its own; by default the
    first where the job can run on it.

    Without ``input_dir`` the catalog's sources are read, relative paths from ``base``; without ``output`` the results
    go to the catalog's sink alone. ``multiplicity`` is "count" or
    "rows": how duplicates are written. Raises InputError for unusable input, RuntimeLimitError for more entries than M
    or an overflow, and StreamboundError for what Spark reports. Nothing temporary is left, except the job and its log
    where nobody foresaw why it failed: the error names them.
    """
    places = {
        "input": input_dir,
        "base": base,
        "output": output,
        "quarantine": quarantine,
        "checkpoint": checkpoint,
    }
    options = {name: str(value.absolute()) for name, value in places.items() if value}
    options["multiplicity"] = multiplicity
    on_spark = runs_on_spark(compiled, options, engine)
    if input_dir is not None:
        check_input(compiled.job, input_dir)
    for file in (output, quarantine):
        if file is not None:
            _check_writable(file)
    if on_spark:
        reports, last = _run_on_spark(compiled, options, on_report)
    else:
        found = in_process(compiled)
        assert isinstance(found, CompiledJob), "whether it runs so has been asked"
        reports, last = run_embedded(found, options, on_report)
    if isinstance(compiled, CompiledPeriodJob):  # nothing waits for rows that may come
        last = replace(last, peak=None, limit=None)
    return RunSummary(
        last.summary,
        last.rows,
        last.quarantined,
        last.results,
        last.peak,
        last.limit,
        output,
        quarantine,
        tuple(report for report in reports if isinstance(report, BatchReport)),
        last.waited_for,
        checkpoint,
        last.only_counted,
    )


def runs_on_spark(
    compiled: CompiledJob | CompiledPeriodJob, options: Mapping[str, str], engine: str | None, also: str = ""
) -> bool:
    """Whether a job runs on Spark: by the ``engine`` if one is chosen, else if it needs Spark.

    ``options`` are those of the job's command line; ``also`` is what else needs Spark, in words. Raises UsageError
    where it cannot run so, with what is missing.
    """
    why = needs_spark(compiled, options) or also or None if engine != "spark" else None
    if engine == "embedded" and why is not None:
        raise UsageError(f"{compiled.name} cannot run without Spark: {why}", remedy="run it with --engine spark")
    on_spark = engine == "spark" or why is not None
    check_spark(f"{compiled.name} runs on Spark: {why}" if why else "") if on_spark else check_packages(
        "pyarrow", "duckdb"
    )
    return on_spark


def needs_spark(compiled: CompiledJob | CompiledPeriodJob, options: Mapping[str, str]) -> str | None:
    """Why a job needs Spark, in words; None where it runs without. ``options`` are those of the job's command line."""
    found = in_process(compiled)
    if isinstance(found, str):
        return found
    try:
        return embedded.needs_spark(found.job, Settings(**options))  # type: ignore[arg-type]
    except JobError as error:
        raise failure(ErrorReport(error.kind, str(error)), error.status, Path()) from error


def in_process(compiled: CompiledJob | CompiledPeriodJob) -> CompiledJob | str:
    """The job as it runs without Spark; or why there is none, in words."""
    return compiled.in_process if isinstance(compiled, CompiledPeriodJob) else compiled


def _run_on_spark(
    compiled: CompiledJob | CompiledPeriodJob, options: Mapping[str, str], on_report: Callable[[JobReport], None]
) -> tuple[list[JobReport], SummaryReport]:
    """Run a job as a process of its own, which starts Spark; returns what it reported, and its last report."""
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with _temporary(compiled) as scratch:
        return _reports(scratch, ["--report", "json", *arguments], on_report)


def run_embedded(
    compiled: CompiledJob, options: Mapping[str, Any], on_report: Callable[[JobReport], None] = lambda report: None
) -> tuple[list[JobReport], SummaryReport]:
    """Run a job in this process, ``options`` being fields of `Settings`; returns its reports and its summary."""
    reports: list[JobReport] = []

    def note(event: dict[str, object]) -> None:
        report = report_in(event)
        assert report is not None, "the job's own reports are known"
        reports.append(report)
        on_report(report)

    with signals_raised(), scratch_folder("run-") as folder:
        settings = Settings(**{"checkpoint": str(folder / "checkpoint"), **options})
        try:
            note({"doing": "reading the input"})
            embedded.run_embedded(compiled.job, checked(compiled.job, settings), note)
        except (JobError, OverflowError) as error:
            kind = error.kind if isinstance(error, JobError) else "overflow"
            raise failure(ErrorReport(kind, str(error)), 1, folder) from error
    return reports, summary_of(reports, 0, folder)


def check_input(job: JobSpec | PeriodJob, folder: Path) -> None:
    """Whether a directory holds a file for every stream and relation of a job; raises InputError."""
    if not folder.exists():
        raise InputError("there is no such input directory", file=str(folder), remedy="name it with --input DIR")
    if not folder.is_dir():
        message = "the input must be a directory with a file NAME.jsonl for each stream and relation"
        raise InputError(message, file=str(folder))
    for table in job.tables:
        for file in input_files(table.name, folder):
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


def check_spark(why: str = "") -> None:
    """Whether pyspark is installed and there is a Java for it; raises UsageError with the remedy.

    ``why`` says for what, where that is not plain.
    """
    check_packages("pyspark", "pyarrow", why=why)
    try:
        require_java()
    except JavaError as error:
        raise UsageError(f"{why}; {error.message}" if why else error.message, remedy=error.remedy) from error


def check_packages(*names: str, why: str = "") -> None:
    """Whether packages are installed; raises UsageError with the remedy."""
    from importlib.util import find_spec

    for name in names:
        if find_spec(name) is None:
            what = f"{why}; {name} is not installed" if why else f"running a query needs {name}, which is not installed"
            raise UsageError(what, remedy=_INSTALL)


@contextmanager
def _temporary(compiled: CompiledJob | CompiledPeriodJob) -> Iterator[Scratch]:
    """A directory for the job, its log, and all that it and Spark keep meanwhile; of that what an error names stays."""
    scratch = None
    try:
        try:
            scratch = new_scratch("run-")
            (scratch.folder / SCRATCH).mkdir()
            compiled.write(scratch.folder)
        except OSError as error:
            where = str(scratch.folder if scratch is not None else tempfile.gettempdir())
            raise InputError(f"cannot write: {error.strerror}", file=where, remedy=_NO_ROOM) from error
        yield scratch
    except BaseException as error:
        if scratch is not None and isinstance(error, StreamboundError) and str(scratch.folder) in error.remedy:
            shutil.rmtree(scratch.folder / SCRATCH, ignore_errors=True)
            scratch.keep()
        elif scratch is not None:
            scratch.remove()
        raise
    scratch.remove()


def _reports(
    scratch: Scratch, arguments: list[str], on_report: Callable[[JobReport], None]
) -> tuple[list[JobReport], SummaryReport]:
    """Run the job and pass its reports on; everything else that it and Spark print goes to the log."""
    folder, own = scratch.folder, {"PYSPARK_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"}
    log, reports = folder / LOG, list[JobReport]()
    with (
        signals_raised(),  # so that the job ends, too
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [sys.executable, str(folder / JOB), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env={**os.environ, **own, "TMPDIR": str(folder / SCRATCH)},
            process_group=0,
            pass_fds=scratch.shared,  # a job that outlives this process keeps its directory
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                report = report_of(line)
                if report is None:
                    errors.write(line)
                    continue
                reports.append(report)
                on_report(report)
            status = process.wait()
        except BaseException:
            _end(process)
            raise
    return reports, summary_of(reports, status, log)


def _end(process: subprocess.Popen[str]) -> None:
    """End a job and Spark's Java, which are a group of processes, and wait until neither can write any more.

    Java cleans up when it is asked to end; it would go on for ever where the job is stopped while it starts.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        if process.stdout is not None:
            pipe, end = process.stdout.fileno(), monotonic() + PATIENCE
            while select([pipe], [], [], max(0, end - monotonic()))[0] and os.read(pipe, 1 << 16):
                pass
        os.killpg(process.pid, signal.SIGKILL)


def summary_of(reports: Sequence[JobReport], status: int, log: Path) -> SummaryReport:
    """The last report of a job that ended with a status; raises what one that failed says, or its log."""
    last = reports[-1] if reports else None
    if status == 0 and isinstance(last, SummaryReport):
        return last
    raise failure(last, status, log)


def failure(last: JobReport | None, status: int, log: Path) -> StreamboundError:
    """The error for a job that ended with a status and a last report."""
    if isinstance(last, ErrorReport):
        return _ERRORS.get(last.error, StreamboundError)(last.message, remedy=_REMEDIES.get(last.error, ""))
    text = log.read_text(encoding="utf-8", errors="replace")
    if NO_SPACE.search(text) or shutil.disk_usage(log.parent).free < _LEAST_FREE:
        return InputError(FULL, file=str(log.parent), remedy=_NO_ROOM)
    reason = last_meaningful_line(text)
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
