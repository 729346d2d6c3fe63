"""Running a compiled job with its progress shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from streambound.commands.saying import Activity

if TYPE_CHECKING:
    from streambound.analyzer.endpoints import Sink
    from streambound.analyzer.job_reports import BatchReport, JobReport
    from streambound.synopsis_exec.job_file import CompiledJob
    from streambound.synopsis_exec.period_job import CompiledPeriodJob

Files = tuple[Path | None, Path, Path | None, Path | None, Path | None]
"""Input, where relative paths of the catalog start, output, quarantine, checkpoint."""


def run_job(
    job: CompiledJob | CompiledPeriodJob, files: Files, shown: Activity, on_batch: Callable[[BatchReport], None],
    multiplicity: str = "count", sink: Sink | None = None, engine: str | None = None,
) -> list[str]:  # fmt: skip
    """Run a compiled job and show what it does; the lines of its summary."""
    from streambound.analyzer.job_reports import BatchReport
    from streambound.reports.progress import doing_line, run_summary_lines
    from streambound.synopsis_exec.runner import run_query

    input_dir, base, output, quarantine, checkpoint = files

    def note(report: JobReport) -> None:
        shown.now(doing_line(report))
        if isinstance(report, BatchReport):
            on_batch(report)

    summary = run_query(
        job,
        input_dir,
        output,
        quarantine,
        checkpoint,
        note,
        base=base,
        multiplicity=multiplicity,
        engine=engine,
    )
    return list(run_summary_lines(summary, sink))
