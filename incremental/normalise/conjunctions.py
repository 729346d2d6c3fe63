"""Conditions as conjunctions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that all have to hold."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
    else:
        yield node
