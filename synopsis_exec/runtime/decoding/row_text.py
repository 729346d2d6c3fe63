"""The text of a bad row: a JSON object's as it came, columns as Spark's `to_json` writes them."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import numpy as np

from streambound_runtime.decoding.contracts import plain
from streambound_runtime.decoding.json_values import numeral

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 4096
"""Characters of a bad row that are kept."""
_DATE = re.compile("(-?)([0-9]+)(.*)")
_SPECIAL = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


def line_texts(lines: pa.Array) -> list[str | None]:
    """Lines as they came; what is no UTF-8 is replaced."""
    import pyarrow as pa

    found = lines.cast(pa.large_binary()).to_pylist()
    return [None if line is None else line.decode("utf-8", "replace") for line in found]


def cut_columns(texts: Sequence[str | None]) -> dict[str, pa.Array]:
    """Texts of bad rows as the column `row`, and `length`: how many bytes each has of which `row` is the beginning.

    >>> {name: values.to_pylist() for name, values in cut_columns(["{", None, "ä" * 5000]).items()}["length"]
    [None, None, 10000]
    """
    import pyarrow as pa

    lengths = [
        None if text is None or len(text) <= MOST_SHOWN else len(text.encode("utf-8", "replace")) for text in texts
    ]
    shown = [text and text[:MOST_SHOWN] for text in texts]
    return {"row": pa.array(shown, pa.string()), "length": pa.array(lengths, pa.int64())}


def row_texts(columns: dict[str, pa.Array], size: int) -> list[str]:
    """Rows as JSON objects, without their NULLs.

    >>> import pyarrow as pa
    >>> row_texts({"a": pa.array([1, None]), "x": pa.array([1e10, float("nan")])}, 2)
    ['{"a":1,"x":1.0E10}', '{"x":"NaN"}']
    """
    names = [_json(name) for name in columns]
    rows = zip(*map(_texts, columns.values()), strict=True) if columns else [()] * size
    return ["{" + ",".join(f"{n}:{text}" for n, text in zip(names, row, strict=True) if text) + "}" for row in rows]


def _texts(values: pa.Array) -> list[str]:
    """The values of a column as JSON; nothing for NULL."""
    import pyarrow as pa

    values = plain(values)
    kind: pa.DataType = values.type
    found: Sequence[object]
    if pa.types.is_timestamp(kind) or pa.types.is_date32(kind):
        found = _moments(values)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        found = line_texts(values)
    elif pa.types.is_float32(kind):  # as few digits as tell it from other numbers of 32 bits
        found = [number if number is None else float(str(np.float32(number))) for number in values.to_pylist()]
    else:
        found = [_value(scalar) for scalar in values]
    return ["" if value is None else _json(value) for value in found]


def _value(scalar: pa.Scalar) -> object:
    """A scalar as Python has it; one that holds what Python does not have as an unknown character."""
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return "\ufffd"


def _moments(values: pa.Array) -> list[str | None]:
    """Dates, and times in milliseconds, in years that Python does not have, too."""
    import pyarrow as pa

    days, zone = pa.types.is_date32(values.type), "Z" if getattr(values.type, "tz", None) else ""
    numbers = values.cast(pa.int32()) if days else values.cast(pa.timestamp("us", zone and "UTC")).cast(pa.int64())
    moments = numbers.fill_null(0).to_numpy().astype("datetime64[D]" if days else "datetime64[us]")
    parts = [_DATE.match(text) for text in np.datetime_as_string(moments, unit="D" if days else "ms").tolist()]
    texts = [f"{p[1] or '+' * (len(p[2]) > 4)}{p[2]:0>4}{p[3]}{zone}" for p in parts if p]
    return [text if there else None for text, there in zip(texts, values.is_valid().to_pylist(), strict=True)]


def _json(value: object) -> str:
    match value:
        case float():
            return _SPECIAL.get(str(value)) or numeral(repr(value))
        case Decimal():
            return str(value)
        case bytes():
            return f'"{b64encode(value).decode()}"'
        case datetime():
            return f'"{value.replace(tzinfo=None).isoformat(timespec="milliseconds")}{"Z" if value.tzinfo else ""}"'
        case date():
            return f'"{value}"'
        case dict():
            return "{" + ",".join(f"{_json(name)}:{_json(v)}" for name, v in value.items() if v is not None) + "}"
        case [tuple(), *_]:  # a map
            return _json(dict(cast("list[tuple[str, object]]", value)))
        case list():
            return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
