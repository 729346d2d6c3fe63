"""Columns that have types: of files that are read without Spark, and of whatever Spark reads and casts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import SqlType, sql_type
from streambound_runtime.spec import Relation, Stream, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_FIRST_OF_OUR_CALENDAR = 3
"""Earlier releases of Spark wrote dates and times of another calendar."""


def columns_read(table: Stream | Relation) -> tuple[TableColumn, ...]:
    """The declared columns that are read where columns have types: of arrays and the like those that are needed."""
    needed = {*table.needs, *mentioned(table)}
    return tuple(c for c in table.columns if sql_type(c.type).family != "other" or c.name in needed)


def mentioned(table: Stream | Relation) -> tuple[str, ...]:
    """The declared columns that expressions of derived ones may read."""
    expressions = " ".join(column.expression for column in table.derived).lower()
    return tuple(column.name for column in table.columns if quoted(column.name).lower() in expressions)


def columns_wanted(table: Stream | Relation) -> tuple[TableColumn, ...]:
    """Of the columns that are read those that are used, or that a value of the right type may still break.

    What the type of a file's column says of integers, booleans and decimals without a domain is all there is to check;
    texts may be no UTF-8, floats no numbers, and times outside the years.
    """
    options = [option for column in table.derived for option in column.when]
    used = {*table.needs, *mentioned(table)}
    if isinstance(table, Stream):
        mark, parted = table.arrival.mark, table.arrival.partitions
        options += table.useful
        used.add(table.timestamp)
        used |= {name for name in (mark and mark.column, mark and mark.since, parted and parted.column) if name}
        used |= {name for one in table.marks for name in (one.column, *one.needs)}
    used |= {name for option in options for test in option for name in (test.left, test.right) if name}
    by_type = ("integer", "boolean", "decimal")
    return (
        tuple(c for c in columns_read(table) if c.name in used or c.domain or sql_type(c.type).family not in by_type)
        or columns_read(table)[:1]
    )


def readable(schema: pa.Schema, table: Stream | Relation) -> str | None:
    """Why Spark has to read a file of Parquet with a schema; None where Arrow reads the same from it.

    Spark finds columns whatever their case, reads times of older calendars and of 96 bits, and says what is wrong with
    other types.
    """
    names = [name.lower() for name in schema.names]
    for column in table.columns:
        if schema.get_field_index(column.name) < 0 or names.count(column.name.lower()) > 1:
            return f"it has no column {column.name}, or several"
    for column in columns_read(table):
        found, kind = schema.field(column.name).type, sql_type(column.type)
        if kind.family == "other" or not _is_of(found, kind):
            return f"its column {column.name} is a {found}, not a {column.type}"
    dated = any(sql_type(column.type).family in ("date", "timestamp") for column in columns_read(table))
    if dated and _of_another_calendar(schema.metadata or {}):
        return "its dates and times are of an older calendar"
    return None


def _of_another_calendar(metadata: Mapping[bytes, bytes]) -> bool:
    version = metadata.get(b"org.apache.spark.version", b"9").split(b".")[0]
    old = not version.isdigit() or int(version) < _FIRST_OF_OUR_CALENDAR
    return old or any(key in metadata for key in _LEGACY)


def _is_of(found: pa.DataType, kind: SqlType) -> bool:
    """Whether a column of a physical type has a type's values."""
    import pyarrow as pa

    if pa.types.is_dictionary(found):
        found = found.value_type
    match kind.family:
        case "integer":
            return bool(pa.types.is_signed_integer(found) and found.bit_width <= kind.bits)
        case "decimal":
            return bool(pa.types.is_decimal128(found) and (found.precision, found.scale) == (kind.digits, kind.scale))
        case "timestamp":
            return bool(
                pa.types.is_timestamp(found) and found.unit in ("us", "ms") and (found.tz is None) == kind.local
            )
        case "float":
            return bool(found == (pa.float64() if kind.bits == 64 else pa.float32()))
        case "string":
            return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))
        case "other" | "nested":
            return True
    return bool(found == {"boolean": pa.bool_(), "date": pa.date32()}[kind.family])


class TypedColumn:
    """A column's values as they came, encoded, and which are texts that are no UTF-8."""

    def __init__(self, values: pa.Array, column: TableColumn) -> None:
        kind = sql_type(column.type)
        if not _is_of(values.type, kind):
            raise ValueError(f"column {column.name} is a {values.type}, not a {column.type}: let Spark cast it")
        self.not_text = np.zeros(len(values), dtype=bool)
        if kind.family == "string":
            values = self._texts(values)
        self.values = _encoded(values, kind)

    def _texts(self, values: pa.Array) -> pa.Array:
        """The texts, without those that are none."""
        import pyarrow as pa

        try:
            (values.dictionary if pa.types.is_dictionary(values.type) else values).validate(full=True)
        except pa.ArrowInvalid:
            found = values.cast(pa.string()).cast(pa.binary()).to_pylist()
            texts = [None if text is None else _text(text) for text in found]
            self.not_text = np.array([a is not None and b is None for a, b in zip(found, texts, strict=True)])
            return pa.array(texts, pa.string())
        return values


def _text(found: bytes) -> str | None:
    try:
        return found.decode()
    except UnicodeDecodeError:
        return None


def _encoded(values: pa.Array, kind: SqlType) -> pa.Array:
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_dictionary(values.type):
        return values if kind.family == "string" else _encoded(values.dictionary_decode(), kind)
    match kind.family:
        case "timestamp":
            return values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
        case "date":
            return values.cast(pa.int32()).cast(pa.int64())
        case "decimal":
            return _unscaled(values, kind)
        case "nested":
            return values
        case "other":
            return pc.if_else(values.is_valid(), 1, pa.scalar(None, pa.int64()))
    return values.cast(kind.encoded)


def _unscaled(values: pa.Array, kind: SqlType) -> pa.Array:
    """The digits of decimals: their integers, as they are in memory."""
    import pyarrow as pa

    digits = pa.Array.from_buffers(pa.decimal128(38, 0), len(values), values.buffers(), offset=values.offset)
    return digits.cast(kind.encoded)
