"""`streambound verify`: runs a job and the original SQL over the same rows, and compares."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import click

from streambound.commands.options import PathArgument, QueryArgument, common_options, emit_mode_option, engine_option
from streambound.commands.saying import Doing, show, show_literal
from streambound.jobs import verification


@click.command("verify")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--input", "input_dir", type=PathArgument(), metavar="DIR",
              help="Recorded streams, as `run --input` takes them; by default streams are generated that fit the "
                   "query and the catalog.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="What all that is random follows.")
@click.option("--runs", type=click.IntRange(1, 1000), default=3, show_default=True,
              help="How many runs, each with other micro-batches (and other generated streams).")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@engine_option
@click.option("--tick", type=click.Choice(("batch", "timestamp")), default="timestamp", show_default=True,
              help="Compare what each timestamp changes, or each micro-batch, as `run` prints by default.")  # fmt: skip
@emit_mode_option
@common_options
def verify(
    query: str, name: str | None, input_dir: Path | None, seed: int, runs: int, form: str,
    engine: str | None, tick: str, emit_mode: str | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compare the job of a bounded QUERY with the SQL itself over the same rows.

    The reference evaluator says what the SQL returns, each operator by its definition; it shares no code with the job.
    With --engine spark the job runs on Spark, and the SQL there as one batch query.

    Every run brings the rows of the streams in another order that the catalog allows (lateness, partitions), in
    micro-batches cut at random places. Results must be equal as multisets at every timestamp, with --tick batch after
    every micro-batch. Where they are not, rows are dropped as long as the difference stays. Rows that break the
    catalog's contract are left out on both sides, and counted; one that the job puts into quarantine without such a
    reason makes a difference.

    \b
    Exit status 1: the results differ, there were none (unless no rows can give one), or the query is not bounded.
    """
    from streambound.criteria.check import find_statement
    from streambound.reports.verify_report import trial_line, verify_json, verify_lines
    from streambound.synopsis_exec.bench import Trial

    catalog, checked = find_statement(query, name, catalog_file, emit_mode=emit_mode)
    numbers = count(1)

    def note(trial: Trial) -> None:
        if form == "text":
            show(trial_line(trial, next(numbers)))

    found = verification(checked, catalog, input_dir, seed, runs, note, Doing(), engine, tick)
    if form == "json":
        show_literal(verify_json(found))
    else:
        show(*verify_lines(found))
    if not found.proved:
        raise SystemExit(1)
