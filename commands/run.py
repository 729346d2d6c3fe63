"""`streambound run`: runs a bounded query over recorded streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.commands.options import (
    Folder,
    OutputFile,
    PathArgument,
    QueryArgument,
    common_options,
    emit_mode_option,
    engine_option,
    tick_option,
)
from streambound.commands.saying import Activity, doing, show
from streambound.jobs import compiled_of

if TYPE_CHECKING:
    from streambound.analyzer.endpoints import Sink
    from streambound.analyzer.errors import StreamboundError
    from streambound.analyzer.job_reports import BatchReport, JobReport
    from streambound.synopsis_exec.job_file import CompiledJob
    from streambound.synopsis_exec.period_job import CompiledPeriodJob


@click.command("run")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--input", "input_dir", type=PathArgument(), metavar="DIR",
              help="Holds NAME.jsonl, or a directory NAME of .jsonl files, for each stream and relation; "
                   "by default the catalog's sources.")  # fmt: skip
@click.option("--output", type=OutputFile(), metavar="FILE",
              help="The results, as JSON lines; required unless the catalog has a sink for them.")  # fmt: skip
@click.option("--quarantine", type=OutputFile(), metavar="FILE",
              help="Rows that cannot be used, why, and their places; default: OUTPUT.quarantine.jsonl.")  # fmt: skip
@click.option("--checkpoint", type=Folder("what a restart needs"), metavar="DIR",
              help="Where the job keeps its state; by default a temporary directory.")  # fmt: skip
@click.option("--multiplicity", type=click.Choice(("count", "rows")), default="count", show_default=True,
              help="Write a result once, with _mult, or as many times as there are duplicates.")  # fmt: skip
@engine_option
@tick_option
@emit_mode_option
@common_options
def run(
    query: str, name: str | None, input_dir: Path | None, output: Path | None, quarantine: Path | None,
    checkpoint: Path | None, multiplicity: str, engine: str | None, tick: str, emit_mode: str | None,
    catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compile a bounded QUERY, run it over recorded streams and write its results.

    Each line of the output is a result: the select list, _ts (when it became true) and _mult (how many duplicates).
    The job stops with exit status 1 when its synopses exceed the proved bound. Of a SEQ statement a line has _begin and
    _end instead of _ts: from when to before when the row is there.
    """
    from streambound.criteria.check import find_statement
    from streambound.reports.progress import batch_line

    with doing("compiling the query") as shown:
        catalog, checked = find_statement(query, name, catalog_file, emit_mode=emit_mode)
        sink = catalog.sink(checked.statement.name)
        if output is None and sink is None:
            raise _no_place(checked.statement.name, catalog.file)
        job = compiled_of(catalog, checked, tick=tick)
        if output is not None and quarantine is None:
            quarantine = output.with_name(output.name + ".quarantine.jsonl")

        def note(report: BatchReport) -> None:
            shown.say(batch_line(report))

        files = (input_dir, Path(catalog.file).parent, output, quarantine, checkpoint)
        lines = run_job(job, files, shown, note, multiplicity, sink, engine)
    show(*lines)


def _no_place(name: str, catalog: str) -> StreamboundError:
    """The error for results that nobody wants."""
    from streambound.analyzer.errors import UsageError

    remedy = f"name a file with --output FILE, or declare [sinks.{name}] in {catalog}"
    return UsageError(f"nothing says where the results of {name} go", remedy=remedy)


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
