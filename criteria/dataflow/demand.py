"""What the operators above need of a node's rows: demand, by the positions of its columns.

Of a column the values are needed, or, of a rank, the first ones. What nobody reads is not remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Project
from streambound.analyzer.algebra.substitution import values_of
from streambound.criteria.dataflow.view import OperatorView, Places, place_of


class Demand(Struct, frozen=True):
    """The demand on an operator's rows: the values of ``columns``.

    ``most`` has the greatest values that matter of some columns; ``apart`` by how much one column is above another at
    most in rows that matter. ``once``: duplicates do not matter. ``final``: only rows that do not change any more do.
    """

    columns: Places = frozenset()
    most: Mapping[int, int] = field(default_factory=dict)
    apart: Mapping[tuple[int, int], int] = field(default_factory=dict)
    once: bool = False
    final: bool = False

    def reading(self, places: Iterable[int]) -> Demand:
        """The same with the values of more columns."""
        more = frozenset(places)
        return replace(self, columns=self.columns | more)

    def at(self, places: Mapping[int, int]) -> Demand:
        """The same of columns that are at other places, or not there."""
        return Demand(
            frozenset(places[one] for one in self.columns if one in places),
            {places[one]: most for one, most in self.most.items() if one in places},
            {
                (places[one], places[other]): most
                for (one, other), most in self.apart.items()
                if one in places and other in places
            },
            self.once,
            self.final,
        )


def everything(view: OperatorView) -> Demand:
    """All columns."""
    return Demand(view.every)


def of_items(tree: Project, given: OperatorView, demand: Demand) -> Demand:
    """The demand of a select list on its input."""
    items = values_of(tree.items, given.schema)
    columns = frozenset[int]().union(*(given.read_by(items[place]) for place in demand.columns))
    limited = {*demand.most, *chain.from_iterable(demand.apart)}
    places = {one: place for one in limited if (place := place_of(items[one], given)) is not None}
    return replace(demand.at(places), columns=columns)
