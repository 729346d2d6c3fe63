"""Schemes that read all values of a percentile's argument (A4): floods shift its rank by one element after the other.

Of a percentile p = u/w each element has rows on both sides of one that is always there, as many below as above that it
stays the percentile whatever elements there are: u(w − u) below and (w − u)² above. Then uwk rows below all elements
shift the rank to the k-th element below, so that the probes read all of them, in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, Tree, inputs
from streambound.analyzer.algebra.percentiles import Percentile, percentile_of
from streambound.analyzer.algebra.schema import parsed
from streambound.criteria.operators.schemes import ElementValue, Ground, RowScheme, Scheme, draw_row

DRAWS = 40
"""Rows of a table that are tried: all columns but the argument are constants."""
_FINEST = 10
"""Percentiles are tried whose denominator is not greater: others need too many rows."""


def ranked(ground: Ground, tree: Tree) -> Iterator[Scheme]:
    """Schemes for the percentiles of columns in a tree."""
    random = Random(0)
    for asked in _percentiles(tree):
        node, part = parsed(asked.value).unnest(), Fraction(str(asked.part))
        if not isinstance(node, exp.Column) or part.denominator > _FINEST or asked.extreme is not None:
            continue
        for table in ground.sent:
            if any(one.name.lower() == node.name.lower() and one.domain is None for one in table.columns):
                for _ in range(DRAWS):
                    yield _scheme(draw_row(ground, random, table), node.name, part, -1 if asked.descending else 1)


def _scheme(row: RowScheme, column: str, part: Fraction, up: int) -> Scheme:
    below, whole = part.numerator, part.denominator
    above = whole - below

    def with_value(value: ElementValue) -> RowScheme:
        return replace(row, cells=tuple((n, value if n.lower() == column.lower() else v) for n, v in row.cells))

    low, high = with_value(ElementValue(sign=-up)), with_value(ElementValue(sign=up))
    element = (low,) * (below * above) + (high,) * above**2
    flood = with_value(ElementValue(sign=-2 * up))
    return Scheme((with_value(ElementValue(0)),), element, (flood,), "ranked", False, below * whole)


def _percentiles(tree: Tree) -> Iterator[Percentile]:
    if isinstance(tree, Aggregate):
        yield from (found for found in map(percentile_of, tree.calls) if found is not None)
    for below in inputs(tree):
        yield from _percentiles(below)
