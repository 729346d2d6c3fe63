"""How many bytes an entry of a table takes in the state that a job saves, which is columns of Arrow.

A number takes 8 bytes, 32 where it may lie beyond 64 bits; a text takes its UTF-8, and 8 for where it begins and ends;
a byte says whether a value is NULL. A column of n values takes no more than n times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.calendar_text import parse_timestamp
from streambound.analyzer.closure import Sort
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.criteria.cuts import representatives
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Stored, SynopsisTable

NUMBER = 8
LARGE = 32
_BITS = 63
_CHARACTER = 4
"""The most bytes of one in UTF-8."""
PLACE = 8
NULL = 1
_LATEST = parse_timestamp(str(datetime.max))


def entry_bytes(facts: Facts, table: SynopsisTable) -> int | None:
    """The most bytes of an entry; None where it holds a string that may be of any length.

    Its counter is taken to have 64 bits: no result may have more duplicates.
    """
    widths = [_stored_width(facts, stored) for stored in table.key]
    widths += [_extremum_width(facts, extremum) for extremum in table.extrema]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    known += [NUMBER] * (len(table.ages) + len(table.distances))
    return sum(width + NULL for width in known) + NUMBER


def of_any_length(facts: Facts, table: SynopsisTable) -> Iterator[Attribute]:
    """The strings of an entry that may be of any length, which is why its bytes are not known."""
    yield from (stored.attribute for stored in table.key if _stored_width(facts, stored) is None)
    for extremum in table.extrema:
        yield from (attribute for attribute, _ in extremum.of if attribute_bytes(facts, attribute) is None)


def _extremum_width(facts: Facts, extremum: Extremum) -> int | None:
    """The widest sum of a value and an offset."""
    widths = [attribute_bytes(facts, attribute, int(offset)) for attribute, offset in extremum.of]
    known = [width for width in widths if width is not None]
    return max(known) if len(known) == len(widths) else None


def _stored_width(facts: Facts, stored: Stored) -> int | None:
    attribute = stored.attribute
    if attribute in facts.closure.null:
        return NUMBER
    if stored.cuts:
        return max(map(value_bytes, representatives(facts, attribute, stored.cuts)))
    width = attribute_bytes(facts, attribute)
    if width is None or facts.branch.column(attribute).type.family is Family.FLOAT:
        return width
    limits = (*stored.low, *stored.high)
    clipped = [value_bytes(int(limit.constant)) for limit in limits if limit.constant is not None]
    return max([width, *clipped, *(LARGE for limit in limits if limit.relations)])


def attribute_bytes(facts: Facts, attribute: Attribute, offset: int = 0) -> int | None:
    """The most bytes of a value of an attribute, by its list, its range or its type, when an offset is added to it."""
    kind = facts.branch.column(attribute).type
    if kind.family is Family.FLOAT:
        return NUMBER
    if (values := facts.listed(attribute)) is not None:
        return max(value_bytes(value if isinstance(value, str) else int(value) + offset) for value in values)
    if attribute in facts.closure.nodes and facts.closure.sort(attribute) is Sort.DISCRETE:
        low, high = facts.closure.interval(attribute)
        if low is not None and high is not None:
            return max(value_bytes(int(low) + offset), value_bytes(int(high) + offset))
    return text_bytes(facts.branch.column(attribute)) or type_bytes(kind, offset)


def text_bytes(column: Column) -> int | None:
    """The most bytes of a declared text of limited length; None for another column."""
    length = None if column.expression else column.type.length
    return None if length is None else PLACE + _CHARACTER * length


def type_bytes(kind: DataType, offset: int = 0) -> int | None:
    """The most bytes of a value of a type, to which an offset is added; None for a string."""
    if kind.family is Family.FLOAT:
        return NUMBER
    greatest = _greatest(kind)
    return None if greatest is None else max(value_bytes(offset + greatest), value_bytes(offset - greatest - 1))


def value_bytes(value: Value | float) -> int:
    """The bytes of an encoded value."""
    if isinstance(value, str):
        return PLACE + len(value.encode(errors="surrogatepass"))
    return NUMBER if isinstance(value, float) or -(2**_BITS) <= value < 2**_BITS else LARGE


def _greatest(kind: DataType) -> int | None:
    """The greatest value of a type as the job encodes it; None for a string, which is of any length."""
    match kind.family:
        case Family.INTEGER:
            return (1 << kind.bits - 1) - 1
        case Family.BOOLEAN | Family.DATE | Family.TIMESTAMP:
            return _LATEST
        case Family.DECIMAL if kind.scale is not None:
            return int("9" * kind.precision)
    return None
