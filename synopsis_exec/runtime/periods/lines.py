"""Results as lines of JSON, in order, written as they come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import SqlType, sql_type
from streambound_runtime.results import json_value
from streambound_runtime.row_values import JsonObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MULTIPLICITY = "_mult"
_FIRST = ("_begin", "_end")


def in_order(rows: DataFrame) -> DataFrame:
    """Rows by begin and end, if they have such, then by all their values from left to right, NULL first."""
    first = [name for name in _FIRST if name in rows.columns]
    return rows.orderBy(*(quoted(name) for name in (*first, *(n for n in rows.columns if n not in first))))


def repeated(rows: DataFrame) -> DataFrame:
    """Each row as often as its multiplicity says, without that."""
    if MULTIPLICITY not in rows.columns:
        return rows
    names = [quoted(name) for name in rows.columns if name != MULTIPLICITY]
    return rows.selectExpr(*names, f"explode(sequence(1L, {MULTIPLICITY})) AS _copy").drop("_copy")


def write_lines(file: TextIO, rows: DataFrame) -> int:
    """Write rows, a line each; returns how many. They come to the driver a partition at a time."""
    kinds = [(name, sql_type(kind)) for name, kind in rows.dtypes]
    encoded = rows.selectExpr(*(_encoded(name, kind) for name, kind in kinds))
    heads = [f"{json.dumps(name, ensure_ascii=False)}:" for name, _ in kinds]
    number = 0
    for row in encoded.toLocalIterator():
        cells = (head + _text(value, kind) for head, value, (_, kind) in zip(heads, row, kinds, strict=True))
        file.write("{" + ",".join(cells) + "}\n")
        number += 1
    return number


def _encoded(name: str, kind: SqlType) -> str:
    """A column as `json_value` takes it: days, microseconds and unscaled digits."""
    column = quoted(name)
    match kind.family:
        case "date":
            return f"unix_date({column}) AS {column}"
        case "timestamp" if kind.local:
            return f"date_format({column}, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\") AS {column}"
        case "timestamp":
            return f"unix_micros({column}) AS {column}"
        case "decimal":
            return f"CAST({column} AS STRING) AS {column}"
        case "other":
            return f"to_json(struct({column} AS v)) AS {column}"
    return column


def _text(value: object, kind: SqlType) -> str:
    if value is None:
        return "null"
    match kind.family:
        case "timestamp" if kind.local:
            return f'"{str(value).removesuffix(".000000")}"'
        case "decimal":
            return str(value)
        case "other":
            found: JsonObject = json.loads(str(value))
            return json.dumps(found.get("v"), ensure_ascii=False)
    return json_value(value, kind)
