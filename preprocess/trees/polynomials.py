"""Arguments of sums as sums of products of expressions over one stream's rows each (proposition A1).

(S.v + 2) * T.w - S.v   ->   (S.v + 2) · T.w  +  (-S.v)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def squared(products: list[Product]) -> list[Product]:
    """The square of a sum of products."""
    return [(*one, *other) for one in products for other in products]


def times(factors: Sequence[exp.Expr]) -> exp.Expr:
    """The product of some factors; of none it is 1."""
    if not factors:
        return exp.Literal.number(1)
    found = factors[0]
    for factor in factors[1:]:
        found = exp.Mul(this=exp.paren(found), expression=exp.paren(factor))
    return found


def guarded(guards: Sequence[exp.Expr], value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """A value where all of some conditions are true."""
    if not guards:
        return value
    return exp.Case(ifs=[exp.If(this=exp.and_(*guards), true=value)], default=otherwise)


def as_double(node: exp.Expr) -> exp.Expr:
    """A number as a double."""
    return exp.cast(node, "DOUBLE", dialect="spark")
