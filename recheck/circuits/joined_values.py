"""How many different rows some expressions have over a view that has no number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.grouped_values import most_values
from streambound.recheck.circuits.states import States


def different_rows(tree: Tree, values: Sequence[Scalar], states: States) -> Quantity:
    """The most different rows of some expressions: of each by itself as many as it has values below.

    It is what the front end knows of their values, where these are no more; raises NotRecheckedError elsewhere.
    """
    items = tuple(Named(f"c{n}", value, alias=True) for n, value in enumerate(values))
    known = facts(Project(tree, items, syntax=tree.syntax), states.catalog).different
    several = {value.text: parsed(value) for value in values}
    own = prod(most_values(tree, node, states) for node in several.values())
    if known is None or own > known:
        raise NotRecheckedError("rows of which it cannot say how many different ones there are")
    return Quantity.number(known)
