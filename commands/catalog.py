"""`streambound catalog`: a catalog from what a team has already, its declarations and its recorded rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.commands.options import OutputFile, PathArgument, common_options
from streambound.commands.saying import put, say

if TYPE_CHECKING:
    from streambound.importing.tables import ImportedTable

_FORMATS = ("flink", "ksqldb", "risingwave", "dbt", "spark", "avro", "session")


@click.group("catalog")
def catalog() -> None:
    """Make a catalog from what declares your streams already, and from their rows."""


@catalog.command("import")
@click.argument("sources", nargs=-1, metavar="[FILE|TABLE]...")
@click.option("--from", "format_name", type=click.Choice(_FORMATS),
              help="What to read; by default as the suffix says: .sql and .ddl are Flink, .json is Spark, "
                   ".avsc Avro.")  # fmt: skip
@click.option("--name", default="", help="What to call the table, if there is one; by default its name or the file's.")
@click.option("--timestamp", metavar="COLUMN", help="The application time, where the declaration does not say it.")
@click.option("--relation", is_flag=True, help="Declare relations: tables that do not change, without a time.")
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="Where to; default: print it.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def import_(
    sources: tuple[str, ...], format_name: str | None, name: str, timestamp: str | None, relation: bool,
    output: Path | None, debug: bool,
) -> None:  # fmt: skip
    """Print the streams and relations that some declarations make, as a part of streams.toml.

    \b
    streambound catalog import tables.sql                             Flink: CREATE TABLE ... WATERMARK FOR
    streambound catalog import orders.json --timestamp ts             Spark: what df.schema.json() writes
    streambound catalog import order.avsc --timestamp created_at      Avro
    streambound catalog import --from session sales.orders customers  tables of a Spark session

    What has no counterpart is left out and said, in a comment and as a warning; nothing is guessed. A stream whose
    application time is not known is written in comments, and the exit status is 1.
    """
    from streambound.importing.tables import accepted, decided, toml_text

    if timestamp is not None and relation:
        from streambound.analyzer.errors import UsageError

        raise UsageError("a relation has no application time", remedy="leave out --timestamp or --relation")
    tables = [accepted(decided(table, timestamp, relation)) for table in _tables(sources, format_name, name)]
    put(toml_text(tables, ", ".join(sources) or "a Spark session").rstrip("\n"), output)
    for table in tables:
        for note in table.notes:
            say(f"streambound: warning: {table.place}: {note}")
        if table.missing:
            say(f"streambound: error: {table.place}: {table.name} is not declared: {table.missing}")
    sys.exit(1 if any(table.missing for table in tables) else 0)


@catalog.command("measure")
@click.argument("folder", type=PathArgument(), metavar="DIR")
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="Where to; default: print it.")
@common_options
def measure(folder: Path, output: Path | None, catalog_file: Path | None, color: bool | None, debug: bool) -> None:
    """Print what recorded rows suggest to declare: rates, lateness, numbers of rows, and the values of columns.

    \b
    streambound catalog measure data             data/NAME.jsonl or .parquet, or the files in data/NAME
    streambound catalog measure data -o seen.toml

    A contract says what will hold, and a sample what has held: raise what may grow, leave out what may change, and
    copy the rest into streams.toml.
    """
    from streambound.analyzer.catalog import find_catalog, load_catalog
    from streambound.importing.measured import measured

    put(measured(load_catalog(catalog_file or find_catalog(Path.cwd())), folder), output)


def _tables(sources: tuple[str, ...], format_name: str | None, name: str) -> Iterator[ImportedTable]:
    from streambound.analyzer.errors import UsageError
    from streambound.importing.formats import FORMATS, format_of

    if format_name == "session":
        from streambound.importing.spark_session import spark_session

        yield from spark_session(sources)
        return
    if not sources:
        raise UsageError("nothing to import", remedy="name files, or tables with --from session")
    if name and len(sources) > 1:
        raise UsageError("--name is for one file", remedy="import them one by one")
    for source in sources:
        file = Path(source)
        form = next((form for form in FORMATS if form.name == format_name), None) or format_of(file)
        if form is None:
            raise UsageError(
                f"the suffix of {source} does not say what it is", remedy="add --from flink, spark or avro"
            )
        yield from form.read(_text(file), name or (file.stem if form.name == "spark" else ""), source)


def _text(file: Path) -> str:
    from streambound.analyzer.errors import InputError

    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(file)) from error
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", file=str(file)) from error
