"""How many values a column has of groups, or of what is selected of them: no more than the key has below."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Aggregate, Alias, Bucket, Filter, Named, Project, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.column_values import different_values
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import scalar


def values_of_groups(tree: Tree, node: exp.Expr, states: States) -> int:
    """The most values of a column of groups over a block; raises NotRecheckedError where it is no key of theirs.

    What HAVING or WHERE above the groups leaves out counts, too.
    """
    while not is_block(tree, states.catalog):
        below = _below(tree, node, states)
        if below is None:
            raise NotRecheckedError("aggregates of views without a number of rows")
        tree, node = below
    if not isinstance(node, exp.Column):
        raise NotRecheckedError("groups by what is computed")
    split = derive(states.blocks.query(tree, [Named("c", scalar(node), alias=True)], distinct=True)).split
    return sum(different_values(Conditions(branch), False) for branch in split.branches)


def _below(tree: Tree, node: exp.Expr, states: States) -> tuple[Tree, exp.Expr] | None:
    """The input of an operator, and what a column of the operator is of it; None where it is no one's column."""
    place = meant(node, schema(tree, states.catalog)) if isinstance(node, exp.Column) else None
    if place is None:
        return None
    match tree:
        case Filter(input=input) | Bucket(input=input) if place < len(schema(input, states.catalog)):
            return input, node
        case Alias(input=input):
            column = schema(input, states.catalog)[place]
            return input, exp.column(column.name, table=column.alias or None, quoted=True)
        case Project(input=input, items=items) if all(isinstance(item, Named) for item in items):
            item = items[place]
            assert isinstance(item, Named)
            return input, parsed(item.value)
        case Aggregate(input=input, keys=keys) if place < len(keys):
            return input, parsed(keys[place].value)
    return None
