"""Conditions above outer, semi and anti joins of blocks, in the tree that the states are of: below where exact.

A condition that cannot be true of NULLs leaves no row that is filled with them; one of the
side whose rows are kept may as well choose these rows before the join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Tree, named_inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.pipeline import derive
from streambound.preprocess.split_join import split_join
from streambound.recheck.circuits.trees import ONE, all_of, columns_in, conjuncts, scalar, under_filter

_LEFT_FILLED = {JoinKind.RIGHT: JoinKind.INNER, JoinKind.FULL: JoinKind.LEFT}
"""Joins that fill columns of the left side with NULL, as those that do not."""
_RIGHT_FILLED = {JoinKind.LEFT: JoinKind.INNER, JoinKind.FULL: JoinKind.RIGHT}
_MOVED = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.SEMI, JoinKind.ANTI)
_NULL_OF_NULL = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Between, exp.Like,
    exp.In,
)  # fmt: skip


def with_filtered_joins(tree: Tree, blocks: BlockReader, catalog: Catalog) -> Tree:
    """The tree with such conditions where the criterion reads them."""
    inputs = {name: with_filtered_joins(under, blocks, catalog) for name, under in named_inputs(tree).items()}
    tree = replace(tree, **inputs) if inputs else tree  # type: ignore[arg-type]
    if not isinstance(tree, Filter) or not isinstance(join := tree.input, Join):
        return tree
    if join.using or not is_block(join.left, catalog) or not is_block(join.right, catalog):
        return tree
    parts = conjuncts(tree.condition)
    if join.kind not in (*_MOVED, JoinKind.FULL) or any(part.find(exp.Query) for part in parts):
        return tree
    kind = join.kind
    for filled, side in ((_LEFT_FILLED, join.left), (_RIGHT_FILLED, join.right)):
        own = schema(side, catalog)
        if any(not _may_be(part, True, own) for part in parts):
            kind = filled.get(kind, kind)
    join = replace(join, kind=kind)
    if is_block(join, catalog) or kind not in _MOVED:
        return replace(tree, input=join)
    return _moved(join, parts, tree, blocks, catalog)


def _moved(join: Join, parts: list[exp.Expr], above: Filter, blocks: BlockReader, catalog: Catalog) -> Tree:
    name = "right" if join.kind is JoinKind.RIGHT else "left"
    side: Tree = getattr(join, name)
    own = schema(side, catalog)

    def chosen(some: Sequence[exp.Expr]) -> Tree:
        below, known = under_filter(side)
        every = all_of([*conjuncts(known), *some])
        return side if not some or every is None else Filter(below, every, syntax=above.syntax)

    def cases(some: Sequence[exp.Expr]) -> int:
        rows = blocks.query(chosen(some), [Named("c0", scalar(ONE), alias=True)])
        return len(derive(rows).split.branches)

    def is_below(part: exp.Expr) -> bool:
        columns = columns_in([part])
        return bool(columns) and all(_is_of(column, own) for column in columns) and not blocks.unread(side, [part])

    below = [part for part in parts if is_below(part)]
    one_case = [part for part in below if cases([part]) < 2]
    if len(one_case) < len(below) and split_join(replace(join, **{name: chosen(below)}), blocks) is None:  # type: ignore[arg-type]
        below = one_case
    if not below or not cases(below):
        return replace(above, input=join)
    made = replace(join, **{name: chosen(below)})  # type: ignore[arg-type]
    rest = all_of(part for part in parts if not any(part is one for one in below))
    return made if rest is None else replace(above, input=made, condition=rest)


def _may_be(node: exp.Expr, truth: bool, nulls: Schema) -> bool:
    """Whether a condition may be true, or may be false, of a row in which these columns are NULL."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        sides = [_may_be(side, truth, nulls) for side in (node.left, node.right)]
        return all(sides) if isinstance(node, exp.And) is truth else any(sides)
    if isinstance(node, exp.Not):
        return _may_be(node.this, not truth, nulls)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return truth or not _is_null(node.this, nulls)
    if isinstance(node, exp.Between):
        ends = [not _is_null(one, nulls) for one in (node.args["low"], node.args["high"])]
        return not _is_null(node.this, nulls) and (all(ends) if truth else any(ends))
    return not _is_null(node, nulls)


def _is_null(node: exp.Expr, nulls: Schema) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Column):
        return _is_of(node, nulls)
    if not isinstance(node, _NULL_OF_NULL) or (isinstance(node, exp.In) and not node.expressions):
        return False
    operands = (
        [node.left, node.right] if isinstance(node, exp.Binary) and not isinstance(node, exp.Like) else [node.this]
    )
    return any(_is_null(one, nulls) for one in operands)


def _is_of(column: exp.Column, given: Schema) -> bool:
    return any(one.called(column.name, column.table) for one in given)
