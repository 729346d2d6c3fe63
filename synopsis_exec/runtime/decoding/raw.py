"""Raw rows: what a `Decoder` is given of a source, as an Arrow table, and what Spark selects to make it.

The rows of a source with a payload, and lines of files, are JSON objects, in the column ``value``; those of others are
the declared columns. Beside these there may be ``file`` and ``line``, or ``partition`` and ``offset``, which say where
a row is. Where Spark cast columns there are ``fault``, the name of a column that could not be, or an empty text for a
row that is none, and ``text``, the row as it came. ``length`` is there where a value is only the beginning of one with
so many bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from streambound_runtime.decoding.quoting import quoted, sql_text
from streambound_runtime.decoding.sql_types import spark_name
from streambound_runtime.decoding.typed_columns import columns_read
from streambound_runtime.spec import Relation, Stream, TableColumn

LONGEST_LINE = 1 << 24
"""Bytes of a row that is a JSON object."""
PLACES = {"file": "STRING", "line": "BIGINT", "partition": "INT", "offset": "BIGINT"}
"""The columns that say where a row is, with their types in Spark SQL."""


def own(table: Stream | Relation, name: str) -> str:
    """A raw table's name for ``value``, ``file`` and so on, with enough leading `_` to differ from declared columns.

    >>> own(Relation("R", (TableColumn("file", "string"),), ()), "file")
    '_file'
    """
    declared = {column.name.lower() for column in table.columns}
    while name in declared:
        name = f"_{name}"
    return name


def in_objects(table: Stream | Relation) -> bool:
    """Whether a source's rows are JSON objects; without a source they are lines of files."""
    return table.source is None or bool(table.source.payload)


def of_files(table: Stream | Relation) -> bool:
    """Whether JSON objects are lines of files, of which blank ones are no rows; else they are records of a queue."""
    return table.source is None or table.source.format in ("json", "text")


def selected(table: Stream | Relation, types: Mapping[str, str]) -> list[str]:
    """The raw rows of a source that Spark reads, in Spark SQL over its columns, which have these types by name.

    Columns are cast as `try_cast` does, but those of CSV, whose own column `_corrupt_record` says which rows are none.
    """
    source, kinds = table.source, {name.lower(): kind for name, kind in types.items()}
    objects, theirs = [], {column.name: column.name for column in columns_read(table)}
    if source is not None and source.payload:
        objects, theirs = [_record(table, f"CAST({quoted(source.payload)} AS STRING)")], dict(source.metadata)
    given = {
        name: f"CAST({quoted(of)} AS STRING)" if objects and kinds.get(of.lower()) == "binary" else quoted(of)
        for name, of in theirs.items()
    }
    cast, faults = {}, ["WHEN `_corrupt_record` IS NOT NULL THEN ''"]
    if "_corrupt_record" not in kinds:
        declared = [column for column in table.columns if kinds.get(theirs.get(column.name, "").lower()) != column.type]
        cast = {column.name: _cast(given[column.name], column) for column in declared if column.name in theirs}
        faults = [f"WHEN {given[of]} IS NOT NULL AND {text} IS NULL THEN {sql_text(of)}" for of, text in cast.items()]
    cells = ", ".join(f"{text} AS {quoted(name)}" for name, text in given.items())
    row = f"struct({objects[0]} AS value, struct({cells}) AS metadata)" if objects else "struct(*)"
    fault = f"CASE {' '.join(faults)} END"
    return [
        *(f"{text} AS {quoted(own(table, 'value'))}" for text in objects),
        *(f"{cast.get(name, text)} AS {quoted(name)}" for name, text in given.items()),
        *([f"{fault} AS {quoted(own(table, 'fault'))}"] if faults else []),
        *([f"CASE WHEN {fault} IS NOT NULL THEN to_json({row}) END AS {quoted(own(table, 'text'))}"] * bool(faults)),
    ]


def _record(table: Stream | Relation, value: str) -> str:
    """A record of a queue as JSON: its value, or, for upserts, its key and value."""
    if not isinstance(table, Stream) or table.records is None or table.records.debezium:
        return value
    key, value = (f"coalesce({text}, 'null')" for text in ("CAST(`key` AS STRING)", value))
    return f"""concat('{{"key": ', {key}, ', "value": ', {value}, '}}')"""


def _cast(text: str, column: TableColumn) -> str:
    return f"try_cast({text} AS {spark_name(column.type)})"
