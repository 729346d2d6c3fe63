"""NOT IN of what may be NULL as anti joins (B5), which have no member.

    S NOT IN T by x = y under θ  ->  (σ[x IS NOT NULL](S) ▷ T on θ ∧ x = y) ▷ σ[y IS NULL](T) on θ
                                     ∪  σ[x IS NULL](S) ▷ T on θ

A row whose x is NULL stays where there is no y at all; of other rows none may be equal, and no y may be NULL. Where S
is a relation that does not change, of which all rows are kept, one anti join has all three conditions; where T is one,
rows are decided when they come, by three anti joins one after the other.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Project, Tree, Union
from streambound.analyzer.algebra.syntax import conjunction, conjuncts, scalar_of
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static


def compared(tree: Tree) -> tuple[Tree, Tree] | None:
    """What a NOT IN compares: its member, of the left rows, and the values of those that meet one; None for others."""
    member = tree.member.syntax.unnest() if isinstance(tree, Join) and tree.member is not None else None
    if not isinstance(tree, Join) or not isinstance(member, exp.EQ):
        return None
    pairs = replace(tree, kind=JoinKind.INNER, member=None)
    return _values(tree.left, member.this), _values(pairs, member.expression)


def _values(tree: Tree, node: exp.Expr) -> Project:
    return Project(tree, (Named("_v", scalar_of(node), alias=True),))


def split(tree: Tree, null_x: bool, null_y: bool, catalog: Catalog) -> Tree:
    """A NOT IN as anti joins, where the member may be NULL, or the values beside it; another operator as it is."""
    member = tree.member.syntax.unnest() if isinstance(tree, Join) and tree.member is not None else None
    if not isinstance(tree, Join) or tree.kind is not JoinKind.NOT_IN or not isinstance(member, exp.EQ):
        return tree
    x, y = member.left, member.right
    anti = replace(tree, kind=JoinKind.ANTI, member=None)
    if is_static(tree.left, catalog):  # whose rows are kept as they are
        partner = exp.or_(member.copy(), _null(x), _null(y))
        return replace(anti, condition=conjunction([*conjuncts(tree.condition), partner]))
    equal = conjunction([*conjuncts(tree.condition), member])
    apart = null_x and not is_static(tree.right, catalog)
    found = replace(anti, condition=equal, left=_where(tree.left, x, False) if apart else tree.left)
    if null_y:
        found = replace(anti, left=found, right=_where(tree.right, y, True))
    if not null_x:
        return found
    if is_static(tree.right, catalog):
        return replace(anti, left=found, condition=conjunction([*conjuncts(tree.condition), _null(x)]))
    unknown = replace(anti, left=_where(tree.left, x, True))
    return Union(found, unknown, distinct=False, syntax=tree.syntax, at=tree.at)


def _where(tree: Tree, node: exp.Expr, null: bool) -> Filter:
    """The rows where a value is NULL, or is not."""
    return Filter(tree, scalar_of(_null(node) if null else exp.Not(this=_null(node))), syntax=tree.syntax)


def _null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy() if isinstance(node, exp.Column) else exp.paren(node.copy()), expression=exp.Null())
