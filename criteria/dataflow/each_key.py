"""What can be computed for each value of a key alone, which a punctuation ends in all streams (proposition K3).

If joins, groups, partitions and distinct rows all have the key among what must be equal, rows of different keys never
meet. The result is then the sum of the results for one key each, and what is remembered for a key goes when it ends.
For one key the other rules decide, over streams of which the key is one value (`DeclaredTable.one_key`).
"""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.dataflow.key_places import ending_keys, key_places
from streambound.criteria.dataflow.state import (
    EachKey,
    Operation,
    OperatorState,
    Retention,
    StateCount,
)
from streambound.criteria.dataflow.views import statement_views
from streambound.criteria.size import Number, product

_OF_RELATIONS = ("E1", "E3")
"""The propositions of states that are rows of relations: these have no key, and are remembered once."""


def for_each_key(tree: nodes.Tree, demand: Demand, context: RuleContext) -> Operation | None:
    """An operation of one key, for each that is open; None where the tree is no sum over keys, or one has no bound.

    Of several keys that with the fewest open ones.
    """
    if context.one_key is not None:
        return None
    keys = reversed([*ending_keys(tree, context)])
    numbers = {key.max_open: key for key in keys if key.max_open is not None}
    for most, key in sorted(numbers.items()):
        one = with_one_key(context, key)
        if key_places(tree, one, len(key.attributes)) is None:
            continue
        found = one.below(tree, demand)
        if found.entries is not None and all(map(_goes_with_key, found.remembered)):
            states = tuple(_for_all(state, most) for state in found.remembered)
            return Operation(tree, states, demand=demand, each_key=EachKey(key, found))
    return None


def with_one_key(context: RuleContext, key: StreamKey) -> RuleContext:
    """The same where the streams that have a key have one value of it."""

    def one(table: DeclaredTable) -> DeclaredTable:
        mine = next((other for other in table.ending if other.name == key.name), None)
        return replace(table, one_key=mine, ending=(), punctuations=())

    catalog = replace(context.catalog, tables=tuple(map(one, context.catalog.tables)))
    blocks = replace(context.blocks, catalog=catalog)
    return replace(context, catalog=catalog, blocks=blocks, views=statement_views(catalog), one_key=key)


def _goes_with_key(state: OperatorState) -> bool:
    """Whether no time says when entries go: K3 speaks of what goes with the key alone."""
    return state.count is not None and state.count.retention is not Retention.TIME


def _for_all(state: OperatorState, most: int) -> OperatorState:
    if state.proposition in _OF_RELATIONS or state.count is None:
        return state
    size = product([Number(most), state.count.size])
    return replace(state, proposition="K3", count=StateCount(size, Retention.KEY))
