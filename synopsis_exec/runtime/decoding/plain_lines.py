"""Plain lines of JSON as columns, all at once, by Arrow's reader; of lines that it cannot be trusted with, none.

Arrow reads objects one after the other, with or without line ends between them, takes absent members for NULL, and
stops where one value is not of its column's type. So it is only asked where each line begins and ends an object, and
gets them as they lie in memory; where it fails, or has found another number of objects, the caller parses line by line,
and so it does lines of which a value is NULL, since it may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Mask
from streambound_runtime.decoding.json_values import parsed_bits
from streambound_runtime.decoding.sql_types import SqlType

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 1000
"""Characters of a line; longer ones may be nested deeper than any stack, or have numbers of thousands of digits."""


def plain_columns(lines: pa.Array, kinds: Mapping[str, SqlType]) -> tuple[dict[str, pa.Array], Mask] | None:
    """The members of some names, and the lines of which all are there; None where a line is not plain.

    Numbers and truth values are of the columns' types, dates and timestamps are texts.
    """
    import pyarrow as pa
    from pyarrow import compute as pc
    from pyarrow import json as arrow_json

    schema = _schema(kinds)
    if schema is None or not len(lines) or lines.null_count:
        return None
    try:
        texts = lines.cast(pa.string())  # which says whether they are UTF-8
    except (UnicodeDecodeError, pa.ArrowException):
        return None
    objects = pc.and_(pc.starts_with(texts, "{"), pc.ends_with(texts, "}"))
    if not pc.all(objects).as_py() or pc.max(pc.binary_length(texts)).as_py() >= LONGEST:
        return None
    data = _bytes(texts)
    parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    read = arrow_json.ReadOptions(use_threads=False, block_size=data.size + 1)  # a block would end at a line's end
    try:
        table = arrow_json.read_json(pa.BufferReader(data), read, parse)
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    if table.num_rows != len(lines):
        return None
    columns = {name: table.column(name).combine_chunks() for name in kinds}
    sure = np.ones(len(lines), dtype=bool)
    for values in columns.values():
        sure &= values.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_floating(values.type):
            numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
            sure &= np.isfinite(numbers) & ((numbers != 0) | ~np.signbit(numbers))  # -0 is 0, and -0.0 is not
    return columns, sure


def _bytes(texts: pa.StringArray) -> pa.Buffer:
    """The bytes of texts, one after the other."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[[texts.offset, texts.offset + len(texts)]]
    return data.slice(int(ends[0]), int(ends[1] - ends[0]))


def _schema(kinds: Mapping[str, SqlType]) -> pa.Schema | None:
    """The columns as Arrow is to read them; None where one of them is of a type that it reads otherwise than Spark."""
    import pyarrow as pa

    found = []
    for name, kind in kinds.items():
        match kind.family:
            case "integer":
                found.append(pa.field(name, getattr(pa, f"int{parsed_bits(kind)}")()))
            case "float" if kind.bits == 64:
                found.append(pa.field(name, pa.float64()))
            case "boolean":
                found.append(pa.field(name, pa.bool_()))
            case "string" | "date" | "timestamp":
                found.append(pa.field(name, pa.string()))
            case _:
                return None
    return pa.schema(found)
