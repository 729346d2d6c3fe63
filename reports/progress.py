"""What `run` prints: a line per micro-batch, and the summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def batch_line(report: Mapping[str, Any]) -> str:
    """One micro-batch: rows, closed timestamps, synopsis entries against the bound, results."""
    limit = report.get("limit")
    bound = f", bound {limit:,}" if isinstance(limit, int) else ""
    waiting = f", {report['pending']:,} timestamps wait for slower streams" if report.get("pending") else ""
    if report.get("waits_for"):
        waiting += f" ({_listed(report['waits_for'])})"
    return (
        f"batch {report['batch']}: {report['rows']:,} rows, {report['closed']:,} timestamps closed, "
        f"{report['entries']:,} synopsis entries (peak {report['peak']:,}{bound}), "
        f"{report['results']:,} results{waiting}"
    )


def _listed(waits: Mapping[str, str]) -> str:
    """The streams that hold back the output, each with since when."""
    return "; ".join(f"{name} {why}" for name, why in waits.items())


def entries_lines(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The synopsis entries after each micro-batch of a run, wrapped; nothing for a run of one batch."""
    if len(reports) > 1:
        counts = ", ".join(f"{report['entries']:,}" for report in reports)
        yield from textwrap.wrap(f"synopsis entries after each of {len(reports)} micro-batches: {counts}", 100)


def run_summary_lines(summary: Any) -> Iterator[str]:
    """The end of a run: rows per stream, quarantined rows by reason, results, and the peak against the bound."""
    rows = ", ".join(f"{name} {count:,}" for name, count in summary.rows.items())
    yield f"rows read: {rows}"
    quarantined = sum(summary.quarantined.values())
    if quarantined:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in summary.quarantined.items())
        yield f"quarantined: {quarantined:,} rows ({reasons}) in {summary.quarantine}"
    else:
        yield "quarantined: none"
    if summary.waited_for:
        yield f"held back until the input ended: {_listed(summary.waited_for)}"
    yield f"results: {summary.results:,} in {summary.output}"
    bound = f" of at most {summary.limit:,}" if summary.limit is not None else ""
    yield f"synopsis entries: peak {summary.peak:,}{bound}"
