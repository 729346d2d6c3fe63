"""Schemes for ranks: of the rows that share one, and of the argument of a percentile, or a mode (A4).

Elements that agree in what they are ordered by are all of the first rank, until a probe has so many better rows that
none of them is among the first n.

Floods read all values of a percentile: they shift its rank by one element after the other.

Of a mode, a row that is always there comes first while all values are there once: a probe sends its element's again.

Of a percentile p = u/w each element has rows on both sides of one that is always there, as many below as above that it
stays the percentile whatever elements there are: u(w − u) below and (w − u)² above. Then uwk rows below all elements
shift the rank to the k-th element below, so that the probes read all of them, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import KeptValues, values_of
from streambound.analyzer.algebra.nodes import Aggregate, Over, Scalar, Tree, WindowCall, inputs
from streambound.analyzer.algebra.window_functions import window_function
from streambound.analyzer.catalog import DeclaredTable
from streambound.criteria.witnesses.schemes import ElementValue, Ground, RowScheme, Scheme, draw_row

DRAWS = 40
"""Rows of a table that are tried: all columns but the argument are constants."""
_MOST_ROWS = 64
"""Ranks are tried of which no more are asked for."""
_FINEST = 10
"""Percentiles are tried whose denominator is not greater: others need too many rows."""


def ranked(ground: Ground, tree: Tree) -> Iterator[Scheme]:
    """Schemes for the ranks and the percentiles of columns in a tree."""
    random = Random(0)
    limits = [number for number in ground.numbers if 0 < number <= _MOST_ROWS]
    for call, better, table in product(_ranks(tree), limits, ground.sent):
        for _ in range(DRAWS):
            yield _of_one_rank(ground, random, table, call, better)
    for asked in _of_counted_values(tree):
        node, up = asked.value.syntax.unnest(), -1 if asked.descending else 1
        if not isinstance(node, exp.Column):
            continue
        for table in ground.sent:
            if any(one.name.lower() == node.name.lower() and one.domain is None for one in table.columns):
                for _ in range(DRAWS):
                    row = draw_row(ground, random, table)
                    if asked.part is None:
                        yield _of_mode(row, node.name, up)
                    elif Fraction(str(asked.part)).denominator <= _FINEST:
                        yield _of_percentile(row, node.name, Fraction(str(asked.part)), up)


def _with_value(row: RowScheme, column: str, value: ElementValue) -> RowScheme:
    return replace(row, cells=tuple((n, value if n.lower() == column.lower() else v) for n, v in row.cells))


def _of_mode(row: RowScheme, column: str, up: int) -> Scheme:
    element = _with_value(row, column, ElementValue(sign=up))
    return Scheme((_with_value(row, column, ElementValue(0)),), (element,), (element,), "own", False)


def _of_percentile(row: RowScheme, column: str, part: Fraction, up: int) -> Scheme:
    below, whole = part.numerator, part.denominator
    above, with_value = whole - below, partial(_with_value, row, column)
    low, high = with_value(ElementValue(sign=-up)), with_value(ElementValue(sign=up))
    element = (low,) * (below * above) + (high,) * above**2
    flood = with_value(ElementValue(sign=-2 * up))
    return Scheme((with_value(ElementValue(0)),), element, (flood,), "ranked", False, below * whole)


def _of_one_rank(ground: Ground, random: Random, table: DeclaredTable, call: WindowCall, better: int) -> Scheme:
    """Elements that the order leaves equal; each probe sends ``better`` rows that come before them."""
    order, partition = _columns(key.value for key in call.order), _columns(call.partition)
    same, drawn = dict(draw_row(ground, random, table).cells), draw_row(ground, random, table, 0.5)
    element = {name: same[name] if name.lower() in order else cell for name, cell in drawn.cells}
    plain = {n: same[n] if cell.sign and n.lower() not in partition else cell for n, cell in element.items()}
    probe = []
    for place in range(better):
        first = ElementValue(sign=2 if call.order[0].descending else -2, more=place)
        best = {name: first if name.lower() in order[:1] else cell for name, cell in plain.items()}
        probe.append(replace(drawn, cells=tuple(best.items())))
    return Scheme((), (replace(drawn, cells=tuple(element.items())),), tuple(probe), "own", False)


def _columns(scalars: Iterable[Scalar]) -> list[str]:
    nodes = [scalar.syntax.unnest() for scalar in scalars]
    return [node.name.lower() for node in nodes if isinstance(node, exp.Column)]


def _ranks(tree: Tree) -> Iterator[WindowCall]:
    if isinstance(tree, Over):
        yield from (call for call in tree.calls if window_function(call).ties and call.order)
    for below in inputs(tree):
        yield from _ranks(below)


def _of_counted_values(tree: Tree) -> Iterator[KeptValues]:
    """The values of modes, and of percentiles but the first and the last one."""
    if isinstance(tree, Aggregate):
        kept = (found for found in map(values_of, tree.calls) if isinstance(found, KeptValues))
        yield from (one for one in kept if one.greatest is None and (one.counted or one.part is not None))
    for below in inputs(tree):
        yield from _of_counted_values(below)
