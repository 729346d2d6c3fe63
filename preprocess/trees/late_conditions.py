"""Conditions over rows of several streams that compare no two columns: tested when a block's result is made.

    σ[S.v * T.a > 3](S ⋈ T)  ->  σ[S.v * T.a > 3](block(S ⋈ T))

Nothing is known of such a condition but how to compute it: the block keeps what it reads of each row, as it keeps what
a select list shows. A selection above a block is linear (DBSP §3), so that nothing else is remembered.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import ONE_SIDED, Filter, Join, JoinKind, Scalar, SpjBlock, Tree
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Finding
from streambound.preprocess.trees.with_inputs import with_inputs

_ASKING = (*ONE_SIDED, JoinKind.LEFT)
"""Joins above which a condition of their left side may as well be tested."""


def late_conditions(tree: Tree, blocks: BlockReader, catalog: Catalog) -> Tree:
    """A tree whose blocks have conditions that are read, with the others above them."""
    late = late_parts(tree, blocks, catalog)
    if not late:
        return with_inputs(tree, lambda one: late_conditions(one, blocks, catalog))
    condition = exp.and_(*late) if len(late) > 1 else late[0]
    block = _without(tree, {id(part) for part in late})
    return Filter(SpjBlock(block), Scalar(condition), syntax=tree.syntax, at=tree.at)


def late_parts(tree: Tree, blocks: BlockReader, catalog: Catalog) -> list[exp.Expr]:
    """The conditions of a block that are tested above it; none of what is no block."""
    parts = block_conditions(tree) if isinstance(tree, Filter | Join) and is_block(tree, catalog) else []
    if not parts or any(part.find(exp.Query) for part in parts):
        return []
    try:
        return blocks.unread(_without(tree, {id(part) for part in parts}), parts)
    except Finding:
        return []  # it is no condition, which the block's query says


def _parts(condition: Scalar | None) -> list[exp.Expr]:
    """The parts of a conjunction as they stand in it, so that they are known by their identity."""
    return [] if condition is None else conjuncts(condition.syntax)


def block_conditions(tree: Tree) -> list[exp.Expr]:
    """The conditions that a block's rows satisfy, and those of its joins that could as well be tested above it."""
    match tree:
        case Filter(input, condition):
            return [*block_conditions(input), *_parts(condition)]
        case Join(JoinKind.INNER, left, right, condition):
            return [*block_conditions(left), *block_conditions(right), *_parts(condition)]
        case Join(kind, left) if kind in _ASKING:
            return block_conditions(left)
    return []


def _without(tree: Tree, dropped: Collection[int]) -> Tree:
    """A block without some of its conditions, by their identities."""
    match tree:
        case Filter(input, condition):
            kept, below = _kept(condition, dropped), _without(input, dropped)
            return below if kept is None else replace(tree, input=below, condition=kept)
        case Join(JoinKind.INNER, left, right, condition):
            kept = _kept(condition, dropped)
            return replace(tree, left=_without(left, dropped), right=_without(right, dropped), condition=kept)
        case Join(kind, left) if kind in _ASKING:
            return replace(tree, left=_without(left, dropped))
    return tree


def _kept(condition: Scalar | None, dropped: Collection[int]) -> Scalar | None:
    parts = _parts(condition)
    kept = [part for part in parts if id(part) not in dropped]
    if len(kept) == len(parts):
        return condition
    if not kept:
        return None
    node = exp.and_(*kept) if len(kept) > 1 else kept[0]
    return Scalar(node)
