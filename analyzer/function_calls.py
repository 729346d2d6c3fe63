"""Calls of functions of the user's own in a statement.

``score(a, b)``  ->  ``CAST(`score`(CAST(a AS string), CAST(b AS bigint)) AS double)``: the types are said by casts. Of
one that is Python's the job makes a function that gives an array of its value, ``CAST(`score`(…)[0] AS double)``, which
is empty where it raises an error: then Spark raises one, and the row is bad as with any expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.types import DataType
from streambound.analyzer.user_functions import UserFunction


def as_written(tree: exp.Expr) -> exp.Expr:
    """The same with calls as a person writes them: ``CAST(`f`(CAST(a AS t))[0] AS r)``  ->  ``f(a)``."""

    def plain(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Cast) else None
        inner = inner.this if isinstance(inner, exp.Bracket) else inner
        if not isinstance(inner, exp.Anonymous) or not isinstance(inner.this, exp.Identifier):
            return node
        return exp.Anonymous(this=inner.name, expressions=[as_written(one.this) for one in inner.expressions])

    return tree.transform(plain)


def with_functions(tree: exp.Expr, functions: Sequence[UserFunction]) -> tuple[exp.Expr, str] | None:
    """Type the calls of such functions in a statement, which changes; the first that is wrong, and why in words."""
    known = {one.name: one for one in functions}
    for node in [*tree.find_all(exp.Anonymous)]:
        function = known.get(node.name.lower())
        if function is None:
            node.set("this", node.name)  # in quotes it is no other function
        elif not function.deterministic:
            return (
                node,
                f"{node.name} is not deterministic, as the catalog says: results would not follow from the rows",
            )
        elif len(node.expressions) != len(function.arguments):
            return node, f"{node.name} takes {len(function.arguments)} arguments, not {len(node.expressions)}"
        else:
            node.replace(_typed(function, node.expressions))
    return None


def _typed(function: UserFunction, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call, typed by casts."""
    given = [_cast(one, kind) for one, kind in zip(arguments, function.arguments, strict=True)]
    node: exp.Expr = exp.Anonymous(this=exp.to_identifier(function.name, quoted=True), expressions=given)
    if function.python:
        node = exp.Bracket(this=node, expressions=[exp.Literal.number(0)])
    return _cast(node, function.result)


def _cast(node: exp.Expr, kind: DataType) -> exp.Expr:
    made = parsed(f"CAST(x AS {kind.name})").copy()
    made.set("this", node)
    return made
