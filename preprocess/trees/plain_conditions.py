"""Conditions in the form of which the most is known, where only whether they are true matters.

CASE WHEN p THEN 'x' WHEN q THEN 'y' END IS NOT NULL  ->  p OR q        IF(p, TRUE, FALSE)  ->  p
a NOT IN (1)  ->  a <> 1
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, Scalar, Tree
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs


def plain_conditions(tree: Tree, catalog: Catalog) -> Tree:
    """A tree with such conditions in filters and joins."""
    tree = with_inputs(tree, lambda one: plain_conditions(one, catalog))
    if not isinstance(tree, Filter | Join) or tree.condition is None:
        return tree
    made = _condition(tree.condition)
    return tree if made is tree.condition else replace(tree, condition=made)


def _condition(condition: Scalar) -> Scalar:
    node = condition.syntax
    if not any(_is_special(one) for one in node.find_all(exp.Case, exp.If, exp.In)) or node.find(exp.Query):
        return condition
    made = _plain(node)
    return condition if made == node else Scalar(made)


def _is_special(node: exp.Expr) -> bool:
    return not isinstance(node, exp.In) or len(node.expressions) == 1


def _plain(node: exp.Expr) -> exp.Expr:
    """A condition that is true of the same rows."""
    match node:
        case exp.Paren():
            return exp.paren(_plain(node.this))
        case exp.And():
            return exp.And(this=_plain(node.left), expression=_plain(node.right))
        case exp.Or():
            return exp.Or(this=_plain(node.left), expression=_plain(node.right))
        case exp.Not():
            return _negated(node.this.unnest()) or node.copy()
        case exp.Case() | exp.If() if (cases := _cases(node)) and all(_is_true(value) for _, value in cases[0]):
            return _any(cases[0]) if cases[1] is None or _is_false(cases[1]) else node.copy()
    return node.copy()


def _negated(node: exp.Expr) -> exp.Expr | None:
    """The plain negation of a condition; None if it has none."""
    match node:
        case exp.In() if len(node.expressions) == 1 and not node.args.get("query"):
            return exp.NEQ(this=node.this.copy(), expression=node.expressions[0].copy())
        case exp.Is(expression=exp.Null()):
            cases = _cases(node.this.unnest())
            if (
                cases
                and cases[1] is None
                and all(isinstance(value, exp.Literal | exp.Boolean) for _, value in cases[0])
            ):
                return _any(cases[0])
    return None


Cases = tuple[list[tuple[exp.Expr, exp.Expr]], exp.Expr | None]
"""Conditions with the values that the first true one has, and the value of other rows, None for NULL."""


def _cases(node: exp.Expr) -> Cases | None:
    if isinstance(node, exp.If):
        found, default = [(node.this, node.args["true"])], node.args.get("false")
    elif isinstance(node, exp.Case) and node.this is None:
        found, default = [(one.this, one.args["true"]) for one in node.args["ifs"]], node.args.get("default")
    else:
        return None
    return found, None if isinstance(default, exp.Null) else default


def _any(cases: list[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    return exp.or_(*(_plain(condition) for condition, _ in cases))


def _is_true(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _is_false(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean) and not node.this
