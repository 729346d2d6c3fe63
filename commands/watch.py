"""`streambound watch`: a query that runs on Spark or Flink, by what they report, against what was proved of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from streambound.commands.options import OutputFile, QueryArgument, common_options
from streambound.commands.saying import show


@click.command("watch")
@click.argument("query", type=QueryArgument())
@click.argument("progress", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option(
    "--every",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between two looks at a Flink job.",
)
@click.option("--record", type=OutputFile(), metavar="FILE", help="Also write what a Flink job reports to a file.")
@common_options
def watch(
    query: str, progress: str, name: str | None, every: float, record: Path | None, catalog_file: Path | None,
    color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compare a running query with what was proved of QUERY, as it is written for Spark or Flink.

    \b
    PROGRESS is what the engine reports:
      of Spark  a file with the JSON of a StreamingQueryProgress in each line, as a StreamingQueryListener
                writes it (event.progress.json); - is standard input: tail -f p.jsonl | streambound watch q.sql -
                the directory of its checkpoint: the rows in its state are read, with Spark
      of Flink  the URL of a job in its REST API, http://localhost:8081/jobs/ID, which is asked until the job
                ends; or a file that --record has written

    \b
    An alert has the batch or the checkpoint, and says what is not as it was proved:
      rows kept      an operator keeps more than it can at the catalog's max_rate and the watermark; a task of
                     Flink more than the rows take that came within the time that they stay
      age            a row in the state of a checkpoint is older than it can be
      rate           more rows came than a stream's max_rate
      watermark      it stands still, or falls behind: rows stay for longer
      late rows      rows came later than the watermark's delay
      another query  it has other operators
    Exit status 1: there was an alert.
    """
    from streambound.analyzer.engine_profiles import StreamEngine, asked_profile
    from streambound.analyzer.errors import UsageError
    from streambound.criteria.check import find_statement
    from streambound.gate.running_job import RunningJob
    from streambound.gate.running_query import Alert, RunningQuery
    from streambound.synopsis_exec.flink_progress import is_of_flink, job_progress
    from streambound.synopsis_exec.spark_checkpoint import SparkCheckpoint
    from streambound.synopsis_exec.spark_progress import progress_of

    catalog, checked = find_statement(query, name, catalog_file)
    is_checkpoint = Path(progress).is_dir()
    lines = iter(()) if is_checkpoint else _lines(progress, every)
    first = next(lines, "")
    engine, unit = (StreamEngine.FLINK, "checkpoint") if is_of_flink(first) else (StreamEngine.SPARK, "batch")
    profile = asked_profile(catalog.engine, engine)
    assert profile is not None, "it is asked for"
    running = (RunningJob if engine is StreamEngine.FLINK else RunningQuery)(checked, catalog, profile)
    reading = running.reading(0)
    if reading is None or reading.unread:
        why = reading.unread if reading is not None else "it is no query over streams"
        raise UsageError(f"what {engine.version} keeps for {checked.statement.name} is not modelled: {why}")
    reports = alerts = 0

    def told(found: list[Alert]) -> None:
        nonlocal reports, alerts
        reports, alerts = reports + 1, alerts + len(found)
        for alert in found:
            show(f"{unit} {alert.batch}: {alert.kind}: {alert.subject}: {alert.message}")

    if is_checkpoint and isinstance(running, RunningQuery):
        told(running.aged(SparkCheckpoint.read(Path(progress))))
    for line in filter(None, chain([first], lines)):
        if record is not None:
            with record.open("a", encoding="utf-8") as out:
                out.write(f"{line}\n")
        if isinstance(running, RunningJob):
            told(running.take(job_progress(line, progress)))
        else:
            told(running.take(progress_of(line, progress)))
    number = "no alert" if not alerts else "1 alert" if alerts == 1 else f"{alerts} alerts"
    of = {"checkpoint": ("report", "reports"), "batch": ("batch", "batches")}[unit]
    show(f"{checked.statement.name}: {reports} {of[reports != 1]}, {number}")
    sys.exit(int(alerts > 0))


def _lines(progress: str, every: float) -> Iterator[str]:
    """The reports: live ones of a Flink job, or the lines of a file."""
    from streambound.synopsis_exec.flink_progress import live_answers

    if progress.startswith(("http://", "https://")):
        yield from live_answers(progress, every)
        return
    with click.open_file(progress, encoding="utf-8") as lines:
        yield from filter(None, map(str.strip, lines))
