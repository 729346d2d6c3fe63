"""Part of every job: streams and relations as parsed rows, each good or with the reason why not."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.synopsis_exec.job.endpoints import located, of_files, settings, with_remedy, with_servers
from streambound.synopsis_exec.job.json_text import parse_json, quoted, reasons
from streambound.synopsis_exec.job.places import place_columns, quarantined, with_lines
from streambound.synopsis_exec.job.reasons import reason_text
from streambound.synopsis_exec.job.source import JobError, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = ("avro", "csv", "json", "orc", "parquet", "text")
"""Formats that are nothing without a path: Spark reads no rows from nowhere."""
PLACED = {"kafka": ("partition", "offset")}
"""Format of a queue -> the columns that say where a record is."""
OF_PATTERNS = "\\{}[]*?"
"""Characters that Spark takes for parts of a pattern in a path."""
AS_THEY_ARE = "__globPaths__"
"""Spark's option, for its own use, whether paths are patterns."""


def is_local(spark: SparkSession) -> bool:
    """Whether Spark runs on this machine alone."""
    return str(spark.sparkContext.master).startswith("local")


def read(spark: SparkSession, source: Source, options: argparse.Namespace, streaming: bool) -> DataFrame:
    """The source's rows as `raw`, `row` (parsed) and `reason` (why a row is bad; NULL for a good one).

    `raw` is a row's text, or what that is made of: see `text_of`.
    """
    check_files(spark, source, options)
    with failing(source, options):
        return rows_of(spark.readStream if streaming else spark.read, source, options, streaming)


@contextmanager
def failing(source: Source, options: argparse.Namespace) -> Iterator[None]:
    """What Spark says of a source as JobError."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:
        why = with_servers(with_remedy(in_one_line(error), source.format), error, options)
        raise JobError("input", f"{source.name} cannot be read: {why}", 3) from error


def rows_of(reader: Any, source: Source, options: argparse.Namespace, streaming: bool) -> DataFrame:
    """As `read`, with Spark's reader of streams or of tables."""
    if are_lines(source, options):
        return json_rows(source, objects_of(reader, source, options, streaming), options)
    path, given = located(source.path, options), settings(source, options)
    reader = reader.options(**given)
    if source.format not in FILES:
        return own_columns(source, load(reader.format(source.format), path))
    broken = {}
    schema = source.typed
    if source.format == "csv":
        broken = {reason_text("not-columns"): "row._corrupt_record IS NOT NULL"}
        schema += ", _corrupt_record STRING"
        if given.get("header") == "true":
            reader = reader.option("enforceSchema", given.get("enforceSchema", "false"))
    rows = load(reader.format(source.format).schema(schema), path).selectExpr("struct(*) AS row")
    tests = {**broken, **source.invalid}
    return rows.selectExpr("row AS raw", "row", f"{reasons(tests)} AS reason")


def read_columns(
    spark: SparkSession, source: Source, options: argparse.Namespace, files: list[str] | None = None
) -> DataFrame:
    """A stream's declared columns, of files that have types of their own; or those of some files."""
    if files is None:
        check_files(spark, source, options)
    with failing(source, options):
        if files is not None:
            return load_files(spark.read.format(source.format or "").schema(source.typed), files)
        reader = spark.readStream.options(**settings(source, options)).format(source.format or "")
        return load(reader.schema(source.typed), located(source.path, options))


def are_lines(source: Source, options: argparse.Namespace) -> bool:
    """Whether a source's rows are JSON objects."""
    return bool(options.input or source.payload)


def read_lines(
    spark: SparkSession, source: Source, options: argparse.Namespace, files: list[str] | None = None
) -> DataFrame:
    """A stream's JSON objects as `value`; or those of some files."""
    with failing(source, options):
        if files is None:
            return objects_of(spark.readStream, source, options, streaming=True)
        return not_blank(load_files(spark.read.format("text"), files))


def objects_of(reader: Any, source: Source, options: argparse.Namespace, streaming: bool) -> DataFrame:
    """A source's JSON objects as `value`; blank lines are no rows of a file."""
    if options.input:
        files = input_files(source, Path(options.input))
        if streaming and in_order_of_names(files):
            reader = reader.option("maxFilesPerTrigger", options.files_per_batch)
        if files[1:]:
            reader = reader.option("pathGlobFilter", "*.jsonl")
        lines = load(reader.format("text"), str(files[0].parent if files[1:] else files[0]))
    else:
        kind = "text" if source.format == "json" else source.format
        rows = load(reader.options(**settings(source, options)).format(kind), located(source.path, options))
        value = f"CAST({quoted(source.payload)} AS STRING) AS value"
        lines = rows.selectExpr(value, *metadata_of(rows, source), *place_of(rows, source))
    return not_blank(lines) if of_files(source, options) else lines


def metadata_of(rows: DataFrame, source: Source) -> list[str]:
    """What a source has beside its JSON objects, as `metadata`: bytes are taken for texts."""
    if not source.metadata:
        return []
    kinds = {name.lower(): kind for name, kind in rows.dtypes}
    cells = []
    for column, theirs, _ in source.metadata:
        value = f"CAST({quoted(theirs)} AS STRING)" if kinds.get(theirs.lower()) == "binary" else quoted(theirs)
        cells.append(f"{value} AS {quoted(column)}")
    return [f"struct({', '.join(cells)}) AS metadata"]


def place_of(rows: DataFrame, source: Source) -> list[str]:
    """Where a record of a queue is, as `place`, as far as the source says it."""
    columns = [name for name in PLACED.get(source.format or "", ()) if name in rows.columns]
    return [f"struct({', '.join(map(quoted, columns))}) AS place"] if columns else []


def not_blank(lines: DataFrame) -> DataFrame:
    """The lines that are rows of a file."""
    return lines.where("trim(value) <> ''")


def json_rows(source: Source, lines: DataFrame, options: argparse.Namespace) -> DataFrame:
    """As `read`, from JSON objects."""
    return parse_json(source, lines, not of_files(source, options), bool(source.metadata and not options.input))


def own_columns(source: Source, rows: DataFrame) -> DataFrame:
    """The rows of a source that has columns of its own: those declared are cast to their types."""
    from pyspark.sql.types import StructType

    there = {name.lower() for name in rows.columns}
    check_columns(source, list(rows.columns))
    wanted: Any = StructType.fromDDL(source.typed)
    casts = (f"try_cast({quoted(f.name)} AS {f.dataType.simpleString()}) AS {quoted(f.name)}" for f in wanted.fields)
    tests = {
        reason: f"raw.{quoted(name)} IS NOT NULL AND row.{quoted(name)} IS NULL"
        for name, reason in source.missing.items()
        if name.lower() in there and name in wanted.names
    }
    both = rows.selectExpr("struct(*) AS raw", f"struct({', '.join(casts)}) AS row")
    return both.selectExpr("raw", "row", f"{reasons({**tests, **source.invalid})} AS reason")


def check_columns(source: Source, found: list[str]) -> None:
    """Raise JobError for a declared column that a source does not have."""
    there = {name.lower() for name in found}
    absent = next((name for name in source.missing if name.lower() not in there), None)
    if absent is not None:
        message = f"{source.name} cannot be read: its source has no column {absent}, only {', '.join(found) or 'none'}"
        raise JobError("input", message, 3)


def check_files(spark: SparkSession, source: Source, options: argparse.Namespace) -> None:
    """Raise JobError for Parquet, ORC or Avro files without a declared column: Spark would read NULLs."""
    if options.input or source.format not in ("avro", "orc", "parquet"):
        return
    reader = spark.read.options(**settings(source, options)).format(source.format)
    try:
        there = load(reader, located(source.path, options))
        names = list(there.columns)
    except JobError:
        raise
    except Exception:  # no file is there yet, or none that can be read: the run itself says so
        return
    check_columns(source, names)


def in_one_line(error: BaseException) -> str:
    """What Spark says, without its code, its number and Java's stack."""
    text = str(error).strip() or type(error).__name__
    text = re.sub(r"\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ", "", text)
    coded = re.search(r"\[[A-Z][A-Z0-9_.]+\] (.*)", text)
    causes = re.findall(r"^(?:Caused by)?: [\w.$]+: (.+)$", text, re.M)
    return re.sub(r" SQLSTATE: .*", "", coded.group(1) if coded else [text.split("\n")[0], *causes][-1])


def load(reader: Any, path: str) -> DataFrame:
    """Load a path. A stream of one file is a directory with a filter: Spark accepts nothing else."""
    if not path:
        return reader.load()  # type: ignore[no-any-return]
    file = Path(path)
    if file.exists() and set(str(file.absolute())) & {*OF_PATTERNS}:
        message = f"Spark takes the characters \\ {{ }} [ ] * ? in {file.absolute()} for a pattern; rename it"
        raise JobError("input", message, 3)
    if file.is_file():
        return reader.option("pathGlobFilter", file.name).load(str(file.parent))  # type: ignore[no-any-return]
    return reader.load(path)  # type: ignore[no-any-return]


def load_files(reader: Any, files: list[str]) -> DataFrame:
    """Load some files, whatever their names are made of."""
    return reader.option(AS_THEY_ARE, "false").load([f"file:{file}" for file in files])  # type: ignore[no-any-return]


def input_files(source: Source, folder: Path) -> list[Path]:
    """`NAME.jsonl`, or the `.jsonl` files in the directory `NAME`."""
    single, several = folder / f"{source.name}.jsonl", folder / source.name
    files = [single] if single.is_file() else sorted(several.glob("*.jsonl"))
    if not files:
        raise JobError("input", f"there is no {single}, and no directory {several} with .jsonl files", 3)
    hidden = next((file for file in files if file.name.startswith(("_", "."))), None)
    if hidden is not None:
        raise JobError("input", f"Spark ignores {hidden}, because its name starts with {hidden.name[0]}", 3)
    return files


def in_order_of_names(files: list[Path]) -> bool:
    """Whether Spark, which goes by modification times, would read the files in the order of their names."""
    times = [file.stat().st_mtime_ns // 1_000_000 for file in files]
    if all(earlier < later for earlier, later in pairwise(times)):
        return True
    what = "the modification times do not follow the names of the files, so they are read as one batch"
    print(f"note: {files[0].parent}: {what}", file=sys.stderr)
    return False


def text_of(raw: str, kind: str) -> str:
    """The text of a row that came as text, or as columns."""
    return f"make_valid_utf8({raw if kind == 'string' else f'to_json({raw})'})"


def relation_rows(
    spark: SparkSession, source: Source, options: argparse.Namespace
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a static relation, and its bad rows; raises JobError for more than the catalog declares."""
    values = ", ".join(f"{text} AS {quoted(column)}" for column, text in source.values.items())
    struct = f"struct({values})" if values else "named_struct('one', 1)"
    rows = read(spark, source, options, streaming=False)
    told = rows.selectExpr(
        f"CASE WHEN reason IS NOT NULL THEN {text_of('raw', dict(rows.dtypes)['raw'])} END AS text",
        "reason",
        f"CASE WHEN reason IS NULL THEN {struct} END AS row",
        *place_columns(rows, "reason IS NOT NULL"),
    )
    with failing(source, options):
        table = told.toArrow()
    good = [row for row in table.column("row").to_pylist() if row is not None]
    wrong = table.filter(table.column("reason").is_valid()).drop(["row"]).to_pylist()
    bad = with_lines([quarantined("relation", source.name, row.pop("reason"), **row) for row in wrong], options)
    if source.most is not None and len(good) > source.most:
        what = f"relation {source.name} has {len(good)} rows, more than the catalog's rows = {source.most}"
        raise JobError("rows", what, 1)
    for row in good:
        widen(source, row)
    return good, bad


def widen(source: Source, row: dict[str, Any]) -> None:
    """Turn integers that travelled as strings back into integers."""
    for column in source.large:
        row[column] = None if row[column] is None else int(row[column])
