"""A UNION ALL of disjoint selections of the same rows as one selection.

σ[a > 0](S) ∪ σ[a <= 0](S)  ->  σ[a > 0 OR a <= 0](S), if no row satisfies both
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Project, Scalar, Tree, Union
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.rewrites.trees import with_inputs
from streambound.criteria.dataflow.syntax import conjunction, scalar_of
from streambound.criteria.dataflow.views import Views


@dataclass(frozen=True)
class Selection:
    """A branch of a union: the rows of a ``body`` that satisfy a condition, below what ``above`` puts on them."""

    body: Tree
    condition: exp.Expr
    above: Callable[[Tree], Tree]
    shown: Project | None


def disjoint_unions(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without such unions."""
    tree = with_inputs(tree, lambda one: disjoint_unions(one, catalog))
    if not isinstance(tree, Union) or tree.distinct or is_static(tree, catalog):
        return tree
    left, right = _selection(tree.left), _selection(tree.right)
    if left is None or right is None or left.body != right.body:
        return tree
    if (left.shown and left.shown.items) != (right.shown and right.shown.items):
        return tree
    if not _is_empty(left.body, conjunction([left.condition, right.condition]), catalog):
        return tree
    either = exp.or_(left.condition.copy(), right.condition.copy())
    return left.above(Filter(left.body, scalar_of(either), syntax=tree.syntax, at=tree.at))


def _selection(tree: Tree) -> Selection | None:
    match tree:
        case Filter(input, condition):
            return Selection(input, parsed(condition), lambda one: one, None)
        case Project(input=Filter(input, condition)):
            return Selection(input, parsed(condition), lambda one: replace(tree, input=one), tree)
    return None


def _is_empty(body: Tree, condition: Scalar | None, catalog: Catalog) -> bool:
    """Whether no row of a tree satisfies a condition."""
    if condition is None or parsed(condition).find(exp.Query):
        return False
    view = Views(catalog).of(Filter(body, condition, syntax=body.syntax))
    return any(column.values.size == 0 for column in view.columns)
