"""How many bytes does an entry take? It is saved as the JSON ``[[value, …], counter], ``."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.recheck.claims import Extremum, Stored, Table
from streambound.recheck.conditions import Conditions

_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32}
_LONGEST = {Family.BOOLEAN: 1, Family.FLOAT: 24, Family.DATE: 7, Family.TIMESTAMP: 18}
"""``1``, ``-1.7976931348623157e+308``, the days from 0001 to 9999, and their microseconds."""
_DIGITS = 38
_COUNTER = 19


def entry_width(conditions: Conditions, table: Table, distinct: bool) -> int | None:
    """The most bytes that an entry takes; None where it may hold a text of any length."""
    times = [conditions.branch.column(conditions.time(age.stream)).type for age in table.ages]
    widths = [*(_stored(conditions, stored) for stored in table.stored), *map(_of_type, times)]
    widths += [_sum(conditions, extremum) for extremum in table.extrema]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    if table.members:  # what is not there is null, and a number says what is
        known = [len(str(2 ** len(table.streams) - 1)), *(max(width, len("null")) for width in known)]
    return len("[[], ], ") + sum(known) + len(", ") * max(0, len(known) - 1) + (1 if distinct else _COUNTER)


def _stored(conditions: Conditions, stored: Stored) -> int | None:
    """The longest value that a table may hold of an attribute; None where it is a text of any length."""
    attribute = stored.attribute
    if attribute in conditions.null:
        return len("null")
    if stored.cuts:
        return _of_cuts(conditions, stored)
    width = _value(conditions, attribute)
    if width is None:
        return None
    limits = (*stored.low, *stored.high)
    widths = [width, *(len(str(limit.constant)) for limit in limits if limit.constant is not None)]
    widths += [_DIGITS + 1 for limit in limits if limit.relations]
    return max([*widths, 0 if attribute in conditions.present else len("null")])


def _sum(conditions: Conditions, extremum: Extremum) -> int | None:
    """The longest of some sums; an integer gets a digit more at most where a shorter one is added to it."""
    widths = [_value(conditions, attribute) for attribute, _ in extremum.of]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    offsets = [len(str(int(abs(offset)))) for _, offset in extremum.of if offset]
    return max([*known, *offsets]) + bool(offsets)


def _of_cuts(conditions: Conditions, stored: Stored) -> int:
    """The longest of the values that stand for those between cuts: the least that the conditions leave, or anything
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
    return max(len(json.dumps(value)) for value in (below, *above))


def _least(conditions: Conditions, attribute: Attribute, value: str, included: bool) -> int | float | str:
    """The least value from a value on, that one among them iff ``included``."""
    if conditions.kind(attribute) == "text":
        return value if included else f"{value}\0"
    number = Fraction(value)
    if conditions.branch.column(attribute).type.family is Family.FLOAT:
        return float(number) if included else nextafter(float(number), inf)
    return ceil(number) if included else floor(number) + 1


def _value(conditions: Conditions, attribute: Attribute) -> int | None:
    listed = [_moved(conditions, attribute, other) for other in conditions.attributes if conditions.listed(other)]
    options = [values for values in listed if values is not None]
    if options:
        return max(_of_value(value, conditions.whole(attribute)) for value in set.intersection(*options))
    zero, follows = conditions.zero(attribute), conditions.follows
    if conditions.whole(attribute):
        above, below = follows.bound(attribute, zero), follows.bound(zero, attribute)
        if above is not None and below is not None:
            return max(len(str(int(above[0]))), len(str(int(-below[0]))))
    return _of_type(conditions.branch.column(attribute).type)


def _of_value(value: Value, whole: bool) -> int:
    if isinstance(value, str):
        return len(json.dumps(value))
    return len(str(int(value))) if whole else _LONGEST[Family.FLOAT]


def _moved(conditions: Conditions, attribute: Attribute, other: Attribute) -> set[Value] | None:
    """The values that another attribute's list leaves this one; None where they are not equal."""
    offset = conditions.equal(attribute, other)
    if offset is None:
        return None
    return {value if isinstance(value, str) or not offset else value + offset for value in conditions.values(other)}


def _of_type(kind: DataType) -> int | None:
    if kind.family is Family.INTEGER:
        return len(str(-(2 ** (_BITS.get(kind.name, 64) - 1))))
    if kind.family is Family.DECIMAL and kind.scale is not None:
        digits = re.search(r"\d+", kind.name)
        return len("-") + int(digits.group() if digits else _DIGITS)
    return _LONGEST.get(kind.family)
