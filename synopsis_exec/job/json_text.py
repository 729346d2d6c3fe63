"""Part of every job: a line of JSON as a row, good or with the reason why not, in Spark SQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from streambound.synopsis_exec.job.reasons import reason_text
from streambound.synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def quoted(name: str) -> str:
    """A column name in Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def parse_json(source: Source, lines: DataFrame, records: bool = False, beside: bool = False) -> DataFrame:
    """Parse JSON objects, which are `value`; ``records`` may have none.

    As an array that ends with a NULL of ours, so that text after the object is an error too. Only where a column is
    NULL and does not plainly say so, a second look at the object says whether it is missing or not of its type.
    ``beside`` it is `metadata`, whose columns are the row's, whatever the object says.
    """
    tests = {reason_text("no-value"): "value IS NULL"} if records else {}
    tests[reason_text("not-utf8")] = "NOT is_valid_utf8(value)"
    tests[reason_text("not-json")] = "row IS NULL OR size(parsed) <> 2"
    metadata = {column: kind for column, _, kind in source.metadata} if beside else {}
    inside = {column: reason for column, reason in source.missing.items() if column not in metadata}
    for column, reason in inside.items():
        key, absent = sql_text(column), f"row.{quoted(column)} IS NULL"
        if source.mark_columns and column not in source.mark_columns:
            absent += f" AND NOT {source.mark}"
        tests[reason_text("missing-column", column=column)] = f"{absent} AND NOT map_contains_key(fields, {key})"
        tests[reason] = f"{absent} AND fields[{key}] IS NOT NULL"
    for column in metadata:
        tests[source.missing[column]] = f"metadata.{quoted(column)} IS NOT NULL AND row.{quoted(column)} IS NULL"
    doubts = [f"row.{quoted(column)} IS NULL AND NOT {plainly_null(column)}" for column in inside] or ["FALSE"]
    nulls = " OR ".join(f"row.{quoted(column)} IS NULL" for column in inside) or "FALSE"
    # A CASE in a CASE: Spark would compute what the doubts have in common for every row
    again = f"CASE WHEN {' OR '.join(doubts)} THEN get({from_json('MAP<STRING,STRING>')}, 0) END"
    row, raw = "get(parsed, 0)", "value"
    if metadata:
        cells = [f"get(parsed, 0).{quoted(column)} AS {quoted(column)}" for column in inside]
        for column, kind in metadata.items():
            cells.append(f"try_cast(metadata.{quoted(column)} AS {kind}) AS {quoted(column)}")
        row = f"CASE WHEN get(parsed, 0) IS NOT NULL THEN struct({', '.join(cells)}) END"
        raw = "struct(value, metadata)"
    rows = (
        lines.selectExpr("*", f"{from_json(f'STRUCT<{source.schema}>')} AS parsed")
        .selectExpr("*", f"{row} AS row")
        .selectExpr("*", f"CASE WHEN {nulls} THEN {again} END AS fields")
    )
    place = ["place"] * ("place" in lines.columns)
    return rows.selectExpr(f"{raw} AS raw", "row", f"{reasons({**tests, **source.invalid})} AS reason", *place)


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
