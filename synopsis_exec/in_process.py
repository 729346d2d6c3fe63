"""A job in this process, so that several runs share one Spark: as its file is run, with its options and reports."""

from __future__ import annotations

import io
import os
import runpy
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from streambound.analyzer.job_reports import SummaryReport, report_of
from streambound.synopsis_exec.runner import summary_of


def run_in_process(job: Path, options: Sequence[str], log: Path) -> SummaryReport:
    """The last report of a job; what else it prints, but other reports, goes to the log.

    Raises as `runner.run_query` does.
    """
    printed = io.StringIO()
    with log.open("a", encoding="utf-8") as errors, _arguments([str(job), *options, "--report", "json"]):
        with redirect_stdout(printed), redirect_stderr(errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            status = status_of(job)
        lines = printed.getvalue().splitlines()
        reports = [report for line in lines if (report := report_of(line)) is not None]
        errors.writelines(line + "\n" for line in lines if report_of(line) is None)
    return summary_of(reports, status, log)


def status_of(job: Path) -> int:
    """Run a file as Python runs it; its exit status."""
    try:
        runpy.run_path(str(job), run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@contextmanager
def _arguments(argv: list[str]) -> Iterator[None]:
    saved, sys.argv = sys.argv, argv
    try:
        yield
    finally:
        sys.argv = saved


@contextmanager
def quiet(log: Path) -> Iterator[None]:
    """Where Spark's Java process is started: what it prints, now and later, goes to the log."""
    sys.stderr.flush()
    saved = os.dup(2)
    with log.open("ab") as opened:
        os.dup2(opened.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
