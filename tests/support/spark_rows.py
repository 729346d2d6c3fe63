"""Which rows are good, why others are not, and the good ones encoded: by Spark's own parser and casts, in Spark SQL.

The decoder is compared with it; punctuations are not told apart from rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family, parse_type
from streambound_runtime.spec import Relation, Stream, Value
from support import told_reasons as reasons
from support.row_sql import cell, encoded, is_large, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Table = Stream | Relation
_TINY = ("tinyint", "byte")


def rows_of_lines(table: Table, lines: DataFrame, records: bool = False) -> DataFrame:
    """JSON objects, which are `value`, as `raw`, `row` (parsed) and `reason` (NULL for a good one).

    ``records`` may have none; what they have beside it is `metadata`, whose columns are the row's, whatever the object
    says. An object is parsed as an array that ends with a NULL of ours, so that text after it is an error too.
    """
    tests = {reasons.NO_VALUE: "value IS NULL"} if records else {}
    tests[reasons.NOT_UTF8] = "NOT is_valid_utf8(value)"
    tests[reasons.NOT_JSON] = "row IS NULL OR size(parsed) <> 2"
    metadata = {name for name, _ in table.source.metadata} if records and table.source is not None else set()
    columns = sorted(_columns(table), key=lambda column: column.name in metadata)  # what is beside is told last
    for column in columns:
        key, absent = sql_text(column.name), f"{cell(column)} IS NULL"
        told = column.name, column.type.name
        if column.name in metadata:
            tests[reasons.not_of_type(*told)] = f"metadata.{quoted(column.name)} IS NOT NULL AND {absent}"
        else:
            tests[reasons.missing(*told)] = f"{absent} AND NOT map_contains_key(fields, {key})"
            tests[reasons.not_of_type(*told)] = f"{absent} AND fields[{key}] IS NOT NULL"
    cells = [
        f"try_cast(metadata.{quoted(c.name)} AS {_own_type(c.type)}) AS {quoted(c.name)}"
        if c.name in metadata
        else f"get(parsed, 0).{quoted(c.name)} AS {quoted(c.name)}"
        for c in columns
    ]
    schema = ", ".join(f"{quoted(column.name)} {_json_type(column.type)}" for column in columns)
    rows = (
        lines.selectExpr("*", f"{_from_json(f'STRUCT<{schema}>')} AS parsed")
        .selectExpr("*", f"CASE WHEN get(parsed, 0) IS NOT NULL THEN struct({', '.join(cells)}) END AS row")
        .selectExpr("*", f"get({_from_json('MAP<STRING,STRING>')}, 0) AS fields")
        .cache()  # else Spark parses an object anew for each test of a column
    )
    raw = "struct(value, metadata)" if metadata else "value"
    return rows.selectExpr(f"{raw} AS raw", "row", f"{_first({**tests, **_contract(table, metadata)})} AS reason")


def metadata_of(rows: DataFrame, table: Table) -> str:
    """What a source has beside its JSON objects: bytes are taken for texts."""
    kinds = {name.lower(): kind for name, kind in rows.dtypes}
    given = table.source.metadata if table.source is not None else ()
    cells = [
        f"{f'CAST({quoted(of)} AS STRING)' if kinds[of.lower()] == 'binary' else quoted(of)} AS {quoted(name)}"
        for name, of in given
    ]
    return f"struct({', '.join(cells)}) AS metadata"


def rows_of_files(table: Table, rows: DataFrame) -> DataFrame:
    """As `rows_of_lines`, of files that have types; a line of CSV that is no row has a `_corrupt_record`."""
    corrupt = {reasons.NOT_COLUMNS: "row._corrupt_record IS NOT NULL"} if "_corrupt_record" in rows.columns else {}
    rows = rows.selectExpr("struct(*) AS row")
    return rows.selectExpr("row AS raw", "row", f"{_first({**corrupt, **_contract(table)})} AS reason")


def rows_of_columns(table: Table, rows: DataFrame) -> DataFrame:
    """As `rows_of_lines`, of a source with columns of its own: those declared are cast to their types."""
    columns = [c for c in _columns(table) if c.type.family is not Family.OTHER or c.name in table.needs]
    casts = (f"try_cast({quoted(c.name)} AS {_own_type(c.type)}) AS {quoted(c.name)}" for c in columns)
    tests = {
        reasons.not_of_type(c.name, c.type.name): f"raw.{quoted(c.name)} IS NOT NULL AND {cell(c)} IS NULL"
        for c in columns
    }
    both = rows.selectExpr("struct(*) AS raw", f"struct({', '.join(casts)}) AS row")
    return both.selectExpr("raw", "row", f"{_first({**tests, **_contract(table)})} AS reason")


def told(table: Table, rows: DataFrame) -> list[Any]:
    """Of each row its encoded values, or why it is bad."""
    names = {*table.needs, *([table.timestamp] if isinstance(table, Stream) else [])}
    columns = [column for column in _columns(table) if column.name in names]
    values = [f"CASE WHEN reason IS NULL THEN {encoded(c)} END AS {quoted(c.name)}" for c in columns]
    large = [column.name for column in columns if is_large(column.type)]
    found = []
    for row in rows.selectExpr(*values, "reason AS `why is it bad`").toArrow().to_pylist():
        reason = row.pop("why is it bad")
        row |= {name: None if row[name] is None else int(row[name]) for name in large}
        found.append(reason or row)
    return found


def bad_texts(rows: DataFrame) -> list[str]:
    """The texts of the bad rows."""
    raw = "raw" if dict(rows.dtypes)["raw"] == "string" else "to_json(raw)"
    texts = rows.where("reason IS NOT NULL").selectExpr(f"make_valid_utf8({raw}) AS text")
    return [str(text) for text in texts.toArrow().column("text").to_pylist()]


# --- conditions -------------------------------------------------------------------------------------------------------


def _contract(table: Table, beside: set[str] | None = None) -> dict[str, str]:
    """Reason -> condition: what makes a well-formed row unusable; texts that are not in JSON may be no UTF-8."""
    return {
        reason: test
        for column in _columns(table)
        for reason, test in _conditions(table, column, beside is None or column.name in beside)
    }


def _conditions(table: Table, column: Column, outside_json: bool) -> Iterator[tuple[str, str]]:
    text, value, family = cell(column), encoded(column), column.type.family
    told_of = column.name, column.type.name
    stream = table if isinstance(table, Stream) else None
    if stream is not None and column.name == stream.timestamp:
        yield reasons.without_time(*told_of), f"{text} IS NULL"
        if family is Family.INTEGER:
            yield reasons.too_early(*told_of), f"{value} < 0"
    if column.type.name in _TINY:
        yield reasons.out_of_range(*told_of), f"{text} NOT BETWEEN -128 AND 127"
    if family is Family.STRING and outside_json:
        yield reasons.not_utf8(*told_of), f"NOT is_valid_utf8({text})"
    if family is Family.DATE:
        yield reasons.outside_years(*told_of), f"{value} NOT BETWEEN {reasons.FIRST_DAY} AND {reasons.LAST_DAY}"
    if family is Family.TIMESTAMP:
        ends = f"{reasons.FIRST_MOMENT} AND {reasons.LAST_MOMENT}"
        yield reasons.outside_years(*told_of), f"{value} NOT BETWEEN {ends}"
    if family is Family.FLOAT:
        yield reasons.not_a_number(*told_of), f"isnan({text})"
    domain = next(declared.domain for declared in table.columns if declared.name == column.name)
    if (length := column.type.length) is not None:
        yield reasons.beyond_length(*told_of), f"length({value}) > {length}"
    if domain is not None and domain.values:
        yield reasons.outside_domain(*told_of), f"{value} NOT IN ({', '.join(map(_literal, domain.values))})"
    elif domain is not None:
        below = [f"{value} < {_literal(domain.low)}"] * (domain.low is not None)
        above = [f"{value} > {_literal(domain.high)}"] * (domain.high is not None)
        yield reasons.outside_domain(*told_of), " OR ".join([*below, *above])
    partitions = stream.arrival.partitions if stream is not None else None
    if partitions is not None and partitions.column == column.name:
        known = f"coalesce({value} IN ({', '.join(map(_literal, partitions.values))}), FALSE)"
        yield reasons.no_partition(*told_of), f"NOT {known}"


def _literal(value: Value | None) -> str:
    if isinstance(value, str):
        return sql_text(value)
    return f"{value!r}D" if isinstance(value, float) else str(value)


def _first(tests: dict[str, str]) -> str:
    """The first reason whose condition is true; NULL when none is."""
    cases = " ".join(f"WHEN {condition} THEN {sql_text(reason)}" for reason, condition in tests.items())
    return f"CASE {cases} END"


# --- types ------------------------------------------------------------------------------------------------------------


def _columns(table: Table) -> list[Column]:
    found = []
    for column in table.columns:
        kind = parse_type(column.type)
        assert kind is not None
        found.append(Column(column.name, kind))
    return found


def schema_of_files(table: Table) -> str:
    """The columns that a file of a format with types has; texts of limited length are strings."""
    columns = [c for c in _columns(table) if c.type.family is not Family.OTHER or c.name in table.needs]
    return ", ".join(f"{quoted(column.name)} {_own_type(column.type)}" for column in columns)


def schema_of_csv(table: Table) -> str:
    """The columns as texts are parsed; of nested and other types only that something is there matters."""
    return ", ".join(f"{quoted(column.name)} {_text_type(column.type)}" for column in _columns(table))


def _own_type(kind: DataType) -> str:
    return "STRING" if kind.family is Family.STRING else kind.name.upper()


def _text_type(kind: DataType) -> str:
    return "STRING" if kind.family is Family.OTHER else _own_type(kind)


def _json_type(kind: DataType) -> str:
    """Spark cuts a JSON number to the 8 bits of a TINYINT, whatever it is."""
    return "INT" if kind.name in _TINY else _text_type(kind)


def _from_json(schema: str) -> str:
    """The column `value` and a NULL after it, parsed as an array."""
    options = "map('allowSingleQuotes', 'false', 'enableDateTimeParsingFallback', 'false')"
    return f"from_json(concat('[', value, ',null]'), {sql_text(f'ARRAY<{schema}>')}, {options})"


def sql_text(text: str) -> str:
    """A string literal in Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
