"""A query of branches as a tree: what a stage of the preprocessing has is printed, and verified, as any tree is.

SELECT S.a FROM S, T WHERE S.a = T.a UNION ALL …  ->  SpjBlock(Union(Project(Filter(Join(Scan, Scan))), …))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.query import FALSE, TRUE, Branch, Kind, Query
from streambound.analyzer.render import render_formula, render_output


class QueryTree(Struct, frozen=True):
    """The tree of a query, and what passes have noted that SQL cannot say, by the identity of its operators."""

    tree: nodes.SpjBlock
    notes: Mapping[int, str]

    def note(self, operator: nodes.Tree) -> str:
        """The note on an operator of the tree: ``finite``, ``merged: S, T``; empty for most."""
        return self.notes.get(id(operator), "")


def tree_of_query(query: Query, empty: Branch) -> QueryTree:
    """The block of a query's branches; of one without branches, that of ``empty`` with a condition that never holds."""
    notes: dict[int, str] = {}
    branches = query.branches or (replace(empty, where=FALSE),)
    return QueryTree(nodes.SpjBlock(_union([_tree_of(branch, notes) for branch in branches], query.distinct)), notes)


def _union(trees: Sequence[nodes.Tree], distinct: bool) -> nodes.Tree:
    """The union of branches, no deeper than it must be; a single branch of a set has each row once."""
    if len(trees) == 1:
        return nodes.Distinct(trees[0]) if distinct else trees[0]
    while len(trees) > 1:
        pairs = [trees[place : place + 2] for place in range(0, len(trees), 2)]
        trees = [nodes.Union(pair[0], pair[1], distinct) if len(pair) == 2 else pair[0] for pair in pairs]
    return trees[0]


def _tree_of(branch: Branch, notes: dict[int, str]) -> nodes.Project:
    scans = [nodes.Scan(source.table, source.alias) for source in branch.sources]
    notes.update({id(scan): "finite" for scan, s in zip(scans, branch.sources, strict=True) if s.kind is Kind.FINITE})
    tree: nodes.Tree = scans[0]
    for scan in scans[1:]:
        tree = nodes.Join(nodes.JoinKind.INNER, tree, scan)
    if branch.where != TRUE:
        tree = nodes.Filter(tree, nodes.Scalar(render_formula(branch.where, branch)))
    made = nodes.Project(tree, tuple(_item(render_output(output, branch)) for output in branch.outputs))
    if branch.merged:
        notes[id(made)] = "merged: " + "; ".join(", ".join(group) for group in branch.merged)
    return made


def _item(node: exp.Expr) -> nodes.Named:
    if isinstance(node, exp.Alias):
        return nodes.Named(node.alias, nodes.Scalar(node.this), alias=True)
    return nodes.Named(node.name, nodes.Scalar(node))
