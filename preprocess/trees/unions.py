"""A UNION ALL of disjoint selections of the same rows as one selection.

σ[a > 0](S) ∪ σ[a <= 0](S)  ->  σ[a > 0 OR a <= 0](S), if no row satisfies both
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Project, Scalar, Tree, Union
from streambound.analyzer.algebra.syntax import conjunction


class Selection(Struct, frozen=True):
    """A branch of a union: the rows of a ``body`` that satisfy a condition, below what ``above`` puts on them."""

    body: Tree
    condition: exp.Expr
    above: Callable[[Tree], Tree]
    shown: Project | None


def one_selection(tree: Tree) -> Tree:
    """Such a union, of whose rows none satisfies both conditions, as one selection; another operator as it is."""
    if not isinstance(tree, Union) or in_both(tree) is None:
        return tree
    left, right = _selection(tree.left), _selection(tree.right)
    assert left is not None and right is not None, "there are rows in both"
    either = exp.or_(left.condition.copy(), right.condition.copy())
    return left.above(Filter(left.body, Scalar(either), syntax=tree.syntax, at=tree.at))


def in_both(tree: Tree) -> Filter | None:
    """The rows that both selections of a UNION ALL have; None of what is none of selections of the same rows."""
    if not isinstance(tree, Union) or tree.distinct:
        return None
    left, right = _selection(tree.left), _selection(tree.right)
    if left is None or right is None or left.body != right.body:
        return None
    if (left.shown and left.shown.items) != (right.shown and right.shown.items):
        return None
    condition = conjunction([left.condition, right.condition])
    return None if condition is None else Filter(left.body, condition, syntax=left.body.syntax)


def _selection(tree: Tree) -> Selection | None:
    match tree:
        case Filter(input, condition):
            return Selection(input, condition.syntax, lambda one: one, None)
        case Project(input=Filter(input, condition)):
            return Selection(input, condition.syntax, lambda one: replace(tree, input=one), tree)
    return None
