"""Rows that are each there once, as groups by all columns: δ(R) = γ_{all columns}(R), NULL being equal to NULL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.nodes import Aggregate, Alias, Distinct, Named, Project, Scalar, Tree, Union
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions

_ROWS = "_rows"


def as_groups(tree: Tree, catalog: Catalog, positions: Positions) -> Project | None:
    """``Distinct(R)  ->  Project(Aggregate(R, all columns))``, and so of UNION; None for what keeps duplicates."""
    if not isinstance(tree, Distinct) and not (isinstance(tree, Union) and tree.distinct):
        return None
    span = tree.at or positions.of(tree.syntax or exp.Null())
    given = schema(tree, catalog)
    names = [f"c{n}" for n in range(len(given))]

    def column(name: str, alias: str) -> Scalar:
        node = made_column(name, span)
        if alias:
            node.set("table", exp.to_identifier(alias))
        return Scalar(node.sql("spark"), node)

    rows = Alias(_with_duplicates(tree), _ROWS, tuple(names), syntax=tree.syntax)
    keys = tuple(Named(name, column(name, _ROWS)) for name in names)
    groups = Aggregate(rows, keys, (), syntax=tree.syntax, at=tree.at)
    shown = [Named(one.name, column(name, _ROWS), alias=True) for one, name in zip(given, names, strict=True)]
    return Project(groups, tuple(shown), syntax=tree.syntax)


def _with_duplicates(tree: Tree) -> Tree:
    """The rows without elimination of duplicates, also in what they are united of."""
    match tree:
        case Distinct(input):
            return _with_duplicates(input)
        case Union(left, right):
            return replace(tree, left=_with_duplicates(left), right=_with_duplicates(right), distinct=False)
    return tree
