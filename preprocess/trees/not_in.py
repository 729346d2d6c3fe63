"""NOT IN of what may be NULL as anti joins (B5), which have no member.

    S NOT IN T by x = y under θ  ->  (σ[x IS NOT NULL](S) ▷ T on θ ∧ x = y) ▷ σ[y IS NULL](T) on θ
                                     ∪  σ[x IS NULL](S) ▷ T on θ

    S NOT IN T by x = y AND v = w under θ  ->  S ▷ T on θ ∧ (x = y ∨ x IS NULL ∨ y IS NULL) ∧ (v = w ∨ …)

A row whose x is NULL stays where there is no y at all; of other rows none may be equal, and no y may be NULL. Where S
is a relation that does not change, of which all rows are kept, one anti join has all three conditions; where T is one,
rows are decided when they come, by three anti joins one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Project, Scalar, Tree, Union
from streambound.analyzer.algebra.syntax import conjunction, conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static


def compared(tree: Tree) -> tuple[Tree, Tree] | None:
    """The sides of a NOT IN: the members, of the left rows, and the values they are compared with; else None."""
    equal = _equal(tree)
    if not isinstance(tree, Join) or not equal:
        return None
    pairs = replace(tree, kind=JoinKind.INNER, member=None)
    return _values(tree.left, [one.left for one in equal]), _values(pairs, [one.right for one in equal])


def _equal(tree: Tree) -> list[exp.EQ]:
    """The equations of the member of a NOT IN; none for another operator."""
    parts = conjuncts(tree.member) if isinstance(tree, Join) and tree.kind is JoinKind.NOT_IN else []
    return [one for one in parts if isinstance(one, exp.EQ)]


def _values(tree: Tree, values: Sequence[exp.Expr]) -> Project:
    return Project(tree, tuple(Named(f"_v{n}", Scalar(one), alias=True) for n, one in enumerate(values)))


def split(tree: Tree, null_x: Sequence[bool], null_y: Sequence[bool], catalog: Catalog) -> Tree:
    """A NOT IN as anti joins, where members may be NULL, or the values beside them; another operator as it is."""
    equal = _equal(tree)
    if not isinstance(tree, Join) or not equal:
        return tree
    anti = replace(tree, kind=JoinKind.ANTI, member=None)
    if is_static(tree.left, catalog):  # whose rows are kept as they are
        null_x = null_y = [True] * len(equal)
    if len(equal) > 1 or is_static(tree.left, catalog):
        partners = map(_unless_different, equal, null_x, null_y)
        return replace(anti, condition=conjunction([*conjuncts(tree.condition), *partners]))
    (member,), (x_may_be,), (y_may_be,) = equal, null_x, null_y
    x, y = member.left, member.right
    apart = x_may_be and not is_static(tree.right, catalog)
    found = replace(anti, condition=conjunction([*conjuncts(tree.condition), member]))
    found = replace(found, left=_where(tree.left, x, False) if apart else tree.left)
    if y_may_be:
        found = replace(anti, left=found, right=_where(tree.right, y, True))
    if not x_may_be:
        return found
    if is_static(tree.right, catalog):
        return replace(anti, left=found, condition=conjunction([*conjuncts(tree.condition), _null(x)]))
    unknown = replace(anti, left=_where(tree.left, x, True))
    return Union(found, unknown, distinct=False, syntax=tree.syntax, at=tree.at)


def _unless_different(equal: exp.EQ, null_x: bool, null_y: bool) -> exp.Expr:
    """Whether two values are equal, or one of those that may be NULL is."""
    nulls = [_null(one) for one, may_be in ((equal.left, null_x), (equal.right, null_y)) if may_be]
    return exp.or_(equal.copy(), *nulls)


def _where(tree: Tree, node: exp.Expr, null: bool) -> Filter:
    """The rows where a value is NULL, or is not."""
    return Filter(tree, Scalar(_null(node) if null else exp.Not(this=_null(node))), syntax=tree.syntax)


def _null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy() if isinstance(node, exp.Column) else exp.paren(node.copy()), expression=exp.Null())
