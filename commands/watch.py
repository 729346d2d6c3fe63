"""`streambound watch`: a running Spark query, by its progress reports, against what was proved of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from streambound.commands.options import PathArgument, QueryArgument, common_options
from streambound.commands.saying import show


@click.command("watch")
@click.argument("query", type=QueryArgument())
@click.argument("progress", type=PathArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@common_options
def watch(
    query: str, progress: Path, name: str | None, catalog_file: Path | None, color: bool | None, debug: bool
) -> None:
    """Compare a running Spark query with what was proved of QUERY, as it is written for Spark.

    PROGRESS is a file with the JSON of a StreamingQueryProgress in each line, as a StreamingQueryListener writes it
    (event.progress.json), or - for standard input: tail -f progress.jsonl | streambound watch q.sql -

    \b
    An alert has the batch, and says what is not as it was proved:
      rows kept      an operator keeps more rows than it can at the catalog's max_rate and the watermark
      rate           more rows came than a stream's max_rate
      watermark      it stands still, or falls behind: rows stay for longer
      late rows      rows came later than the watermark's delay
      another query  it has other operators
    Exit status 1: there was an alert.
    """
    from streambound.analyzer.engine_profiles import StreamEngine, asked_profile
    from streambound.analyzer.errors import UsageError
    from streambound.criteria.check import find_statement
    from streambound.gate.running_query import RunningQuery
    from streambound.synopsis_exec.spark_progress import progress_of

    catalog, checked = find_statement(query, name, catalog_file)
    profile = asked_profile(catalog.engine, StreamEngine.SPARK)
    assert profile is not None, "it is asked for"
    running = RunningQuery(checked, catalog, profile)
    reading = running.reading(0)
    if reading is None or reading.unread:
        why = reading.unread if reading is not None else "it is no query over streams"
        raise UsageError(f"what Spark keeps for {checked.statement.name} is not modelled: {why}")
    batches = alerts = 0
    with click.open_file(str(progress), encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                batches += 1
                for alert in running.take(progress_of(line, str(progress))):
                    alerts += 1
                    show(f"batch {alert.batch}: {alert.kind}: {alert.subject}: {alert.message}")
    found = "no alert" if not alerts else "1 alert" if alerts == 1 else f"{alerts} alerts"
    show(f"{checked.statement.name}: {batches} {'batch' if batches == 1 else 'batches'}, {found}")
    sys.exit(int(alerts > 0))
