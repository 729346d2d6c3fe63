"""Sizes as sympy expressions: simplified, comparable, ready for substitution. sympy is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound.criteria.size import Addition, Maximum, Minimum, Multiplication, Number, Size, Symbol

if TYPE_CHECKING:
    import sympy


def symbolic(size: Size) -> sympy.Expr:
    """A size as an expression over the symbols `c_S`, `rows_R`, `min_R_a`, `max_R_a`, all integers.

    >>> from streambound.criteria.size import product, total
    >>> str(symbolic(total([product([Number(3), Symbol("c_S")]), Symbol("c_S")])))
    '4*c_S'
    """
    import sympy

    operations: dict[type[Size], sympy.Expr] = {
        Addition: sympy.Add,
        Multiplication: sympy.Mul,
        Minimum: sympy.Min,
        Maximum: sympy.Max,
    }

    def expression(size: Size) -> sympy.Expr:
        match size:
            case Number(number):
                return sympy.Integer(number)
            case Symbol(name):
                return sympy.Symbol(name, integer=True, nonnegative=name.startswith(("c_", "rate_", "rows_")) or None)
        return operations[type(size)](*map(expression, size.parts))

    return sympy.simplify(expression(size))
