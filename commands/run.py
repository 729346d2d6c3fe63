"""`streambound run`: runs a bounded query on Spark over recorded streams."""

from __future__ import annotations

from pathlib import Path

import click

from commands.options import OutputFile, PathArgument, QueryArgument, common_options
from commands.running import run_job
from commands.statement import job_of


@click.command("run")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--input", "input_dir", type=PathArgument(), metavar="DIR",
              help="Holds NAME.jsonl, or a directory NAME of .jsonl files, for each stream and relation; "
                   "by default the catalog's sources.")  # fmt: skip
@click.option("--output", type=OutputFile(), metavar="FILE", required=True, help="The results, as JSON lines.")
@click.option("--quarantine", type=OutputFile(), metavar="FILE",
              help="Rows that cannot be used, with the reason; default: OUTPUT.quarantine.jsonl.")  # fmt: skip
@click.option("--checkpoint", type=PathArgument(), metavar="DIR",
              help="Where Spark and the job keep their state; by default a temporary directory.")  # fmt: skip
@click.option("--multiplicity", type=click.Choice(("count", "rows")), default="count", show_default=True,
              help="Write a result once, with _mult, or as many times as there are duplicates.")  # fmt: skip
@click.option("--driver-rows", type=click.IntRange(0), metavar="N",
              help="Fold a micro-batch on the driver where no more useful rows are left of it, else on the executors; "
                   "by default the job's own limit.")  # fmt: skip
@common_options
def run(
    query: str, name: str | None, input_dir: Path | None, output: Path, quarantine: Path | None,
    checkpoint: Path | None, multiplicity: str, driver_rows: int | None, catalog_file: Path | None,
    color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compile a bounded QUERY, run it on Spark over recorded streams and write its results.

    Each line of the output is a result: the select list, _ts (when it became true) and _mult (how many duplicates).
    The job stops with exit status 1 when its synopses exceed the proved bound.
    """
    from criteria.check import find_statement
    from reports.progress import batch_line

    catalog, checked = find_statement(query, name, catalog_file)
    quarantine = quarantine or output.with_name(output.name + ".quarantine.jsonl")
    job = job_of(catalog, checked)
    base = Path(catalog.file).parent
    lines = run_job(
        job,
        input_dir,
        base,
        output,
        quarantine,
        checkpoint,
        lambda r: click.echo(batch_line(r), err=True),
        multiplicity,
        driver_rows,
    )
    click.echo("\n".join(lines))
