"""How many bytes does an entry take? It is saved in Arrow's columns of integers, decimals, doubles and texts."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.recheck.certificates.claims import ClaimedExtremum, ClaimedStored, ClaimedTable
from streambound.recheck.certificates.conditions import Conditions

INT64 = 8
DECIMAL256 = 32
OFFSETS = 8
VALID, UTF8 = 1, 4
"""Of the bit for each value and of the place where a text begins there are as many as values, and one more."""
_RANGES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("tinyint", "byte"), (-128, 127)),
    **dict.fromkeys(("smallint", "short"), (-32_768, 32_767)),
    **dict.fromkeys(("int", "integer"), (-(2**31), 2**31 - 1)),
    **dict.fromkeys(("bigint", "long"), (-(2**63), 2**63 - 1)),
    "boolean": (0, 1),
    "date": (-719_162, 2_932_896),
    **dict.fromkeys(
        ("timestamp", "timestamp_ntz", "timestamp_ltz"), (-62_135_596_800 * 10**6, 253_402_300_800 * 10**6)
    ),
}
"""The days and microseconds of the years 1 to 9999, too."""


def entry_width(conditions: Conditions, table: ClaimedTable) -> int | None:
    """The most bytes that an entry takes; None where it may hold a text of any length."""
    widths = [_stored(conditions, stored) for stored in table.stored]
    widths += [_sum(conditions, extremum) for extremum in table.extrema]
    widths += [INT64 for _ in (*table.ages, *table.distances)]
    found = INT64  # the counter
    for width in widths:
        if width is None:
            return None
        found += width + VALID
    return found


def _stored(conditions: Conditions, stored: ClaimedStored) -> int | None:
    """The widest value that a table may hold of an attribute; None where it is a text of any length."""
    attribute = stored.attribute
    if attribute in conditions.null:
        return OFFSETS
    if stored.cuts:
        return _of_cuts(conditions, stored)
    if _is_double(conditions, attribute):
        return INT64
    width = _value(conditions, attribute, 0)
    if width is None:
        return None
    for limit in (*stored.low, *stored.high):
        if limit.relations:
            return DECIMAL256
        if limit.constant is not None:
            width = max(width, _of_integer(limit.constant))
    return width


def _sum(conditions: Conditions, extremum: ClaimedExtremum) -> int | None:
    """The widest of some sums."""
    widest = 0
    for attribute, offset in extremum.of:
        width = INT64 if _is_double(conditions, attribute) else _value(conditions, attribute, int(offset))
        if width is None:
            return None
        widest = max(widest, width)
    return widest


def _of_cuts(conditions: Conditions, stored: ClaimedStored) -> int:
    """The widest of the values that stand for those between cuts: the least that the conditions leave, or anything
    below the first cut, and the least above each.
    """
    attribute, follows = stored.attribute, conditions.follows
    text = conditions.kind(attribute) == "text"
    above = [_least(conditions, attribute, cut.value, cut.included) for cut in stored.cuts]
    limit = follows.bound(conditions.zero(attribute), attribute)
    if limit is None:
        first = above[0]
        below = first - 1 if isinstance(first, int) else "" if text else -inf
    else:
        value = conditions.text(int(-limit[0])) if text else str(-limit[0])
        below = _least(conditions, attribute, value, included=limit[1] == 0)
    return max(map(_of_value, (below, *above)))


def _least(conditions: Conditions, attribute: Attribute, value: str, included: bool) -> int | float | str:
    """The least value from a value on, that one among them iff ``included``."""
    if conditions.kind(attribute) == "text":
        return value if included else f"{value}\0"
    number = Fraction(value)
    if _is_double(conditions, attribute):
        return float(number) if included else nextafter(float(number), inf)
    return ceil(number) if included else floor(number) + 1


def _value(conditions: Conditions, attribute: Attribute, offset: int) -> int | None:
    """The widest value with an offset: of what the lists leave, of the range, or of the type."""
    listed = [_moved(conditions, attribute, other) for other in conditions.attributes if conditions.listed(other)]
    options = [values for values in listed if values is not None]
    if options:
        left = set.intersection(*options)
        return max(_of_value(value if isinstance(value, str) else int(value) + offset) for value in left)
    zero, follows = conditions.zero(attribute), conditions.follows
    if conditions.is_integer(attribute):
        above, below = follows.bound(attribute, zero), follows.bound(zero, attribute)
        if above is not None and below is not None:
            return max(_of_integer(int(above[0]) + offset), _of_integer(int(-below[0]) + offset))
    column = conditions.branch.column(attribute)
    if column.type.length is not None and not column.expression:
        return OFFSETS + UTF8 * column.type.length
    ends = _ends(column.type)
    return None if ends is None else max(_of_integer(end + offset) for end in ends)


def _moved(conditions: Conditions, attribute: Attribute, other: Attribute) -> set[Value] | None:
    """The values that another attribute's list leaves this one; None where they are not equal."""
    offset = conditions.equal(attribute, other)
    if offset is None:
        return None
    return {value if isinstance(value, str) or not offset else value + offset for value in conditions.values(other)}


def _of_value(value: float | str) -> int:
    if isinstance(value, str):
        return OFFSETS + len(value.encode("utf-8", "surrogatepass"))
    return _of_integer(value) if isinstance(value, int) else INT64


def _of_integer(value: int) -> int:
    return INT64 if value.bit_length() <= 63 or value == -(2**63) else DECIMAL256


def _ends(kind: DataType) -> tuple[int, int] | None:
    """The least and the greatest value of a type, as integers; None for texts."""
    if kind.family is Family.DECIMAL and kind.scale is not None:
        digits = re.search(r"\d+", kind.name)
        most = 10 ** int(digits.group() if digits else 10) - 1
        return -most, most
    return _RANGES.get(kind.name)


def _is_double(conditions: Conditions, attribute: Attribute) -> bool:
    return conditions.branch.column(attribute).type.family is Family.FLOAT
