"""What a stream's or relation's contract says of a column's values, and which rows a plan can use, in whole columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.decoding.sql_types import YEARS, sql_type
from streambound_runtime.operators.plan import Test
from streambound_runtime.promises import Mark, PeriodContract
from streambound_runtime.spec import Relation, Stream, TableColumn, Value

if TYPE_CHECKING:
    import pyarrow as pa

_COMPARED = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}


def broken(table: Stream | Relation, column: TableColumn, values: pa.Array) -> Iterator[tuple[str, Mask]]:
    """Reasons and the rows that have them, by a column's values, in the order of precedence."""
    kind, there = sql_type(column.type), _valid(values)
    stream = table if isinstance(table, Stream) else None
    if stream is not None and column.name == stream.timestamp:
        yield "no-timestamp" if stream.period is None else "null-bound", ~there
        if kind.family == "integer" and stream.period is None:
            yield "negative-timestamp", there & ~between(values, 0, None)
    if kind.family == "integer" and kind.bits == 8:
        yield "out-of-range", there & ~between(values, -128, 127)
    if kind.family in YEARS:
        yield "outside-years", there & ~between(values, *YEARS[kind.family])
    if kind.family == "float" and not (table.period and table.period.probability == column.name):
        yield "not-a-number", np.isnan(values.fill_null(0.0).to_numpy(zero_copy_only=False))
    if kind.length is not None:
        yield "beyond-length", there & ~between(_lengths(values), None, kind.length)
    domain = column.domain
    if domain is not None and domain.values:
        yield "outside-domain", there & (places(values, domain.values) < 0)
    elif domain is not None:
        yield "outside-domain", there & ~between(values, domain.low, domain.high)
    partitions = stream.arrival.partitions if stream is not None else None
    if partitions is not None and partitions.column == column.name:
        yield "unknown-partition", places(values, partitions.values) < 0


def _lengths(values: pa.Array) -> pa.Array:
    """The characters of texts."""
    import pyarrow as pa
    from pyarrow import compute as pc

    return pc.utf8_length(plain(values)).cast(pa.int64())


def marked(mark: Mark[Value], values: pa.Array) -> Mask:
    """Which records are punctuations, by the values of the mark's column."""
    from pyarrow import compute as pc

    if mark.like is not None:
        return _mask(pc.match_substring_regex(plain(values), pattern_of(mark.like)))
    return places(values, () if mark.value is None else (mark.value,)) >= 0


def marks_among(stream: Stream, columns: dict[str, pa.Array], size: int) -> Mask:
    """Which good rows of a stream are records that end keys, for a plan that gets these."""
    found = np.zeros(size, dtype=bool)
    for mark in stream.marks if stream.ends_keys else ():
        found |= places(columns[mark.column], (mark.value,)) >= 0
    return found


def pattern_of(like: str) -> str:
    r"""LIKE of Spark SQL as a regular expression: a backslash takes the next character as it is.

    >>> pattern_of("end\\_%")
    '\\A(?s:end_.*)\\z'
    """
    parts = re.findall(r"\\(.)|(.)", like, re.S)
    texts = (re.escape(one) if one else {"%": ".*", "_": "."}.get(sign, re.escape(sign)) for one, sign in parts)
    return rf"\A(?s:{''.join(texts)})\z"


def useful(conjunctions: Sequence[Sequence[Test]], columns: dict[str, pa.Array], size: int) -> Mask:
    """Which rows satisfy one of some conjunctions."""
    found = np.zeros(size, dtype=bool)
    for tests in conjunctions:
        passing = np.ones(size, dtype=bool)
        for test in tests:
            passing &= _passes(test, columns)
        found |= passing
    return found


def _passes(test: Test, columns: dict[str, pa.Array]) -> Mask:
    """For which rows a test holds; it does not, where a value is NULL."""
    from pyarrow import compute as pc

    left, offset = columns[test.left], test.offset
    if test.op in ("is null", "is not null"):
        return ~_valid(left) if test.op == "is null" else _valid(left)
    if test.op == "in":
        assert isinstance(offset, tuple)
        return places(left, [value for value in offset if value is not None]) >= 0
    if test.right is not None:
        assert offset is None or isinstance(offset, int | float), "only numbers are added"
        right = columns[test.right]
        return _mask(getattr(pc, _COMPARED[test.op])(plain(left), plain(right if not offset else _plus(right, offset))))
    if not isinstance(offset, int | float | str):
        raise ValueError(f"not a test of one row: {test}")
    found = _compared(left, test.op, offset)
    return found & _valid(left) if left.null_count else found


def _plus(values: pa.Array, offset: float) -> pa.Array:
    """A column plus a number, however large."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_floating(values.type):
        return pc.add(values, float(offset))
    wide = pa.decimal256(60, 0)
    return pc.add(values.cast(wide), pa.scalar(Decimal(offset), wide))


def _compared(values: pa.Array, op: str, constant: Value) -> Mask:
    match op:
        case "==":
            return places(values, [constant]) >= 0
        case "!=":
            return places(values, [constant]) < 0
        case "<=":
            return between(values, None, constant)
        case ">=":
            return between(values, constant, None)
        case "<":
            return ~between(values, constant, None)
        case ">":
            return ~between(values, None, constant)
    raise ValueError(f"not a comparison: {op}")


def between(values: pa.Array, low: Value | None, high: Value | None) -> Mask:
    """Which encoded values are in a range, whatever its ends are; of NULL it says anything.

    >>> import pyarrow as pa
    >>> between(pa.array([-1, 0, 5]), -0.5, 10**30).tolist()
    [False, True, True]
    """
    from pyarrow import compute as pc

    values, sides = plain(values), []
    for end, least in ((low, True), (high, False)):
        limit = True if end is None else _limit(values.type, end, least)
        if limit is False:
            return np.zeros(len(values), dtype=bool)
        if limit is not True:
            sides.append((pc.greater_equal if least else pc.less_equal)(values, limit))
    return _mask(pc.and_(*sides) if len(sides) == 2 else sides[0]) if sides else np.ones(len(values), dtype=bool)


def _limit(kind: pa.DataType, end: Value, least: bool) -> pa.Scalar | bool:
    """An end of a range as a value of a type; True or False where all values or none are on its right side."""
    import pyarrow as pa

    if isinstance(end, str) or pa.types.is_floating(kind):
        return pa.scalar(end if isinstance(end, str) else float(end), kind)
    if isinstance(end, float) and abs(end) == float("inf"):
        return (end < 0) == least
    number = ceil(end) if least else floor(end)
    digits = 10**38 - 1
    first, last = (-digits, digits) if pa.types.is_decimal(kind) else (-(2**63), 2**63 - 1)
    if first <= number <= last:
        return pa.scalar(Decimal(number) if pa.types.is_decimal(kind) else number, kind)
    return (number < first) == least


def places(values: pa.Array, options: Sequence[Value]) -> Integers:
    """The place of each encoded value among some; -1 where it is none of them, or NULL."""
    import pyarrow as pa
    from pyarrow import compute as pc

    values = plain(values)
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)  # a zero with a sign equals one without
    numbered = [(n, known) for n, option in enumerate(options) if (known := _known(option, values.type)) is not None]
    if not numbered:
        return np.full(len(values), -1, dtype=np.int32)
    found = pc.index_in(values, pa.array([known for _, known in numbered], values.type)).fill_null(-1)
    number = np.array([n for n, _ in numbered] + [-1], dtype=np.int32)
    at: Integers = number[found.to_numpy(zero_copy_only=False)]
    return at


def _known(option: Value, kind: pa.DataType) -> Decimal | Value | None:
    """An option as a value of a type; None where the type has no such value."""
    import pyarrow as pa

    if isinstance(option, str) or pa.types.is_floating(kind):
        return option if isinstance(option, str) else float(option) + 0.0
    limit = _limit(kind, option, True)
    return None if isinstance(limit, bool) or option != floor(option) else limit.as_py()


def plain(values: pa.Array) -> pa.Array:
    """A column without its dictionary."""
    import pyarrow as pa

    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _valid(values: pa.Array) -> Mask:
    """Which are not NULL."""
    return _mask(values.is_valid()) if values.null_count else np.ones(len(values), dtype=bool)


def _mask(values: pa.Array) -> Mask:
    """Which are true; NULL is not."""
    mask: Mask = (values.fill_null(False) if values.null_count else values).to_numpy(zero_copy_only=False)
    return mask


_PERIOD = TableColumn("the period", "")


def broken_periods(
    period: PeriodContract, columns: Mapping[str, pa.Array]
) -> Iterator[tuple[str, TableColumn | None, str, Mask]]:
    """Reasons, what they are said of, the declaration that is broken, and the rows."""
    import pyarrow.compute as pc

    found = columns[period.begin], columns[period.end]
    for name, values in zip((period.begin, period.end), found, strict=True):
        yield "null-bound", TableColumn(name, ""), "", values.is_null().to_numpy(zero_copy_only=False)
    begin, end = (values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) for values in found)
    yield "empty-period", None, "", begin >= end
    if period.low is not None:
        yield "outside-domain", _PERIOD, "", begin < period.low
    if period.high is not None:
        yield "outside-domain", _PERIOD, "", end > period.high
    if period.probability:
        p = columns[period.probability]
        right = pc.and_(pc.greater(p, 0), pc.less_equal(p, period.certain))  # of NaN neither is true
        yield "probability", None, "", ~pc.fill_null(right, False).to_numpy(zero_copy_only=False)
    if period.variable:
        yield "key", None, "", columns[period.variable].is_null().to_numpy(zero_copy_only=False)
    if period.longest is not None:
        length = end - begin  # beyond 64 bits it is negative, for it ends after it begins
        yield "contract", None, f"max_duration = {period.longest}", (length > period.longest) | (length < 0)
