"""How many bytes an entry of a table takes in the state that the job saves: the JSON ``[[value, …], counter], ``."""

from __future__ import annotations

import json
import re
from datetime import date, datetime

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.calendar_text import parse_date, parse_timestamp
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.criteria.cuts import representatives
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Stored, Table

COUNTER = len(str(2**63 - 1))
"""The longest counter: no result may have more duplicates."""
_NULL = len("null")
_SEPARATOR = len(", ")
_INTEGERS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32}
_DOUBLE = len("-1.7976931348623157e+308")
_DECIMAL_DIGITS = 38


def entry_bytes(facts: Facts, table: Table, distinct: bool) -> int | None:
    """The most bytes of an entry; None where it holds a string that may be of any length.

    A set's counters are 1; a bag's are taken to have up to 19 digits, as `bigint` has.
    """
    widths = [_stored_width(facts, stored) for stored in table.key]
    widths += [_type_width(facts.branch.column(facts.time(age.stream)).type) for age in table.ages]
    widths += [_extremum_width(facts, extremum) for extremum in table.extrema]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    if table.members:  # the number that says which streams are there, and null for what is not
        known = [len(str(2 ** len(table.streams) - 1)), *(max(width, _NULL) for width in known)]
    values = sum(known) + _SEPARATOR * max(0, len(known) - 1)
    return len("[[], ], ") + values + (1 if distinct else COUNTER)


def _extremum_width(facts: Facts, extremum: Extremum) -> int | None:
    """The longest sum of a value and an offset; a sum with a fraction is as long as any number of a dense type."""
    widths = [_value_width(facts, attribute) for attribute, _ in extremum.of]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    offsets = [len(str(int(abs(offset)))) for _, offset in extremum.of if offset]
    return max([*known, *offsets]) + bool(offsets)


def _stored_width(facts: Facts, stored: Stored) -> int | None:
    attribute = stored.attribute
    if attribute in facts.closure.null:
        return _NULL
    if stored.cuts:
        return max(len(json.dumps(value)) for value in representatives(facts, attribute, stored.cuts))
    width = _value_width(facts, attribute)
    if width is None:
        return None
    limits = (*stored.low, *stored.high)
    clipped = [len(str(int(limit.constant))) for limit in limits if limit.constant is not None]
    if any(limit.relations for limit in limits):
        clipped.append(_DECIMAL_DIGITS + 1)
    null = 0 if attribute in facts.closure.compared else _NULL
    return max(width, null, *clipped)


def _value_width(facts: Facts, attribute: Attribute) -> int | None:
    """The longest value of an attribute: by its list, its range or its type."""
    if (values := facts.listed(attribute)) is not None:
        return max(map(_text_width, values))
    kind = facts.branch.column(attribute).type
    if attribute in facts.closure.nodes and facts.closure.sort(attribute) is Sort.DISCRETE:
        low, high = facts.closure.interval(attribute)
        if low is not None and high is not None:
            return max(len(str(int(low))), len(str(int(high))))
    return _type_width(kind)


def _text_width(value: Value) -> int:
    return len(json.dumps(value)) if isinstance(value, int | str) else _DOUBLE


def _type_width(kind: DataType) -> int | None:
    """The longest value of a type as the kernel encodes it."""
    match kind.family:
        case Family.INTEGER:
            return len(str(-(2 ** (_INTEGERS.get(kind.name, 64) - 1))))
        case Family.BOOLEAN:
            return 1
        case Family.FLOAT:
            return _DOUBLE
        case Family.DECIMAL if kind.scale is not None:
            digits = re.search(r"\d+", kind.name)
            return int(digits.group() if digits else _DECIMAL_DIGITS) + len("-")
        case Family.DATE:
            return max(len(str(parse_date(str(day)))) for day in (date.min, date.max))
        case Family.TIMESTAMP:
            return max(len(str(parse_timestamp(str(moment)))) for moment in (datetime.min, datetime.max))
    return None
