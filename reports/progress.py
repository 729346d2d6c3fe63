"""What `run` prints: a line per micro-batch, and the summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.analyzer.job_reports import BatchReport, JobReport, StepReport

if TYPE_CHECKING:
    from streambound.analyzer.endpoints import Sink, Target


def doing_line(report: JobReport) -> str:
    """The activity of a job after a report.

    >>> from streambound.analyzer.job_reports import ErrorReport
    >>> doing_line(StepReport("starting Spark")), doing_line(ErrorReport("limit", "too many"))
    ('starting Spark', 'stopping Spark')
    """
    if isinstance(report, BatchReport):
        return f"running micro-batch {report.batch + 1}"
    return report.doing if isinstance(report, StepReport) else "stopping Spark"


def batch_line(report: BatchReport) -> str:
    """One micro-batch: rows, closed timestamps, entries against the bound, results."""
    bound = f", bound {report.limit:,}" if report.limit is not None else ""
    waiting = f", {report.pending:,} timestamps wait for slower streams" if report.pending else ""
    if report.waits_for:
        waiting += f" ({_listed(report.waits_for)})"
    if report.open_since:
        waiting += f", the oldest row that has not ended begins at {report.open_since}"
    return (
        f"batch {report.batch}: {report.rows:,} rows, {report.closed:,} timestamps closed, "
        f"{report.entries:,} entries (peak {report.peak:,}{bound}), {report.results:,} results{waiting}"
    )


def _listed(waits: Mapping[str, str]) -> str:
    """The streams that hold back the output, each with since when."""
    return "; ".join(f"{name} {why}" for name, why in waits.items())


def entries_lines(reports: Sequence[BatchReport]) -> Iterator[str]:
    """The entries after each micro-batch of a run, wrapped; nothing for a run of one batch."""
    if len(reports) > 1:
        counts = ", ".join(f"{report.entries:,}" for report in reports)
        yield from textwrap.wrap(f"entries after each of {len(reports)} micro-batches: {counts}", 100)


def run_summary_lines(summary: Any, sink: Sink | None = None) -> Iterator[str]:
    """The end of a run: rows per stream, quarantined rows by reason, results, and the peak against the bound.

    ``sink`` is where the catalog wants results and quarantined rows.
    """
    rows = ", ".join(f"{name} {count:,}" for name, count in summary.rows.items())
    yield f"rows read: {rows}"
    quarantined = sum(summary.quarantined.values())
    if quarantined:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in summary.quarantined.items())
        wanted = sink.quarantine if sink else None
        kept = _places(summary.quarantine, wanted) or _left(summary.checkpoint)
        first = f", without the last {summary.only_counted:,}" if summary.only_counted else ""
        yield f"quarantined: {quarantined:,} rows ({reasons}) in {kept}{first}"
    else:
        yield "quarantined: none"
    if summary.waited_for:
        yield f"held back until the input ended: {_listed(summary.waited_for)}"
    yield f"results: {summary.results:,} in {_places(summary.output, (sink.target or sink.call) if sink else None)}"
    if summary.peak is None:
        return
    bound = f" of at most {summary.limit:,}" if summary.limit is not None else ""
    yield f"entries: peak {summary.peak:,}{bound}"


def _left(checkpoint: Path | None) -> str:
    """Where quarantined rows are that nobody wanted."""
    return str(checkpoint / "quarantine") if checkpoint else "no file: --quarantine FILE keeps them"


def _places(file: Path | None, wanted: Target | str | None) -> str:
    """Where rows went: to a file, to the catalog's sink, to both; empty where to neither."""
    if wanted and not isinstance(wanted, str):
        options = {key.lower(): value for key, value in wanted.options}
        wanted = f"{wanted.format} {wanted.path or options.get('topic', '')}".strip()
    return " and ".join(str(place) for place in (file, wanted and f"the catalog's sink ({wanted})") if place)
