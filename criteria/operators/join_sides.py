"""A side of a join, or of a union, of views: judged with the columns that the condition reads and the results show.

Also both sides as an inner join.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, qualified, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.mapped import columns_shown
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.operators.written_columns import called, names_in


def side_of(side: Tree, tree: Join, context: Context) -> tuple[Schema, JudgedPart]:
    """A side of a join with its columns that are needed: those that the condition reads, and what is shown."""
    condition = [] if tree.condition is None else [parsed(tree.condition)]
    with context.reading(None if context.needed is None else {**context.needed, **names_in(condition)}):
        return rows_of(side, tree, context)


def rows_of(side: Tree, above: Tree, context: Context) -> tuple[Schema, JudgedPart]:
    """The rows that an operator reads, and their columns: of a block, which has no list of its own, what is needed."""
    given, needed = schema(side, context.catalog), context.needed
    if is_block(side, context.catalog) and not is_static(side, context.catalog):
        given = tuple(view for view in given if called(view, needed))
        nodes = [exp.column(view.name, table=view.alias or None, quoted=True) for view in given]
        items = tuple(Named(f"c{n}", Scalar(node.sql("spark"), node), alias=True) for n, node in enumerate(nodes))
        side = Project(
            side, items or (Named("c0", Scalar("1", exp.Literal.number(1)), alias=True),), syntax=above.syntax
        )
    judged = context.judge(side, context)
    return given if judged.part is None else columns_shown(given, judged.part.columns, needed), judged


def inner_join(tree: Join, catalog: Catalog) -> Tree:
    """The inner join of both sides, with their conditions above it."""
    left, right = (side.input if isinstance(side, Filter) else side for side in (tree.left, tree.right))
    body: Tree = Join(JoinKind.INNER, left, right, tree.condition, syntax=tree.syntax)
    filters = [side for side in (tree.left, tree.right) if isinstance(side, Filter)]
    if not filters:
        return body
    every = exp.and_(*(qualified(side.condition, schema(side.input, catalog)).copy() for side in filters))
    return Filter(body, Scalar(every.sql("spark"), every), syntax=tree.syntax)
