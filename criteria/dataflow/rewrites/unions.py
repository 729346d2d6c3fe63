"""A UNION ALL of disjoint selections of the same rows as one selection.

σ[a > 0](S) ∪ σ[a <= 0](S)  ->  σ[a > 0 OR a <= 0](S), if no row satisfies both
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Project, Tree, Union
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.rewrites.trees import with_inputs
from streambound.criteria.dataflow.syntax import conjunction, scalar_of
from streambound.criteria.dataflow.views import views_of


@dataclass(frozen=True)
class Selection:
    """A branch of a union: the rows of a ``body`` that satisfy a condition, below what ``above`` puts on them."""

    body: Tree
    condition: exp.Expr
    above: Callable[[Tree], Tree]
    shown: Project | None


def disjoint_unions(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without such unions."""
    return one_selection(with_inputs(tree, lambda one: disjoint_unions(one, catalog)), catalog)


def one_selection(tree: Tree, catalog: Catalog) -> Tree:
    """Such a union as one selection; another operator as it is."""
    both = None if is_static(tree, catalog) else in_both(tree)
    if not isinstance(tree, Union) or both is None or not _is_empty(both, catalog):
        return tree
    left, right = _selection(tree.left), _selection(tree.right)
    assert left is not None and right is not None, "there are rows in both"
    either = exp.or_(left.condition.copy(), right.condition.copy())
    return left.above(Filter(left.body, scalar_of(either), syntax=tree.syntax, at=tree.at))


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
            return Selection(input, parsed(condition), lambda one: one, None)
        case Project(input=Filter(input, condition)):
            return Selection(input, parsed(condition), lambda one: replace(tree, input=one), tree)
    return None


def _is_empty(both: Filter, catalog: Catalog) -> bool:
    """Whether no row satisfies a condition."""
    if parsed(both.condition).find(exp.Query):
        return False
    return any(column.values.size == 0 for column in views_of(catalog).of(both).columns)
