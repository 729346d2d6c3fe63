"""EXCEPT and INTERSECT of a relation that does not change, and other rows: they ask which of its rows the others have.

R EXCEPT S     ->  (SELECT DISTINCT * FROM R) ANTI JOIN S ON R.a <=> S.a AND …
S INTERSECT R  ->  (SELECT DISTINCT * FROM R) SEMI JOIN S ON R.a <=> S.a AND …

So rows of S that are none of R's are not kept.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import Family


def asking_join(tree: nodes.Tree, columns: Callable[[nodes.Tree], Schema], catalog: Catalog) -> nodes.Tree:
    """Such a set operation as a join; another one as it is."""
    if not isinstance(tree, nodes.Except | nodes.Intersect) or not tree.distinct:
        return tree
    relation, other = tree.left, tree.right
    if isinstance(tree, nodes.Intersect) and is_static(other, catalog):
        relation, other = other, relation
    types = [[column.type for column in columns(side)] for side in (relation, other)]
    compared = types[0] == types[1] and all(kind is not None and kind.family is not Family.OTHER for kind in types[0])
    if not is_static(relation, catalog) or is_static(other, catalog) or not compared:
        return tree
    names = tuple(f"c{place}" for place in range(len(types[0])))
    left, right = (
        nodes.Alias(side, alias, names, syntax=tree.syntax)
        for side, alias in ((nodes.Distinct(relation, syntax=tree.syntax), "_l"), (other, "_r"))
    )
    same = [exp.NullSafeEQ(this=_column("_l", name), expression=_column("_r", name)) for name in names]
    kind = nodes.JoinKind.ANTI if isinstance(tree, nodes.Except) else nodes.JoinKind.SEMI
    joined = nodes.Join(kind, left, right, nodes.Scalar(exp.and_(*same)), syntax=tree.syntax, at=tree.at)
    called = [column.name for column in columns(tree.left)]
    items = (
        nodes.Named(old, nodes.Scalar(_column("_l", name)), alias=True) for old, name in zip(called, names, strict=True)
    )
    return nodes.Project(joined, tuple(items), syntax=tree.syntax)


def _column(alias: str, name: str) -> exp.Column:
    return exp.column(name, table=alias, quoted=True)
