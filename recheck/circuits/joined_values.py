"""How many different rows some columns have of a join that shows rows without partners (B6), or of groups."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import ONE_SIDED, Bucket, Filter, Join, JoinKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.column_values import different_values
from streambound.recheck.circuits.grouped_values import values_of_groups
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import all_of, columns_in, conjuncts


def different_rows(tree: Tree, values: Sequence[Scalar], states: States) -> Quantity:
    """The most different rows of some columns of groups, or of a join of two blocks, by what its own side says of each.

    It is what the front end knows of their values, where the sides leave no more; raises NotRecheckedError elsewhere.
    """
    join, above = tree, list[exp.Expr]()
    while isinstance(join, Filter | Bucket):
        above += conjuncts(join.condition) if isinstance(join, Filter) else []
        join = join.input
    items = tuple(Named(f"c{n}", value, alias=True) for n, value in enumerate(values))
    known = facts(Project(tree, items, syntax=tree.syntax), states.catalog).different
    if not isinstance(join, Join):
        return _known(known, prod(values_of_groups(tree, parsed(value), states) for value in values))
    shown = (join.left,) if join.kind in ONE_SIDED else (join.left, join.right)
    own = 1
    for item in items:
        sides = [side for side in shown if _has(side, [parsed(item.value)], states)]
        if len(sides) != 1 or not isinstance(parsed(item.value), exp.Column):
            raise NotRecheckedError("groups of a join by what is computed")
        (side,) = sides
        if not is_block(side, states.catalog):
            raise NotRecheckedError("aggregates of views without a number of rows")
        own_conditions = [one for one in above if _has(side, columns_in([one]), states)]
        where = all_of(own_conditions)
        rows = side if where is None else Filter(side, where, syntax=tree.syntax)
        padded = side in _padded(join) and not any(map(_rejects_null, own_conditions))
        split = derive(states.blocks.query(rows, [item], distinct=True)).split
        own *= sum(different_values(Conditions(branch), padded) for branch in split.branches)
    return _known(known, own)


def _known(known: int | None, own: int) -> Quantity:
    """What the front end knows of the values, where what is found here is no more."""
    if known is None or own > known:
        raise NotRecheckedError("rows of which it cannot say how many different ones there are")
    return Quantity.number(known)


def _padded(join: Join) -> tuple[Tree, ...]:
    """The sides of which there are NULLs in place of a row."""
    match join.kind:
        case JoinKind.LEFT:
            return (join.right,)
        case JoinKind.RIGHT:
            return (join.left,)
        case JoinKind.FULL:
            return (join.left, join.right)
    return ()


def _rejects_null(condition: exp.Expr) -> bool:
    """Whether a condition compares a column as it is, so that it is not true of NULL."""
    compares = isinstance(condition, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE | exp.Between)
    return compares and any(isinstance(one, exp.Column) for one in condition.args.values())


def _has(side: Tree, nodes: Sequence[exp.Expr], states: States) -> bool:
    """Whether expressions are columns of a side."""
    given = schema(side, states.catalog)
    return bool(nodes) and all(isinstance(one, exp.Column) and meant(one, given) is not None for one in nodes)
