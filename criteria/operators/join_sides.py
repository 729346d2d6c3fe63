"""A side of a join, or of a union, of views: judged with the columns that the condition reads and the results show."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Join, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.mapped import columns_shown
from streambound.criteria.operators.states import Judged
from streambound.criteria.operators.written_columns import called, names_in


def side_of(side: Tree, tree: Join, context: Context) -> tuple[Schema, Judged]:
    """A side of a join with its columns that are needed: those that the condition reads, and what is shown."""
    condition = [] if tree.condition is None else [parsed(tree.condition)]
    with context.reading(None if context.needed is None else {**context.needed, **names_in(condition)}):
        return rows_of(side, tree, context)


def rows_of(side: Tree, above: Tree, context: Context) -> tuple[Schema, Judged]:
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
