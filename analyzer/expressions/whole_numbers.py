"""Whole numbers in SQL: numbers of rows, lengths of buckets, distances of times."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.constants import Folded, is_interval
from streambound.analyzer.expressions.expression import value_of
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.types import DataType, Family


def whole_number(node: exp.Expr) -> tuple[int, DataType] | None:
    """A constant whole number and its type, ``5``, ``5L`` or ``2 + 3``; None for another expression.

    >>> from streambound.analyzer.expressions.dialect import parsed
    >>> [whole_number(parsed(text)) for text in ("2.5", "'5'")]
    [None, None]
    >>> found = whole_number(parsed("-5L"))
    >>> found[0], found[1].name
    (-5, 'bigint')
    """
    found = _constant(node)
    whole = found is not None and found.kind.family is Family.INTEGER
    return (int(found.exact), found.kind) if found is not None and whole else None


def added_number(node: exp.Expr, kind: DataType) -> int | None:
    """What is added to a value of a type, as the value is encoded: a whole number, or the microseconds of an interval.

    >>> from streambound.analyzer.constants import BIGINT, TIMESTAMP
    >>> from streambound.analyzer.expressions.dialect import parsed
    >>> minute = parsed("INTERVAL 1 MINUTE")
    >>> added_number(parsed("5"), BIGINT), added_number(minute, TIMESTAMP), added_number(minute, BIGINT)
    (5, 60000000, None)
    """
    found = _constant(node)
    if found is None or (found.kind.family is not kind.family and not is_interval(found.kind)):
        return None
    fits = kind.family is Family.TIMESTAMP if is_interval(found.kind) else kind.family is Family.INTEGER
    return int(found.exact) if fits else None


def _constant(node: exp.Expr) -> Folded | None:
    """The value of a constant, which is not NULL."""
    if node.find(exp.Column, exp.Query) is not None:
        return None
    try:
        found = value_of(read(node, {}), {})
    except (Refused, Fails, NotKnown):
        return None
    return found if found.value is not None else None
