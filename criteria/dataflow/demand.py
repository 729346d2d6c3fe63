"""What the operators above need of a node's rows: demand, by the positions of its columns.

Of a column the values are needed, or only sums that it is a factor of (A1), or, of a rank, the first ones. What nobody
reads is not remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Project, Star
from streambound.analyzer.algebra.schema import parsed, starred_places
from streambound.criteria.dataflow.view import OperatorView, Places, place_of

Factor = Places
"""Columns that one factor of a sum of products reads together."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is needed of rows: the values of ``columns``, and sums of products of ``factors``.

    ``most`` has the greatest values that matter of some columns, and ``ago`` how long ago at most times of rows before
    matter, which LAG gives. ``once``: duplicates do not matter.
    """

    columns: Places = frozenset()
    factors: frozenset[Factor] = frozenset()
    most: Mapping[int, int] = field(default_factory=dict)
    ago: Mapping[int, int] = field(default_factory=dict)
    once: bool = False

    @property
    def values(self) -> Demand:
        """The same with all columns of factors as values, for operators that sums are not pushed through."""
        return replace(self, columns=self.columns.union(*self.factors), factors=frozenset())

    @property
    def every(self) -> Places:
        """All columns that are read."""
        return self.columns.union(*self.factors)

    def reading(self, places: Iterable[int]) -> Demand:
        """The same with the values of more columns."""
        more = frozenset(places)
        return replace(self, columns=self.columns | more)

    def at(self, places: Mapping[int, int]) -> Demand:
        """The same of columns that are at other places, or not there."""
        return Demand(
            frozenset(places[one] for one in self.columns if one in places),
            frozenset(frozenset(places[one] for one in factor if one in places) for factor in self.factors),
            {places[one]: most for one, most in self.most.items() if one in places},
            {places[one]: most for one, most in self.ago.items() if one in places},
            self.once,
        )


def everything(view: OperatorView) -> Demand:
    """All columns."""
    return Demand(view.every)


def of_items(tree: Project, given: OperatorView, demand: Demand) -> Demand:
    """What a select list needs of its input."""
    items = items_of(tree, given)
    columns = frozenset[int]().union(*(given.read_by(items[place]) for place in demand.columns))
    factors = set[Factor]()
    for factor in demand.factors:
        products = factors_of(items[next(iter(factor))], given) if len(factor) == 1 else None
        if products is None:
            factors.add(frozenset[int]().union(*(given.read_by(items[place]) for place in factor)))
        else:
            factors |= products
    most, ago = (
        {place: n for one, n in limits.items() if (place := place_of(items[one], given)) is not None}
        for limits in (demand.most, demand.ago)
    )
    return Demand(columns, frozenset(factors), most, ago, demand.once)


def items_of(tree: Project, given: OperatorView) -> list[exp.Expr]:
    """The columns of a select list, as expressions over its input."""
    found: list[exp.Expr] = []
    for item in tree.items:
        if isinstance(item, Star):
            named = (given.schema[place] for place in starred_places(item, given.schema))
            found += [exp.column(one.name, table=one.alias or None, quoted=True) for one in named]
        else:
            found.append(parsed(item.value))
    return found


def factors_of(node: exp.Expr, given: OperatorView) -> set[Factor] | None:
    """The factors of an expression as a sum of products, each of the rows of one source; None where it has none."""
    if len(origin_of(node, given)) < 2:
        return {given.read_by(node)} - {frozenset()}
    match node:
        case exp.Paren() | exp.Neg():
            return factors_of(node.this, given)
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = factors_of(node.this, given), factors_of(node.expression, given)
            return None if left is None or right is None else left | right
    return None


def origin_of(node: exp.Expr, given: OperatorView) -> frozenset[str]:
    """The sources whose rows an expression reads."""
    return frozenset[str]().union(*(given.origins[place] for place in given.read_by(node)))
