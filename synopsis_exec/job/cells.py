"""Part of every job: what columns have in lines of JSON, as a kernel takes it, and which of it is sure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np

from streambound.synopsis_exec.job.source import Cell, Source

DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"


def schema_of_cells(source: Source) -> Any:
    """How Arrow reads a stream's columns."""
    import pyarrow as pa

    kinds = {"integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_()}
    return pa.schema([(cell.column, kinds.get(cell.kind, pa.string())) for cell in source.cells])


def is_written(kind: str, value: Any) -> bool:
    """Whether a value is written as values of a kind are, or NULL."""
    match kind, value:
        case _, None:
            return True
        case "boolean", _:
            return isinstance(value, bool)
        case _, bool():
            return False
        case "integer", int():
            return -(2**63) <= value < 2**63
        case "float", _:
            return isinstance(value, int | float)
    return isinstance(value, str) and kind != "integer"


def as_it_is(column: Any) -> tuple[Any, Any]:
    """A column's values as the kernel takes them, and which of them are sure."""
    return column, True


def booleans(column: Any) -> tuple[Any, Any]:
    """As 0 and 1."""
    import pyarrow as pa

    return column.cast(pa.int64()), True


def floats(column: Any) -> tuple[Any, Any]:
    """All but what is no number, and zeros with a sign: `-0` has none for Spark."""
    values = column.fill_null(1.0).to_numpy(False)
    return column, np.isfinite(values) & ~((values == 0) & np.signbit(values))


def dates(column: Any) -> tuple[Any, Any]:
    """As days since 1970."""
    import pyarrow as pa

    days, right = times_of(column, DATE, pa.date32(), date.fromisoformat)
    return days.cast(pa.int32()).cast(pa.int64()), right


def zoned_times(column: Any) -> tuple[Any, Any]:
    """As microseconds since 1970, with or without the zone Z, since the session is in UTC."""
    from pyarrow import compute as pc

    zoned = pc.ends_with(column, "Z")
    return local_times(pc.if_else(zoned, pc.utf8_slice_codeunits(column, 0, -1), column))


def local_times(column: Any) -> tuple[Any, Any]:
    """As `zoned_times`, without a zone."""
    import pyarrow as pa

    times, right = times_of(column, MOMENT, pa.timestamp("us"), datetime.fromisoformat)
    return times.cast(pa.int64()), right


def times_of(column: Any, pattern: str, kind: Any, reader: Callable[[str], object]) -> tuple[Any, Any]:
    """Texts as dates or times, and which are; ``reader`` fails for a text that is of the pattern and no time."""
    import pyarrow as pa
    from pyarrow import compute as pc

    right = pc.match_substring_regex(column, pattern).fill_null(True).to_numpy(False)
    if not right.all():
        column = pc.if_else(pa.array(right), column, None)
    try:
        return column.cast(kind), right
    except pa.ArrowInvalid:
        right = right & np.array([text is None or reads(reader, text) for text in column.to_pylist()], dtype=bool)
        return pc.if_else(pa.array(right), column, None).cast(kind), right


def reads(reader: Callable[[str], object], text: str) -> bool:
    """Whether a reader takes a text."""
    try:
        reader(text)
    except ValueError:
        return False
    return True


ENCODERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "integer": as_it_is,
    "text": as_it_is,
    "float": floats,
    "boolean": booleans,
    "date": dates,
    "timestamp": zoned_times,
    "timestamp_ntz": local_times,
}
"""Kind of a cell -> its values as the kernel takes them, and which are sure."""


def within(cell: Cell, values: Any) -> Any:
    """Which values a stream's contract allows."""
    import pyarrow as pa
    from pyarrow import compute as pc

    tests = []
    if cell.low is not None:
        tests.append(pc.greater_equal(values, pa.scalar(cell.low, values.type)))
    if cell.high is not None:
        tests.append(pc.less_equal(values, pa.scalar(cell.high, values.type)))
    if cell.among:
        tests.append(pc.is_in(values, pa.array(cell.among, values.type)))
    allowed = np.ones(len(values), dtype=bool)
    for test in tests:
        allowed &= pc.or_(test, values.is_null()).fill_null(True).to_numpy(False)
    return allowed & ~values.is_null().to_numpy(False) if cell.never_null else allowed


# --- conditions ------------------------------------------------------------------------------------------------------

COMPARED = {"=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
"""Operator -> Arrow's function."""


def wanted(source: Source, values: dict[str, Any], size: int) -> Any:
    """Which rows are useful; NULL where a condition is."""
    import pyarrow as pa
    from pyarrow import compute as pc

    found = pa.array(np.zeros(size, dtype=bool))
    for conjunction in source.wanted:
        every = pa.array(np.ones(size, dtype=bool))
        for test in conjunction:
            every = pc.and_kleene(every, condition(values, *test))
        found = pc.or_kleene(found, every)
    return found


def condition(values: dict[str, Any], column: str, op: str, other: str | None, constant: Any) -> Any:
    """For which rows a condition holds."""
    import pyarrow as pa
    from pyarrow import compute as pc

    left = values[column]
    if op == "is null":
        return left.is_null()
    if op == "is not null":
        return left.is_valid()
    right = values[other] if other is not None else pa.scalar(constant, left.type)
    return getattr(pc, COMPARED[op])(left, right)
