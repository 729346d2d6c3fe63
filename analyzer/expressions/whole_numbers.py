"""Whole numbers that stand for themselves: how many rows, how long a bucket is."""

from __future__ import annotations

from sqlglot import exp

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
    if node.find(exp.Column, exp.Query) is not None:
        return None
    try:
        found = value_of(read(node, {}), {})
    except (Refused, Fails, NotKnown):
        return None
    return (int(found.exact), found.kind) if found.kind.family is Family.INTEGER and found.value is not None else None
