"""SQL in a SEQ block to algebra: what is outside of what can be evaluated at every point of time is refused here."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.lowering import Ctes, Lowering
from streambound.analyzer.algebra.nodes import Alias, Tree
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.seq_blocks import SeqBlock, SeqKind
from streambound.analyzer.spans import SourceText
from streambound.temporal.scalars import finding, refusals

EXPECTED = "expected"
"""The function of SEQ TP whose argument is an aggregate."""


class SnapshotLowering(Lowering, frozen=True):
    """As for streams, with joins in parentheses; subqueries are left to the rewriting."""

    def entry(self, node: exp.Expr, ctes: Ctes) -> Tree:
        """A table, a CTE, a subquery, or a join in parentheses, whose tables keep their names."""
        inner = node.this if isinstance(node, exp.Subquery) else None
        if not isinstance(inner, exp.Table):
            return super().entry(node, ctes)
        self.reject(node, ("this", "alias"))
        joins = inner.args.get("joins") or []
        first = inner.copy()
        first.set("joins", None)
        tree = self.entry(first, ctes)
        for join in joins:
            tree = self.join(tree, join, ctes)
        return Alias(tree, node.alias, syntax=node) if node.alias else tree


def block_tree(block: SeqBlock, source: SourceText, catalog: Catalog) -> tuple[Tree, SnapshotLowering, Positions]:
    """The tree of a block's query, what has lowered it, and where its parts are; raises Finding."""
    positions = Positions(source, block.tokens, block.before)
    for clause in block.query.find_all(exp.With):
        if clause.args.get("recursive"):
            raise finding(positions, "recursion is outside of what a SEQ block can evaluate", clause.expressions[0])
    refusals(block.query, positions, (EXPECTED,) if block.kind is SeqKind.TP else ())
    # rows with a lineage are the same whichever side of a set operation changes: it stays one
    lowering = SnapshotLowering(positions, catalog, periods=True, written=block.kind is SeqKind.TP)
    return lowering.statement(block.query), lowering, positions
