"""Arguments of sums as sums of products of expressions over the rows of one source each (proposition A1)."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Product = tuple[exp.Expr, ...]
"""Factors, each over the rows of one source at most."""
_MOST = 64
"""Products that a polynomial may have."""


def expanded(node: exp.Expr, sources: Callable[[exp.Expr], tuple[str, ...]]) -> list[Product] | None:
    """An expression as a sum of products; None where it does not factor. ``sources`` are those whose rows one reads."""
    if len(sources(node)) < 2:
        return [(node,)]
    match node:
        case exp.Paren():
            return expanded(node.this, sources)
        case exp.Neg():
            return _negated(expanded(node.this, sources))
        case exp.Add() | exp.Sub():
            left, right = expanded(node.this, sources), expanded(node.expression, sources)
            right = _negated(right) if isinstance(node, exp.Sub) else right
            return None if left is None or right is None else left + right
        case exp.Mul():
            left, right = expanded(node.this, sources), expanded(node.expression, sources)
            if left is None or right is None or len(left) * len(right) > _MOST:
                return None
            return [(*one, *other) for one in left for other in right]
    return None


def _negated(products: list[Product] | None) -> list[Product] | None:
    return None if products is None else [(exp.Neg(this=exp.Paren(this=one[0].copy())), *one[1:]) for one in products]
