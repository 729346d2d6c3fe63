"""Part of every job: streams and relations as parsed rows, each good or with the reason why not."""

from __future__ import annotations

import argparse
import json
import re
import sys
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synopsis_exec.job.arrow import SLOTS, slot_type
from synopsis_exec.job.given import STREAMS
from synopsis_exec.job.source import JobError, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = ("avro", "csv", "json", "orc", "parquet", "text")
"""Formats that are nothing without a path: Spark reads no rows from nowhere."""
TOPICS = ("assign", "subscribe", "subscribepattern", "topic")
"""Options that say which records a source has."""


def quoted(name: str) -> str:
    """A column name in Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def read(spark: SparkSession, source: Source, options: argparse.Namespace, streaming: bool) -> DataFrame:
    """The source's rows as `raw`, `row` (parsed) and `reason` (why a row is bad; NULL for a good one).

    `raw` is a row's text, or what that is made of: see `text_of`.
    """
    check_files(spark, source, options)
    try:
        return rows_of(spark.readStream if streaming else spark.read, source, options, streaming)
    except JobError:
        raise
    except Exception as error:
        raise JobError("input", f"{source.name} cannot be read: {in_one_line(error)}", 3) from error


def rows_of(reader: Any, source: Source, options: argparse.Namespace, streaming: bool) -> DataFrame:
    """As `read`, with Spark's reader of streams or of tables."""
    if options.input:
        files = input_files(source, Path(options.input))
        if streaming and in_order_of_names(files):
            reader = reader.option("maxFilesPerTrigger", options.files_per_batch)
        if files[1:]:
            reader = reader.option("pathGlobFilter", "*.jsonl")
        return parse_json(source, load(reader.format("text"), str(files[0].parent if files[1:] else files[0])))
    path = located(source.path, options)
    reader = reader.options(**source.options)
    if source.payload:
        lines = load(reader.format("text" if source.format == "json" else source.format), path)
        text = f"CAST({quoted(source.payload)} AS STRING) AS value"
        return parse_json(source, lines.selectExpr(text), blank=source.format in ("json", "text"))
    if source.format not in FILES:
        return own_columns(source, load(reader.format(source.format), path))
    broken = {}
    schema = source.typed
    if source.format == "csv":
        broken = {"not a row of the declared columns": "row._corrupt_record IS NOT NULL"}
        schema += ", _corrupt_record STRING"
        if source.options.get("header") == "true":
            reader = reader.option("enforceSchema", source.options.get("enforceSchema", "false"))
    rows = load(reader.format(source.format).schema(schema), path).selectExpr("struct(*) AS row")
    tests = {**broken, **source.invalid}
    return rows.selectExpr("row AS raw", "row", f"{reasons(tests)} AS reason")


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
    try:
        there = load(spark.read.options(**source.options).format(source.format), located(source.path, options))
        names = list(there.columns)
    except JobError:
        raise
    except Exception:  # no file is there yet, or none that can be read: the run itself says so
        return
    check_columns(source, names)


def in_one_line(error: Exception) -> str:
    """What Spark says, without its code, its number and Java's stack."""
    text = str(error).strip() or type(error).__name__
    text = re.sub(r"\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ", "", text)
    coded = re.search(r"\[[A-Z][A-Z0-9_.]+\] (.*)", text)
    causes = re.findall(r"^(?:Caused by)?: [\w.$]+: (.+)$", text, re.M)
    return re.sub(r" SQLSTATE: .*", "", coded.group(1) if coded else [text.split("\n")[0], *causes][-1])


def located(path: str, options: argparse.Namespace) -> str:
    """A path of the catalog: a relative one starts at `--base`, one that names its file system is as it is."""
    return str(Path(options.base or ".") / path) if path and ":" not in path else path


def identity(source: Source, options: argparse.Namespace) -> list[str]:
    """What makes a source another one for a checkpoint."""
    if options.input:
        return [source.name, str(Path(options.input).absolute())]
    path = located(source.path, options)
    topics = [f"{key}={value}" for key, value in sorted(source.options.items()) if key.lower() in TOPICS]
    return [source.name, source.format or "", str(Path(path).absolute()) if path and ":" not in path else path, *topics]


def load(reader: Any, path: str) -> DataFrame:
    """Load a path. A stream of one file is a directory with a filter: Spark accepts nothing else."""
    if not path:
        return reader.load()  # type: ignore[no-any-return]
    file = Path(path)
    if file.exists() and set(str(file.absolute())) & set("\\{}[]*?"):
        message = f"Spark takes the characters \\ {{ }} [ ] * ? in {file.absolute()} for a pattern; rename it"
        raise JobError("input", message, 3)
    if file.is_file():
        return reader.option("pathGlobFilter", file.name).load(str(file.parent))  # type: ignore[no-any-return]
    return reader.load(path)  # type: ignore[no-any-return]


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


def parse_json(source: Source, lines: DataFrame, blank: bool = True) -> DataFrame:
    """Parse one JSON object a line; blank lines are no rows of a file.

    As an array that ends with a NULL of ours, so that text after the object is an error too. Only where a column is
    NULL and does not plainly say so, a second look at the object says whether it is missing or not of its type.
    """
    tests = {} if blank else {"the record has no value": "value IS NULL"}
    tests |= {"not UTF-8": "NOT is_valid_utf8(value)", "not a JSON object": "row IS NULL OR size(parsed) <> 2"}
    for column, reason in source.missing.items():
        key, absent = sql_text(column), f"row.{quoted(column)} IS NULL"
        if source.mark_columns and column not in source.mark_columns:
            absent += f" AND NOT {source.mark}"
        tests[f"{column} is missing"] = f"{absent} AND NOT map_contains_key(fields, {key})"
        tests[reason] = f"{absent} AND fields[{key}] IS NOT NULL"
    doubts = [f"row.{quoted(column)} IS NULL AND NOT {plainly_null(column)}" for column in source.missing]
    nulls = " OR ".join(f"row.{quoted(column)} IS NULL" for column in source.missing)
    # A CASE in a CASE: Spark would compute what the doubts have in common for every row
    again = f"CASE WHEN {' OR '.join(doubts)} THEN get({from_json('MAP<STRING,STRING>')}, 0) END"
    rows = (
        lines.where("trim(value) <> ''" if blank else "TRUE")
        .selectExpr("value", f"{from_json(f'STRUCT<{source.schema}>')} AS parsed")
        .selectExpr("value", "parsed", "get(parsed, 0) AS row")
        .selectExpr("*", f"CASE WHEN {nulls} THEN {again} END AS fields")
    )
    return rows.selectExpr("value AS raw", "row", f"{reasons({**tests, **source.invalid})} AS reason")


def plainly_null(column: str) -> str:
    """Whether a row says `"column": null`: seen without parsing, in an object without escapes and nested values."""
    flat = "instr(value, '\\\\') = 0 AND instr(value, '[') = 0 AND locate('{', value, instr(value, '{') + 1) = 0"
    name = json.dumps(column, ensure_ascii=False)
    said = (f"contains(value, {sql_text(f'{name}:{space}null')})" for space in ("", " "))
    return f"({flat} AND ({' OR '.join(said)}))"


def from_json(schema: str) -> str:
    """The column `value` and a NULL after it, parsed as an array."""
    options = "map('allowSingleQuotes', 'false', 'enableDateTimeParsingFallback', 'false')"
    return f"from_json(concat('[', value, ',null]'), {sql_text(f'ARRAY<{schema}>')}, {options})"


def reasons(tests: dict[str, str]) -> str:
    """The first reason whose condition is true; NULL when none is."""
    cases = " ".join(f"WHEN {condition} THEN {sql_text(reason)}" for reason, condition in tests.items())
    return f"CASE {cases} END" if cases else "CAST(NULL AS STRING)"


def sql_text(text: str) -> str:
    """A string literal in Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def tagged(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """All streams as one: `source` (a number), `reason`, `ts`, `useful`, and the columns of values.

    `raw_n` has the rows of source n. What crosses from here to a batch is made for every row, whether that is needed
    or not; so the texts of bad rows are made there, by `row_text`. `part` is the number of a row's partition. For a
    punctuation `mark` says from when to when it ends time, and `ts` and the values are NULL.
    """
    parts = []
    for number, source in enumerate(STREAMS):
        time, marks = source.values[source.time or ""], source.mark != "FALSE"
        good = f"reason IS NULL AND NOT {source.mark}" if marks else "reason IS NULL"
        column_of = {slot: column for column, slot in source.slots.items()}
        columns = [
            f"{number} AS source",
            f"{source.part} AS part",
            f"raw AS raw_{number}",
            "reason",
            f"CASE WHEN {good} THEN CAST({time} AS BIGINT) END AS ts",
            f"({source.useful}){f' AND NOT {source.mark}' if marks else ''} AS useful",
            *(f"{slot_text(source, slot, column_of.get(slot), good)} AS {slot}" for slot in SLOTS),
        ]
        if marks:
            mark = f"struct(CAST({source.since} AS BIGINT) AS low, CAST({time} AS BIGINT) AS high)"
            columns.append(f"CASE WHEN reason IS NULL AND {source.mark} THEN {mark} END AS mark")
        parts.append(read(spark, source, options, streaming=True).selectExpr(*columns))
    return reduce(lambda together, part: together.unionByName(part, allowMissingColumns=True), parts)


def row_text(frame: DataFrame) -> str:
    """A row's text, in Spark SQL over the columns of `tagged`."""
    kinds = dict(frame.dtypes)
    cases = (f"WHEN {n} THEN {text_of(f'raw_{n}', kinds[f'raw_{n}'])}" for n in range(len(STREAMS)))
    return f"CASE source {' '.join(cases)} END"


def text_of(raw: str, kind: str) -> str:
    """The text of a row that came as text, or as columns."""
    return f"make_valid_utf8({raw if kind == 'string' else f'to_json({raw})'})"


def slot_text(source: Source, slot: str, column: str | None, good: str) -> str:
    """What a row of a source has in a slot; a bad one has anything there, but no text, which may be none."""
    kind = slot_type(slot)
    if column is None:
        return f"CAST(NULL AS {kind})"
    value = f"CAST({source.values[column]} AS {kind})"
    return f"CASE WHEN {good} THEN {value} END" if kind == "STRING" else value


def relation_rows(
    spark: SparkSession, source: Source, options: argparse.Namespace
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a static relation, and its bad rows; raises JobError for more than the catalog declares."""
    values = ", ".join(f"{text} AS {quoted(column)}" for column, text in source.values.items())
    struct = f"struct({values})" if values else "named_struct('one', 1)"
    rows = read(spark, source, options, streaming=False)
    table = rows.selectExpr(
        f"CASE WHEN reason IS NOT NULL THEN {text_of('raw', dict(rows.dtypes)['raw'])} END AS text",
        "reason",
        f"CASE WHEN reason IS NULL THEN {struct} END AS row",
    ).toArrow()
    good = [row for row in table.column("row").to_pylist() if row is not None]
    texts, why = table.column("text").to_pylist(), table.column("reason").to_pylist()
    bad = [
        {"stream": source.name, "reason": reason, "row": text}
        for text, reason in zip(texts, why, strict=True)
        if reason is not None
    ]
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
