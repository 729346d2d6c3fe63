"""`streambound compile`: writes the Spark job of a bounded query."""

from __future__ import annotations

from pathlib import Path

import click

from commands.options import OutputFile, common_options
from commands.statement import job_of, write_file


@click.command("compile")
@click.argument("query")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="Where to; default: print it.")
@common_options
def compile_(
    query: str, name: str | None, output: Path | None, catalog_file: Path | None, color: bool | None, debug: bool
) -> None:
    """Write the Spark Structured Streaming job of a bounded QUERY: one file that needs pyspark and nothing of ours."""
    from criteria.check import find_statement

    catalog, checked = find_statement(query, name, catalog_file)
    text = job_of(catalog, checked)
    if output is None:
        click.echo(text, nl=False)
        return
    write_file(output, text)
    click.echo(f"wrote {output}: run it with python {output} --help, or through spark-submit", err=True)
