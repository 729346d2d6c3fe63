"""`streambound compile`: writes the Spark job of a bounded query."""

from __future__ import annotations

from pathlib import Path

import click

from streambound.commands.options import OutputFile, QueryArgument, common_options
from streambound.commands.saying import doing
from streambound.commands.statement import job_of, write_file


@click.command("compile")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="Where to; default: print it.")
@click.option("--check", is_flag=True,
              help="Write nothing: exit with 1 if FILE is not what would be written, and say why.")  # fmt: skip
@common_options
def compile_(
    query: str, name: str | None, output: Path | None, check: bool, catalog_file: Path | None, color: bool | None,
    debug: bool,
) -> None:  # fmt: skip
    """Write the Spark Structured Streaming job of a bounded QUERY: one file that needs pyspark and nothing of ours.

    The same query, catalog and version of streambound give the same file, byte for byte; its header has their hashes.
    """
    from streambound.criteria.check import find_statement

    with doing("compiling the query"):
        catalog, checked = find_statement(query, name, catalog_file)
        text = job_of(catalog, checked)
    if check:
        _check(output, text, query)
        return
    if output is None:
        click.echo(text, nl=False)
        return
    write_file(output, text)
    click.echo(f"wrote {output}: run it with python {output} --help, or through spark-submit", err=True)


def _check(output: Path | None, text: str, query: str) -> None:
    """Compare a job file with the job; raises StaleJobError where it differs, InputError where it cannot be read."""
    from streambound.analyzer.errors import InputError, StaleJobError, UsageError
    from streambound.synopsis_exec.stale import causes, difference

    if output is None:
        raise UsageError("--check compares with a file", remedy="name the job with -o FILE")
    try:
        old = output.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read the job: {error.strerror}", file=str(output)) from error
    except UnicodeDecodeError as error:
        raise InputError("the job is not UTF-8 text", file=str(output)) from error
    if found := causes(old, text):
        click.echo("\n".join(difference(old, text, str(output))))
        remedy = f"compile it again: streambound compile {query} -o {output}"
        raise StaleJobError(f"the job is out of date: {'; '.join(found)}", file=str(output), remedy=remedy)
    click.echo(f"{output} is up to date", err=True)
